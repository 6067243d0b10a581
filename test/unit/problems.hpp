// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Problems as a backend sees them.
#pragma once

#include <tessera/plugin/problem.hpp>
#include <tessera/taps.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::test {

/// Taps at all offsets within the radius, or at those on the axes, each with the same coefficient.
inline std::vector<tessera_tap> neighbours(int rank, std::int64_t radius, bool box, bool centre = true) {
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

/// Taps as descriptors have them.
inline std::vector<tessera_tap> listed(const Taps& taps) {
  std::vector<tessera_tap> list;
  for (const Tap& tap : taps) {
    tessera_tap one{};
    std::copy(tap.offset.begin(), tap.offset.end(), one.offset);
    one.coefficient = tap.coefficient;
    list.push_back(one);
  }
  return list;
}

/// A packed domain with the same boundary mode on all sides.
inline plugin::StencilProblem packed_stencil(tessera_dtype dtype, const std::vector<std::int64_t>& extents,
                                             const std::vector<tessera_tap>& taps, tessera_boundary mode,
                                             std::int64_t steps = 1) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.compute = TESSERA_COMPUTE_STRICT;
  desc.rank = std::int32_t(extents.size());
  desc.steps = steps;
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) {
    desc.extents[axis] = extents[axis];
    desc.in_strides[axis] = desc.out_strides[axis] = stride;
    desc.boundary[axis][0] = desc.boundary[axis][1] = mode;
  }
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

/// The same of a cube, a square or a line.
inline plugin::StencilProblem packed_stencil(tessera_dtype dtype, int rank, std::int64_t n,
                                             const std::vector<tessera_tap>& taps, tessera_boundary mode,
                                             std::int64_t steps = 1) {
  return packed_stencil(dtype, std::vector(std::size_t(rank), n), taps, mode, steps);
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

}  // namespace tessera::test
