// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "platform.hpp"

#include <algorithm>

namespace tessera::perf {

const char* name_of(Ceiling ceiling) {
  constexpr const char* kNames[] = {"fma",  "fma_1_thread",   "matrix_unit", "matrix_unit_tf32",
                                    "copy", "copy_streaming", "read",        "write"};
  return kNames[std::size_t(ceiling)];
}

double Ceilings::rate(Ceiling ceiling, DType dtype, std::size_t footprint) {
  const auto offered = platform_->device->ceilings(dtype);
  if (std::find(offered.begin(), offered.end(), ceiling) == offered.end()) return 0.0;
  const bool memory = ceiling >= Ceiling::copy;
  Measured& m = measured_[{ceiling, memory ? WideTypes::kDTypes[0] : dtype, footprint}];
  // A figure of just now counts as measured beside the sample; the clock of a GPU does not swing.
  if (m.rate == 0.0 || (platform_->device->interleave() && steady_seconds() - m.when > 0.5)) {
    m.rate = platform_->device->measure(ceiling, dtype, footprint);
    m.when = steady_seconds();
  }
  return m.rate;
}

namespace {

/// The units that could multiply, and how many of their products make one.
struct MatrixUnit {
  Ceiling ceiling;
  DType dtype;
  double products;
};
MatrixUnit matrix_unit_of(const Kind& kind) {
  switch (kind.compute) {
    case TESSERA_COMPUTE_TF32:
      return {Ceiling::matrix_unit_tf32, kind.dtype, 1.0};
    case TESSERA_COMPUTE_BF16X6:  // of three parts, two of an f16, or one
      return {Ceiling::matrix_unit, DType::bf16, !kind.is_mixed() ? 6.0 : kind.has(DType::f16) ? 5.0 : 3.0};
    case TESSERA_COMPUTE_F16X3:
      return {Ceiling::matrix_unit, DType::f16, 3.0};
    default:
      return {Ceiling::matrix_unit, kind.is_mixed() ? kind.dtype_out : kind.dtype, 1.0};
  }
}

}  // namespace

Ceilings::Floor Ceilings::floor(const Problem& problem, bool hot) {
  // Operands in a cache are measured against a copy in the same cache: one of the same footprint.
  const std::size_t footprint = hot ? std::size_t(problem.footprint()) : 0;
  const double bytes = problem.read_bytes + problem.write_bytes;
  const bool reads = problem.write_bytes < 0.1 * bytes;
  const DType dtype = problem.kind.is_mixed() ? problem.kind.dtype_out : problem.kind.dtype;
  const DType wide = scalar_of(dtype);
  const double memory =
      reads ? rate(Ceiling::read, wide, footprint)
            : std::max(rate(Ceiling::copy, wide, footprint), rate(Ceiling::copy_streaming, wide, footprint));
  const double fma = rate(Ceiling::fma, wide, 0);  // 16 bits are computed on in f32
  const MatrixUnit unit = matrix_unit_of(problem.kind);
  const double units = problem.op == Op::gemm ? rate(unit.ceiling, unit.dtype, 0) / unit.products : 0.0;
  const double compute = std::max(fma, units);
  const double memory_time = bytes / memory, compute_time = problem.flops / compute;
  if (compute_time >= memory_time) return {compute_time, units > fma ? name_of(unit.ceiling) : "fma", compute};
  return {memory_time, std::string(reads ? "read" : "copy") + (hot ? " in cache" : ""), memory};
}

}  // namespace tessera::perf
