// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems of perf/baselines/*.json as a backend sees them, with the times that were measured.
#pragma once

#include "cases.hpp"
#include "cheapest_offers.hpp"
#include "problems.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// "1024x16x1024_batch10_ld+7_TN_bias_relu" of "f32", "tf32", "bf16x6", "bf16" or "bf16->f32".
inline plugin::GemmProblem gemm_named(const std::string& name, const std::string& types) {
  const perf::Case c = perf::gemm_case(name + "/" + types);
  const perf::GemmShape& g = c.problem.gemm;
  const perf::Kind& kind = c.kinds.front();
  plugin::GemmProblem p = product(tessera_dtype(kind.dtype), g.m, g.n, g.k, g.batch, g.trans_a, g.trans_b, g.ldc - g.n);
  p.compute = kind.compute;
  p.dtype_d = tessera_dtype(kind.dtype_out);
  if (g.bias != TESSERA_BIAS_NONE) p.bias = g.bias, p.dtype_bias = p.dtype_d, p.bias_increment = 1;
  p.activation = g.activation;
  return p;
}

/// "2d_star_r1_1024^2_fixed_steps100".
inline plugin::StencilProblem stencil_named(const std::string& name, const std::string& dtype) {
  const perf::Case c = perf::stencil_case(name + "/" + dtype);
  const perf::StencilShape& s = c.problem.stencil;
  const bool box = s.pattern == perf::Pattern::box, centre = s.pattern != perf::Pattern::derivative;
  return packed_stencil(tessera_dtype(c.kinds.front().dtype), {s.extents.end() - s.rank, s.extents.end()},
                        neighbours(s.rank, s.radius, box, centre), tessera_boundary(s.boundary), s.steps);
}

/// Of the pass that was disturbed least: other guests of a host take a part of its time now and then.
inline double seconds_of(const nlohmann::json& row) {
  const auto& passes = row.contains("passes") ? row.at("passes").at("real_time") : row.at("real_time");
  return 1e-6 * double(*std::min_element(passes.begin(), passes.end()));  // of one number, too
}

/// Seconds by algorithm for each case of an operation ("gemm", "stencil") and a backend: "1024/f32/cold" and the like.
inline std::map<std::string, std::map<std::string, double>> measured(const std::string& file, const std::string& op,
                                                                     const std::string& backend) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file);
  const std::string before = op + "/", ours = "/tessera:" + backend + ":";
  std::map<std::string, std::map<std::string, double>> cases;
  const nlohmann::json baseline = nlohmann::json::parse(stream);
  for (const auto& row : baseline.at("benchmarks")) {
    const std::string name = row.at("name");
    const std::size_t algorithm = name.find(ours);
    if (name.starts_with(before) && algorithm != std::string::npos)
      cases[name.substr(before.size(), algorithm - before.size())][name.substr(algorithm + ours.size())] =
          seconds_of(row);
  }
  return cases;
}

/// What a backend would choose, and predicts, against what was measured.
struct Replay {
  double log_shares = 0.0;  ///< of the best that was measured
  int cases = 0;
  std::map<std::string, std::pair<double, int>> errors = {};  ///< by algorithm: squared logarithms, and how many

  double mean_share() const { return std::exp(log_shares / cases); }
};

/// `problem_named` makes a problem of a case's name and type, `offers_of` the cheapest offers of the algorithms, the
/// cheapest of all first. Checks that each choice has `least_share` of the best, and each algorithm's predictions.
template <class ProblemNamed, class OffersOf>
Replay replay(const std::string& file, const std::string& op, const std::string& backend, double least_share,
              double most_error, ProblemNamed&& problem_named, OffersOf&& offers_of) {
  Replay all;
  const auto cases = measured(file, op, backend);
  std::set<std::string> known;  // other algorithms are younger than the file
  for (const auto& [name, seconds] : cases)
    for (const auto& [algorithm, time] : seconds) known.insert(algorithm);
  for (const auto& [name, seconds] : cases) {
    const std::size_t first = name.find('/'), second = name.find('/', first + 1);
    std::vector<NamedOffer> offers =
        offers_of(problem_named(name.substr(0, first), name.substr(first + 1, second - first - 1)));
    std::erase_if(offers, [&](const NamedOffer& offer) { return !known.contains(offer.algorithm); });
    REQUIRE(!offers.empty());
    const std::string& chosen = offers.front().algorithm;
    CAPTURE(file, name, chosen);
    REQUIRE(seconds.contains(chosen));
    double best = INFINITY;  // of what can be chosen
    for (const auto& offer : offers)
      if (seconds.contains(offer.algorithm)) best = std::min(best, seconds.at(offer.algorithm));
    const double share = best / seconds.at(chosen);
    CHECK(share >= least_share);
    all.log_shares += std::log(share), ++all.cases;
    for (const auto& [algorithm, offer] : offers) {
      if (!seconds.contains(algorithm) || algorithm == "reference") continue;  // whose time is not fitted
      auto& [sum, count] = all.errors[algorithm];
      sum += std::pow(std::log(offer.seconds / seconds.at(algorithm)), 2), ++count;
    }
  }
  for (const auto& [algorithm, error] : all.errors) {
    CAPTURE(file, algorithm);
    CHECK(std::sqrt(error.first / error.second) <= most_error);
  }
  return all;
}

}  // namespace tessera::test
