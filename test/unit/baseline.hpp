// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems of perf/baselines/*.json as a backend sees them, with the times that were measured.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

/// Taps at all points of a box or a star, each with the same coefficient.
inline std::vector<tessera_tap> taps_around(int rank, std::int64_t radius, bool box, bool centre = true) {
  const std::int64_t r[] = {radius, rank > 1 ? radius : 0, rank > 2 ? radius : 0};
  std::vector<tessera_tap> taps;
  for (std::int64_t i = -r[0]; i <= r[0]; ++i)
    for (std::int64_t j = -r[1]; j <= r[1]; ++j)
      for (std::int64_t k = -r[2]; k <= r[2]; ++k) {
        const int away = (i != 0) + (j != 0) + (k != 0);
        if ((box || away <= 1) && (centre || away > 0)) taps.push_back({{i, j, k}, 0.03});
      }
  return taps;
}

/// A packed cube, square or line with the same mode on all sides.
inline plugin::StencilProblem packed_stencil(tessera_dtype dtype, int rank, std::int64_t n,
                                             const std::vector<tessera_tap>& taps, tessera_boundary mode,
                                             std::int64_t steps) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.compute = TESSERA_COMPUTE_STRICT;
  desc.rank = rank;
  desc.steps = steps;
  std::int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis, stride *= n) {
    desc.extents[axis] = n;
    desc.in_strides[axis] = desc.out_strides[axis] = stride;
    desc.boundary[axis][0] = desc.boundary[axis][1] = mode;
  }
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

/// Matrices whose rows are `padding` elements longer than need be.
inline plugin::GemmProblem product(tessera_dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                                   std::int64_t batch = 1, bool trans_a = false, bool trans_b = false,
                                   std::int64_t padding = 0) {
  tessera_gemm_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_GEMM;
  desc.dtype = dtype;
  desc.compute = TESSERA_COMPUTE_STRICT;
  desc.trans_a = trans_a ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.trans_b = trans_b ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.m = m, desc.n = n, desc.k = k, desc.batch = batch;
  desc.lda = (trans_a ? m : k) + padding, desc.ldb = (trans_b ? k : n) + padding, desc.ldc = n + padding;
  desc.stride_a = (trans_a ? k : m) * desc.lda, desc.stride_b = (trans_b ? n : k) * desc.ldb,
  desc.stride_c = m * desc.ldc;
  return plugin::GemmProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

inline tessera_dtype dtype_named(const std::string& name) { return name == "f64" ? TESSERA_F64 : TESSERA_F32; }

inline std::smatch match(const std::string& name, const char* form) {
  std::smatch found;
  if (!std::regex_match(name, found, std::regex(form))) throw std::runtime_error("no case has the name " + name);
  return found;
}

/// "1024x16x1024_batch10_ld+7_TN".
inline plugin::GemmProblem gemm_named(const std::string& name, const std::string& dtype) {
  const std::smatch f = match(name, R"((\d+)(?:x(\d+)x(\d+))?(?:_batch(\d+))?(?:_ld\+(\d+))?(?:_([NT])([NT]))?)");
  const auto number = [&](std::size_t i, std::int64_t otherwise) {
    return f[i].matched ? std::stoll(f[i]) : otherwise;
  };
  const std::int64_t m = std::stoll(f[1]);
  return product(dtype_named(dtype), m, number(2, m), number(3, m), number(4, 1), f[6] == "T", f[7] == "T",
                 number(5, 0));
}

/// "2d_star_r1_1024^2_fixed_steps100".
inline plugin::StencilProblem stencil_named(const std::string& name, const std::string& dtype) {
  const std::smatch f =
      match(name, R"((\d)d_(star|box|derivative)_r(\d)_(\d+)(?:\^(\d+))?_(fixed|periodic)(?:_steps(\d+))?)");
  const int rank = std::stoi(f[1]);
  const std::int64_t n = rank == 1 && f[5].matched ? std::int64_t(1) << std::stoi(f[5]) : std::stoll(f[4]);
  return packed_stencil(
      dtype_named(dtype), rank, n, taps_around(rank, std::stoll(f[3]), f[2] == "box", f[2] != "derivative"),
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
