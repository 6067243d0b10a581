// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "measured.hpp"

#include "cases.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::perf {
namespace {

using Json = nlohmann::ordered_json;

GemmShape gemm_shape(const Json& j) {
  GemmShape g{.m = j.at("m"), .n = j.at("n"), .k = j.at("k"), .trans_a = j.at("trans_a"), .trans_b = j.at("trans_b")};
  g.lda = g.trans_a ? g.m : g.k, g.ldb = g.trans_b ? g.k : g.n, g.ldc = g.n;
  g.batch = j.at("batch");
  g.stride_a = g.m * g.k, g.stride_b = g.k * g.n, g.stride_c = g.m * g.n;
  if (const std::string activation = j.value("activation", ""); !activation.empty())
    add_epilogue(g, required(activation_named(activation), "activation", activation));
  return g;
}

StencilShape stencil_shape(const Json& j) {
  const std::string pattern = j.at("pattern"), boundary = j.at("boundary");
  StencilShape s{.rank = j.at("rank"), .radius = j.at("radius")};
  s.pattern = required(pattern_named(pattern), "pattern", pattern);
  s.boundary = required(boundary_named(boundary), "boundary", boundary);
  const auto extents = j.at("extents").get<std::vector<std::int64_t>>();
  std::copy(extents.begin(), extents.end(), s.extents.end() - std::ptrdiff_t(extents.size()));
  s.steps = j.at("steps");
  return s;
}

MeasuredProblem read_problem(const Json& j) {
  Case c;
  c.problem.op = j.at("op") == "gemm" ? Op::gemm : Op::stencil;
  c.problem.name = j.at("name");
  if (c.problem.op == Op::gemm)
    c.problem.gemm = gemm_shape(j);
  else
    c.problem.stencil = stencil_shape(j);
  MeasuredProblem measured{resolve(c, kinds_named(j.at("dtype")).at(0)), {}};
  for (const Json& offer : j.at("offers")) measured.offers.push_back({offer.at(0), offer.at(2)});
  return measured;
}

}  // namespace

MeasuredRun read_measured(std::istream& lines) {
  MeasuredRun run;
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) try {
      const Json j = Json::parse(line);
      if (number == 1)
        run.machine = j;
      else
        run.problems.push_back(read_problem(j));
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
  return run;
}

Json describe(const Problem& p) {
  Json j{{"op", p.op == Op::gemm ? "gemm" : "stencil"}, {"dtype", p.kind.name()}, {"name", p.name}};
  if (p.op == Op::gemm) {
    const GemmShape& g = p.gemm;
    j["m"] = g.m, j["n"] = g.n, j["k"] = g.k, j["batch"] = g.batch;
    j["trans_a"] = g.trans_a, j["trans_b"] = g.trans_b;
    if (g.has_epilogue()) j["activation"] = kActivations[g.activation];
    return j;
  }
  const StencilShape& s = p.stencil;
  j["pattern"] = kPatterns[std::size_t(s.pattern)], j["rank"] = s.rank, j["radius"] = s.radius;
  j["extents"] = std::vector<std::int64_t>(s.extents.begin() + (3 - s.rank), s.extents.end());
  j["boundary"] = name_of(s.boundary), j["steps"] = s.steps;
  return j;
}

}  // namespace tessera::perf
