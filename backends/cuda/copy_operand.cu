// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of operands, in their own or the next wider type.
#include "context.hpp"
#include "convert.cuh"
#include "early_start.cuh"
#include "launch.cuh"
#include "vector_access.hpp"

#include <tessera/plugin/operand_copy.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {
namespace {

constexpr int kCopyThreads = 256, kCopyWidth = 8;  ///< elements of a thread, which the copy's rows are multiples of

template <class From, class To>
struct CopyArguments {
  const From* from;
  To* to;
  std::int64_t rows, all_rows, columns, ld, stride, copy_ld;
  bool vectors;  ///< whether a thread's elements can be read 16 bytes at once
};

/// What the copy's rows have beyond those of the operand is zero: no kernel reads it.
template <class From, class To>
__global__ void __launch_bounds__(kCopyThreads) copy_operand_kernel(const __grid_constant__ CopyArguments<From, To> x) {
  start_successor();
  wait_for_predecessor();  // which may have made the source, or read the copy
  constexpr int kVector = kVectorWidth<From>;
  const std::int64_t across = x.copy_ld / kCopyWidth, all = x.all_rows * across;
  for (std::int64_t i = std::int64_t(blockIdx.x) * kCopyThreads + threadIdx.x; i < all;
       i += std::int64_t(gridDim.x) * kCopyThreads) {
    const std::int64_t row = i / across, column = i % across * kCopyWidth;
    const From* const from = x.from + row / x.rows * x.stride + row % x.rows * x.ld + column;
    Vector<To, kCopyWidth> copied;
#pragma unroll
    for (int first = 0; first < kCopyWidth; first += kVector) {
      Vector<From, kVector> read{};
      if (x.vectors && column + first + kVector <= x.columns) {
        read = *reinterpret_cast<const Vector<From, kVector>*>(from + first);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e)
          if (column + first + e < x.columns) read.value[e] = from[first + e];
      }
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        if constexpr (std::is_same_v<From, To>)
          copied.value[first + e] = read.value[e];
        else
          copied.value[first + e] = To(exact_value(read.value[e]));
      }
    }
    *reinterpret_cast<Vector<To, kCopyWidth>*>(x.to + row * x.copy_ld + column) = copied;
  }
}

/// A launch of a copy, the kernel being prepared.
template <class From, class To>
class Copier {
 public:
  Copier(const Context& context, const plugin::OperandCopy& c)
      : device_(context.device()),
        stream_(context.stream()),
        whole_(whole_vectors(c.from, {c.ld, c.matrices > 1 ? c.stride : 0})),
        arguments_{nullptr, nullptr, c.rows, c.rows * c.matrices, c.columns, c.ld, c.stride, c.copy_ld, false} {
    const DeviceGuard guard(device_);
    prepare(copy_operand_kernel<From, To>);
    early_.early = can_start_early(copy_operand_kernel<From, To>);
  }
  void operator()(const void* from, void* to) const {
    CopyArguments<From, To> x = arguments_;
    x.from = static_cast<const From*>(from), x.to = static_cast<To*>(to);
    x.vectors = whole_ && at_vector(from);
    const std::int64_t blocks = plugin::ceil_div(x.all_rows * (x.copy_ld / kCopyWidth), kCopyThreads);
    if (blocks == 0) return;
    const DeviceGuard guard(device_);
    launch(copy_operand_kernel<From, To>, dim3(unsigned(std::min(blocks, kMaxGridX))), dim3(kCopyThreads), 0, stream_,
           early_, x);
  }

 private:
  int device_;
  cudaStream_t stream_;
  bool whole_;
  CopyArguments<From, To> arguments_;
  EarlyStart early_{};
};

}  // namespace

plugin::CopyOperand Context::copying(const plugin::OperandCopy& c) {
  return plugin::with_copied_types(
      c, [&]<class From, class To>(std::type_identity<From>, std::type_identity<To>) -> plugin::CopyOperand {
        return Copier<From, To>(*this, c);
      });
}

double Context::copying_seconds(const Machine& machine, const plugin::OperandCopy& c) {
  const double bytes = c.elements() * double(plugin::size_of(c.from) + plugin::size_of(c.to));
  return machine.gemm.product.pass + bytes / machine.memory_rate;
}

}  // namespace tessera::cuda
