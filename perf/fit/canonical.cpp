// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "canonical.hpp"

#include "platform.hpp"

#include "problem/problem.hpp"

#include <algorithm>
#include <vector>

namespace tessera::perf {

plugin::GemmProblem gemm_problem(const Problem& problem) {
  const GemmShape& g = problem.gemm;
  const auto transpose = [](bool given) { return given ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE; };
  tessera_gemm_desc desc = tessera_packed_gemm(static_cast<tessera_dtype>(problem.kind.dtype), g.m, g.n, g.k);
  desc.dtype_b = static_cast<tessera_dtype>(problem.kind.dtype_b);
  desc.dtype_d = static_cast<tessera_dtype>(problem.kind.dtype_out);
  desc.compute = problem.kind.compute;
  desc.bias = g.bias, desc.activation = g.activation;
  desc.sums = g.ordered ? TESSERA_SUMS_ORDERED : TESSERA_SUMS_ANY;
  desc.triangle = g.triangle;
  desc.trans_a = transpose(g.trans_a), desc.trans_b = transpose(g.trans_b);
  desc.lda = g.lda, desc.ldb = g.ldb, desc.ldc = g.ldc;
  desc.batch = g.batch;
  desc.stride_a = g.stride_a, desc.stride_b = g.stride_b, desc.stride_c = g.stride_c;
  return plugin::GemmProblem(core::validate(reinterpret_cast<const tessera_desc*>(&desc)).desc());
}

plugin::StencilProblem stencil_problem(const Problem& problem) {
  const StencilDesc given = stencil_desc(problem);
  std::vector<tessera_tap> taps;
  for (const Tap& tap : given.taps) {
    tessera_tap c{};
    std::copy(tap.offset.begin(), tap.offset.begin() + problem.stencil.rank, c.offset);
    c.coefficient = tap.coefficient;
    taps.push_back(c);
  }
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = static_cast<tessera_dtype>(problem.kind.dtype);
  desc.rank = problem.stencil.rank;
  std::copy(given.extents.begin(), given.extents.end(), desc.extents);
  for (int axis = 0; axis < desc.rank; ++axis) {
    desc.in_strides[axis] = desc.out_strides[axis] = TESSERA_PACKED;
    desc.boundary[axis][0] = desc.boundary[axis][1] = tessera_boundary(problem.stencil.boundary);
  }
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof(tessera_tap);
  desc.steps = problem.stencil.steps;
  return plugin::StencilProblem(core::validate(reinterpret_cast<const tessera_desc*>(&desc)).desc());
}

}  // namespace tessera::perf
