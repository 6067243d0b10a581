// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA backend's models of time against what was measured on an H100: how near the choice among the algorithms
// comes to the best of them, and how far the predictions are off.
#include "cuda_stencil_offers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <string>

using namespace tessera;
using namespace tessera::cuda;

namespace {

struct Case {
  plugin::StencilProblem problem;
  std::map<std::string, double> seconds;  ///< by algorithm
};

/// "2d_star_r1_1024^2_fixed_steps100" and "f32" as a problem.
plugin::StencilProblem parse(const std::string& name, const std::string& dtype) {
  static const std::regex form(
      R"((\d)d_(star|box|derivative)_r(\d)_(\d+)(?:\^(\d+))?_(fixed|periodic)(?:_steps(\d+))?)");
  std::smatch found;
  REQUIRE(std::regex_match(name, found, form));
  const int rank = std::stoi(found[1]), radius = std::stoi(found[3]);
  std::int64_t extent = std::stoll(found[4]);
  if (rank == 1 && found[5].matched) extent = std::int64_t(1) << std::stoi(found[5]);
  std::vector<tessera_tap> taps = test::neighbours(rank, radius, found[2] == "box");
  if (found[2] == "derivative") std::erase_if(taps, [](const tessera_tap& tap) { return tap.offset[0] == 0; });
  return test::packed_problem(dtype == "f64" ? TESSERA_F64 : TESSERA_F32,
                              std::vector<std::int64_t>(std::size_t(rank), extent), taps,
                              found[6] == "fixed" ? TESSERA_BOUNDARY_FIXED : TESSERA_BOUNDARY_PERIODIC,
                              found[7].matched ? std::stoll(found[7]) : 1);
}

std::map<std::string, Case> cases() {
  std::ifstream file(TESSERA_BASELINE);
  REQUIRE(file);
  const std::string prefix = "stencil/", ours = "/tessera:cuda:";
  std::map<std::string, Case> cases;
  const nlohmann::json baseline = nlohmann::json::parse(file);
  for (const auto& row : baseline.at("benchmarks")) {
    const std::string name = row.at("name");
    const std::size_t algorithm = name.find(ours);
    if (!name.starts_with(prefix) || algorithm == std::string::npos) continue;
    const std::string key = name.substr(prefix.size(), algorithm - prefix.size());
    const std::size_t dtype = key.find('/');
    const auto [at, added] = cases.try_emplace(key, parse(key.substr(0, dtype), key.substr(dtype + 1, 3)));
    at->second.seconds[name.substr(algorithm + ours.size())] = 1e-6 * double(row.at("real_time"));
  }
  return cases;
}

}  // namespace

TEST_CASE("the choice is near the best of what was measured") {
  double sum = 0.0, worst = 1.0;
  int count = 0;
  for (const auto& [name, one] : cases()) {
    double best = INFINITY;
    for (const auto& [algorithm, seconds] : one.seconds) best = std::min(best, seconds);
    const std::string chosen(test::choice(one.problem));
    CAPTURE(name, chosen);
    REQUIRE(one.seconds.contains(chosen));
    const double share = best / one.seconds.at(chosen);
    CHECK(share >= 0.8);
    worst = std::min(worst, share);
    sum += std::log(share);
    ++count;
  }
  CAPTURE(worst, count);
  CHECK(count == 100);
  CHECK(std::exp(sum / count) >= 0.98);
}

TEST_CASE("predictions are near what was measured") {
  std::map<std::string, std::pair<double, int>> errors;  // squares of the logarithms, and how many
  for (const auto& [name, one] : cases())
    for (const auto& [algorithm, seconds] : one.seconds) {
      const double error = std::log(test::offers(algorithm, one.problem).cheapest().seconds / seconds);
      auto& [sum, count] = errors[algorithm];
      sum += error * error, ++count;
    }
  CHECK(errors.size() == std::size(test::kStencilAlgorithms));
  for (const auto& [algorithm, error] : errors) {
    CAPTURE(algorithm);
    CHECK(std::sqrt(error.first / error.second) <= 0.25);
  }
}
