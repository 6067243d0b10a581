// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of complex matrices, by squares of 32 that pass through shared memory, so that both sides are accessed along
/// rows.
#include "context.hpp"
#include "early_start.cuh"
#include "gemm/tile_model.hpp"
#include "launch.cuh"

#include <tessera/plugin/complex_copy.hpp>
#include <tessera/plugin/math.hpp>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {
namespace {

constexpr int kSquare = 32, kThreads = 256, kAtOnce = kThreads / kSquare;

/// Two parts; aligned as one, since complex numbers are.
template <class T>
struct Parts {
  T x, y;
};

template <class T>
struct ComplexArguments {
  plugin::ComplexCopy copy;
  const Parts<T>* from;
  T* to;
  Parts<T> factor;
  bool multiplies;
};

template <class T>
__global__ void __launch_bounds__(kThreads) copy_complex_kernel(const __grid_constant__ ComplexArguments<T> x) {
  __shared__ Parts<T> square[kSquare][kSquare + 1];
  const plugin::ComplexCopy& c = x.copy;
  const std::int64_t across = (c.columns + kSquare - 1) / kSquare, down = (c.rows + kSquare - 1) / kSquare;
  const std::int64_t matrix = blockIdx.x / (across * down), number = blockIdx.x % (across * down);
  const std::int64_t row = number / across * kSquare, column = number % across * kSquare;
  const int along = int(threadIdx.x) % kSquare, first = int(threadIdx.x) / kSquare;
  const Parts<T>* const from = x.from + matrix * c.from_stride;
  const std::int64_t rows = c.transposes ? c.columns : c.rows, columns = c.transposes ? c.rows : c.columns;
  const std::int64_t from_row = c.transposes ? column : row, from_column = c.transposes ? row : column;
  start_successor();
  wait_for_predecessor();  // which may have made what is copied, or read what is written
#pragma unroll
  for (int pass = first; pass < kSquare; pass += kAtOnce)
    if (from_row + pass < rows && from_column + along < columns)
      square[pass][along] = from[(from_row + pass) * c.from_ld + from_column + along];
  __syncthreads();
#pragma unroll
  for (int pass = first; pass < kSquare; pass += kAtOnce) {
    const std::int64_t i = row + pass, j = column + along;
    if (i >= c.rows || j >= c.columns) continue;
    Parts<T> v = c.transposes ? square[along][pass] : square[pass][along];
    if (c.conjugates) v.y = -v.y;
    if (x.multiplies) v = {x.factor.x * v.x - x.factor.y * v.y, x.factor.x * v.y + x.factor.y * v.x};
    T* const to = x.to + (c.doubles ? 1 : 2) * matrix * c.to_stride + 2 * (i * c.to_ld + j);
    to[0] = v.x, to[1] = v.y;
    if (!c.doubles) continue;
    to[c.to_ld] = c.for_conjugate ? v.y : -v.y;
    to[c.to_ld + 1] = c.for_conjugate ? -v.x : v.x;
  }
}

/// A launch of a copy, the kernel being prepared.
template <class T>
class ComplexCopier {
 public:
  ComplexCopier(const Context& context, const plugin::ComplexCopy& c)
      : device_(context.device()), stream_(context.stream()), copy_(c) {
    const DeviceGuard guard(device_);
    prepare(copy_complex_kernel<T>);
    early_.early = can_start_early(copy_complex_kernel<T>);
  }
  void operator()(const void* from, void* to, std::complex<double> factor) const {
    const std::int64_t blocks =
        plugin::ceil_div(copy_.columns, kSquare) * plugin::ceil_div(copy_.rows, kSquare) * copy_.matrices;
    if (blocks == 0) return;
    const DeviceGuard guard(device_);
    const ComplexArguments<T> x{copy_,
                                static_cast<const Parts<T>*>(from),
                                static_cast<T*>(to),
                                {T(factor.real()), T(factor.imag())},
                                factor != 1.0};
    launch(copy_complex_kernel<T>, dim3(unsigned(blocks)), dim3(kThreads), 0, stream_, early_, x);
  }

 private:
  int device_;
  cudaStream_t stream_;
  plugin::ComplexCopy copy_;
  EarlyStart early_{};
};

}  // namespace

plugin::CopyComplex Context::copying_complex(const plugin::ComplexCopy& c) {
  return plugin::with_types<WideTypes>(
      c.part, [&]<class T>(std::type_identity<T>) -> plugin::CopyComplex { return ComplexCopier<T>(*this, c); });
}

double Context::copying_seconds(const Machine& machine, const plugin::ComplexCopy& c) {
  return pass_seconds(c.bytes() / 2.0, machine);
}

}  // namespace tessera::cuda
