// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One problem that competitors compete on: the case, its type, and what follows from both.
#pragma once

#include <tessera/dtype.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace tessera::perf {

enum class Op { gemm, stencil };

/// C = op(A) op(B), row-major; all sizes resolved, nothing packed by default.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
};

enum class Pattern { star, box, derivative };

/// Packed domain of `rank` axes, slowest first; leading unused extents are 1 (extents[2] is contiguous).
struct StencilShape {
  Pattern pattern = Pattern::star;
  int rank = 1, radius = 1;
  std::array<std::int64_t, 3> extents{1, 1, 1};
  bool periodic = false;
  std::int64_t steps = 1;

  std::int64_t points() const { return extents[0] * extents[1] * extents[2]; }
};

struct Problem {
  Op op = Op::gemm;
  std::string name;  ///< the case's
  DType dtype = DType::f32;
  GemmShape gemm;
  StencilShape stencil;

  int inputs = 2;
  std::array<std::int64_t, 2> in_count{};  ///< elements of each input
  std::int64_t out_count = 0;
  std::int64_t out_gaps = 0;  ///< elements of the output that must stay as they are (between rows)
  double flops = 0.0;         ///< of one execution; an FMA counts 2
  double work = 0.0;          ///< what `rate` counts: flops, or points x steps
  /// Compulsory traffic: each input is read once, the output is written once. beta is 0, so C is not read.
  double read_bytes = 0.0, write_bytes = 0.0;

  /// A problem of many steps has parts, kParts of which in a row are the whole: quick to try, and quick to check.
  static constexpr std::int64_t kParts = 50;
  bool has_parts() const { return op == Op::stencil && stencil.steps % kParts == 0; }
  Problem part() const {
    Problem p = *this;
    p.stencil.steps /= kParts, p.work /= double(kParts), p.flops /= double(kParts);
    return p;
  }

  /// "gemm/1024_NT/f32": what the names of its rows begin with.
  std::string label() const { return (op == Op::gemm ? "gemm/" : "stencil/") + name + "/" + tessera::name_of(dtype); }
  std::size_t element_size() const { return size_of(dtype); }
  double footprint() const {
    return double(element_size()) * double(in_count[0] + (inputs > 1 ? in_count[1] : 0) + out_count);
  }
};

}  // namespace tessera::perf
