// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of elements in the next wider type, before products of two types.
#include "context.hpp"
#include "convert.cuh"
#include "early_start.cuh"
#include "launch.cuh"
#include "vector_access.hpp"

#include <tessera/plugin/widening.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {
namespace {

constexpr int kWidenThreads = 256, kWidenWidth = 8;  ///< elements of a thread, which the copy's rows are multiples of

template <class T>
using Wider = std::conditional_t<kNarrow<T>, Scalar<T>, double>;

template <class T>
struct WidenArguments {
  const T* from;
  Wider<T>* to;
  std::int64_t rows, all_rows, columns, ld, stride, copy_ld;
  bool vectors;  ///< whether a thread's elements can be read 16 bytes at once
};

/// What the copy's rows have beyond those of the operand is zero: no kernel reads it.
template <class T>
__global__ void __launch_bounds__(kWidenThreads) widen_kernel(const __grid_constant__ WidenArguments<T> x) {
  start_successor();
  wait_for_predecessor();  // which may have made the source, or read the copy
  constexpr int kVector = kVectorWidth<T>;
  const std::int64_t across = x.copy_ld / kWidenWidth, all = x.all_rows * across;
  for (std::int64_t i = std::int64_t(blockIdx.x) * kWidenThreads + threadIdx.x; i < all;
       i += std::int64_t(gridDim.x) * kWidenThreads) {
    const std::int64_t row = i / across, column = i % across * kWidenWidth;
    const T* const from = x.from + row / x.rows * x.stride + row % x.rows * x.ld + column;
    Vector<Wider<T>, kWidenWidth> wide;
#pragma unroll
    for (int first = 0; first < kWidenWidth; first += kVector) {
      Vector<T, kVector> narrow{};
      if (x.vectors && column + first + kVector <= x.columns) {
        narrow = *reinterpret_cast<const Vector<T, kVector>*>(from + first);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e)
          if (column + first + e < x.columns) narrow.value[e] = from[first + e];
      }
#pragma unroll
      for (int e = 0; e < kVector; ++e) wide.value[first + e] = Wider<T>(exact_value(narrow.value[e]));
    }
    *reinterpret_cast<Vector<Wider<T>, kWidenWidth>*>(x.to + row * x.copy_ld + column) = wide;
  }
}

/// A launch of a widening, the kernel being prepared.
template <class T>
class Widener {
 public:
  Widener(const Context& context, const plugin::Widening& w)
      : device_(context.device()),
        stream_(context.stream()),
        whole_(whole_vectors(w.from, {w.ld, w.matrices > 1 ? w.stride : 0})),
        arguments_{nullptr, nullptr, w.rows, w.rows * w.matrices, w.columns, w.ld, w.stride, w.copy_ld, false} {
    const DeviceGuard guard(device_);
    prepare(widen_kernel<T>);
    early_.early = can_start_early(widen_kernel<T>);
  }
  void operator()(const void* from, void* to) const {
    WidenArguments<T> x = arguments_;
    x.from = static_cast<const T*>(from), x.to = static_cast<Wider<T>*>(to);
    x.vectors = whole_ && at_vector(from);
    const std::int64_t blocks = plugin::ceil_div(x.all_rows * (x.copy_ld / kWidenWidth), kWidenThreads);
    if (blocks == 0) return;
    const DeviceGuard guard(device_);
    launch(widen_kernel<T>, dim3(unsigned(std::min(blocks, kMaxGridX))), dim3(kWidenThreads), 0, stream_, early_, x);
  }

 private:
  int device_;
  cudaStream_t stream_;
  bool whole_;
  WidenArguments<T> arguments_;
  EarlyStart early_{};
};

}  // namespace

plugin::Widen Context::widening(const plugin::Widening& w) {
  return plugin::with_types(w.from, [&]<class T>(std::type_identity<T>) -> plugin::Widen {
    if constexpr (sizeof(T) == sizeof(double))
      return {};  // nothing is wider
    else
      return Widener<T>(*this, w);
  });
}

double Context::widening_seconds(const Machine& machine, const plugin::Widening& w) {
  const double bytes = w.elements() * double(plugin::size_of(w.from) + plugin::size_of(w.to));
  return machine.gemm.product.pass + bytes / machine.memory_rate;
}

}  // namespace tessera::cuda
