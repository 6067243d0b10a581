// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems of perf/baselines/*.json as a backend sees them, with the times that were measured.
#pragma once

#include "cases.hpp"
#include "problems.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
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
          1e-6 * double(row.at("real_time"));
  }
  return cases;
}

}  // namespace tessera::test
