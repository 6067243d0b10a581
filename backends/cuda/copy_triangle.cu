// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of triangles of matrices, by squares of 64: what is mirrored passes through shared memory, so that both sides
/// are accessed along rows.
#include "context.hpp"
#include "early_start.cuh"
#include "gemm/tile_model.hpp"
#include "launch.cuh"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/triangle_copy.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {
namespace {

constexpr int kSquare = 64, kThreads = 256, kAtOnce = kThreads / kSquare, kPasses = kSquare / kAtOnce;

template <class T>
struct TriangleArguments {
  const T* from;
  T* to;
  std::int64_t extent, from_ld, from_stride, to_ld, to_stride;
  std::int64_t squares;  ///< of a matrix, that hold elements of the triangle
  bool lower;
};

/// The place of a square among those of a lower triangle, row after row.
__device__ __forceinline__ void find_square(std::int64_t number, std::int64_t& row, std::int64_t& column) {
  row = std::int64_t((sqrt(8.0 * double(number) + 1.0) - 1.0) / 2.0);
  while (row * (row + 1) / 2 > number) --row;
  while ((row + 1) * (row + 2) / 2 <= number) ++row;
  column = number - row * (row + 1) / 2;
}

template <class T, bool kMirrors>
__global__ void __launch_bounds__(kThreads) copy_triangle_kernel(const __grid_constant__ TriangleArguments<T> x) {
  __shared__ T square[kMirrors ? kSquare : 1][kSquare + 1];
  std::int64_t row, column;
  const std::int64_t matrix = blockIdx.x / x.squares;
  find_square(blockIdx.x % x.squares, row, column);
  if (!x.lower) {
    const std::int64_t swapped = row;
    row = column, column = swapped;
  }
  row *= kSquare, column *= kSquare;
  const T* const from = x.from + matrix * x.from_stride;
  T* const to = x.to + matrix * x.to_stride;
  const int along = int(threadIdx.x) % kSquare, first = int(threadIdx.x) / kSquare;
  const auto exists = [&](std::int64_t i, std::int64_t j) {
    return i < x.extent && j < x.extent && (x.lower ? j <= i : j >= i);
  };
  start_successor();
  wait_for_predecessor();  // which may have made what is copied, or read what is written
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::int64_t i = row + first + pass * kAtOnce, j = column + along;
    if (!exists(i, j)) continue;
    const T value = from[i * x.from_ld + j];
    if constexpr (kMirrors)
      square[first + pass * kAtOnce][along] = value;
    else
      to[i * x.to_ld + j] = value;
  }
  if constexpr (kMirrors) {
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int down = first + pass * kAtOnce;
      const std::int64_t i = row + along, j = column + down;  // goes to (j, i)
      if (i != j && exists(i, j)) to[j * x.to_ld + i] = square[along][down];
    }
  }
}

/// A launch of a copy, the kernel being prepared.
template <class T>
class TriangleCopier {
 public:
  TriangleCopier(const Context& context, const plugin::TriangleCopy& c)
      : device_(context.device()), stream_(context.stream()), kernel_(kernel_of(c)), count_(c.count) {
    const std::int64_t across = plugin::ceil_div(c.extent, kSquare);
    arguments_ = {nullptr, nullptr, c.extent, c.from_ld, c.from_stride, c.to_ld, c.to_stride, across * (across + 1) / 2,
                  c.lower};
    const DeviceGuard guard(device_);
    prepare(kernel_);
    early_.early = can_start_early(kernel_);
  }
  void operator()(const void* from, void* to) const {
    TriangleArguments<T> x = arguments_;
    x.from = static_cast<const T*>(from), x.to = static_cast<T*>(to);
    const std::int64_t blocks = x.squares * count_;
    if (blocks == 0) return;
    const DeviceGuard guard(device_);
    launch(kernel_, dim3(unsigned(blocks)), dim3(kThreads), 0, stream_, early_, x);
  }

 private:
  using Kernel = void (*)(TriangleArguments<T>);
  static Kernel kernel_of([[maybe_unused]] const plugin::TriangleCopy& c) {
    if constexpr (sizeof(T) == 16)
      return copy_triangle_kernel<T, false>;  // no complex D is mirrored
    else
      return c.mirrors ? copy_triangle_kernel<T, true> : copy_triangle_kernel<T, false>;
  }

  int device_;
  cudaStream_t stream_;
  Kernel kernel_;
  std::int64_t count_;
  TriangleArguments<T> arguments_;
  EarlyStart early_{};
};

}  // namespace

plugin::CopyTriangle Context::copying_triangle(const plugin::TriangleCopy& c) {
  return plugin::with_type_of_size(c.element_size, [&]<class T>(std::type_identity<T>) -> plugin::CopyTriangle {
    return TriangleCopier<T>(*this, c);
  });
}

double Context::copying_seconds(const Machine& machine, const plugin::TriangleCopy& c) {
  return pass_seconds(c.bytes(), machine);
}

}  // namespace tessera::cuda
