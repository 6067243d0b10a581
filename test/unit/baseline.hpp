// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems of perf/baselines/*.json as a backend sees them, with the times that were measured.
#pragma once

#include "problems.hpp"

#include <nlohmann/json.hpp>

#include <tessera/plugin/epilogue.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

inline tessera_dtype dtype_named(const std::string& name) {
  for (const DType dtype : ElementTypes::kDTypes)
    if (name == name_of(dtype)) return tessera_dtype(dtype);
  throw std::runtime_error("no element type has the name " + name);
}

inline std::smatch match(const std::string& name, const char* form) {
  std::smatch found;
  if (!std::regex_match(name, found, std::regex(form))) throw std::runtime_error("no case has the name " + name);
  return found;
}

inline tessera_activation activation_named(const std::string& name) {
  for (tessera_activation a = TESSERA_ACTIVATION_NONE; a <= TESSERA_ACTIVATION_TANH; ++a)
    if (name == plugin::name_of_activation(a)) return a;
  throw std::runtime_error("no activation has the name " + name);
}

/// "bf16x6", "f16x3" and "tf32" are of f32; what is no such name is strict.
inline tessera_compute compute_named(const std::string& name) {
  for (tessera_compute c = TESSERA_COMPUTE_STRICT; c <= TESSERA_COMPUTE_TF32; ++c)
    if (name == plugin::name_of_compute(c)) return c;
  return TESSERA_COMPUTE_STRICT;
}

/// "1024x16x1024_batch10_ld+7_TN_bias_relu" of "f32", "tf32", "bf16x6", "bf16" or "bf16->f32".
inline plugin::GemmProblem gemm_named(const std::string& name, const std::string& types) {
  const std::smatch f =
      match(name, R"((\d+)(?:x(\d+)x(\d+))?(?:_batch(\d+))?(?:_ld\+(\d+))?(?:_([NT])([NT]))?(?:_bias_(\w+))?)");
  const tessera_compute compute = compute_named(types);
  const bool wide = types.ends_with("->f32");
  const auto number = [&](std::size_t i, std::int64_t otherwise) {
    return f[i].matched ? std::stoll(f[i]) : otherwise;
  };
  const std::int64_t m = std::stoll(f[1]);
  const tessera_dtype dtype =
      dtype_named(compute != TESSERA_COMPUTE_STRICT ? "f32" : types.substr(0, types.find("->")));
  plugin::GemmProblem p =
      product(dtype, m, number(2, m), number(3, m), number(4, 1), f[6] == "T", f[7] == "T", number(5, 0));
  if (compute != TESSERA_COMPUTE_STRICT) p.compute = compute;
  if (wide) p.dtype_d = TESSERA_F32;
  if (f[8].matched) {
    p.bias = TESSERA_BIAS_PER_COLUMN, p.dtype_bias = p.dtype_d, p.bias_increment = 1;
    p.activation = activation_named(f[8]);
  }
  return p;
}

/// "2d_star_r1_1024^2_fixed_steps100".
inline plugin::StencilProblem stencil_named(const std::string& name, const std::string& dtype) {
  const std::smatch f =
      match(name, R"((\d)d_(star|box|derivative)_r(\d)_(\d+)(?:\^(\d+))?_(fixed|periodic)(?:_steps(\d+))?)");
  const int rank = std::stoi(f[1]);
  const std::int64_t n = rank == 1 && f[5].matched ? std::int64_t(1) << std::stoi(f[5]) : std::stoll(f[4]);
  return packed_stencil(
      dtype_named(dtype), rank, n, neighbours(rank, std::stoll(f[3]), f[2] == "box", f[2] != "derivative"),
      f[6] == "fixed" ? TESSERA_BOUNDARY_FIXED : TESSERA_BOUNDARY_PERIODIC, f[7].matched ? std::stoll(f[7]) : 1);
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
