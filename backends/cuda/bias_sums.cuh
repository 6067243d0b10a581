// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sums of D's rows or columns: of parts of them, as many as there is work for. Whoever is the last to make a part of a
/// sum adds the parts. All in an order that follows from the sizes alone.
#pragma once

#include "early_start.cuh"
#include "elements.cuh"
#include "vector_access.hpp"

#include <tessera/plugin/bias_gradient.hpp>
#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

inline constexpr int kSumThreads = 256, kSumWarps = kSumThreads / 32;

/// What is added up: the matrices of each of `vectors` vectors, in so many parts.
template <class T>
struct SumArguments {
  using S = Scalar<T>;

  const T* from;
  std::int64_t rows, columns, ld, stride;  ///< of a matrix, and to the next
  std::int64_t matrices, vectors;          ///< matrices of a vector
  bool aligned;                            ///< whether 16 bytes can be read at once
  Elements<T> to;
  std::int64_t increment, vector_stride;  ///< of what is written
  int along;                              ///< threads for a row
  std::int64_t parts;
  S* partial;         ///< vectors x parts x values
  unsigned* arrived;  ///< parts of each sum that are there, 0 between launches

  static constexpr int kWidth = kVectorWidth<T>;
  using Some = Vector<S, kWidth>;

  /// Accesses of `along` threads to a row.
  __host__ __device__ std::int64_t across() const { return plugin::ceil_div(columns, std::int64_t(along * kWidth)); }
  /// The first of neighbours in a row.
  __device__ __forceinline__ const T* at(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    return from + (matrix * stride + row * ld + column);
  }
  __device__ __forceinline__ void write(std::int64_t vector, std::int64_t i, S sum) const {
    (to + (vector * vector_stride + i * increment)).write(Vector<S, 1>{{sum}});
  }
};

/// How the sums of a bias's gradient are made: all but the addresses, and whether they are aligned.
template <class T>
struct SumLayout {
  static constexpr std::int64_t kMostBlocks = 512;  ///< that are worth it
  static constexpr std::int64_t kLeast = 4;         ///< accesses of a thread to a part

  SumArguments<T> x{};
  std::int64_t blocks = 0;  ///< of the launch; 0: there is nothing to add
  std::size_t sums, values = 0;

  explicit SumLayout(const plugin::BiasGradient& g) {
    const bool shared = g.shared();
    x.rows = g.m, x.columns = g.n, x.ld = g.ldd, x.stride = g.stride_d;
    x.matrices = shared ? g.batch : 1, x.vectors = shared ? 1 : g.batch;
    x.increment = g.increment, x.vector_stride = g.stride;
    x.along = 32;  // of few columns fewer threads, and more rows
    while (!g.per_row && x.along > 1 && (x.along / 2) * kVectorWidth<T> >= g.n) x.along /= 2;
    // Of rows a warp makes a part, of columns a block.
    const std::int64_t all = std::max<std::int64_t>(x.vectors * (g.per_row ? g.m : x.across()), 1);
    const std::int64_t accesses = x.matrices * (g.per_row ? x.across() : g.m * x.along / kSumThreads);
    const std::int64_t most = kMostBlocks * (g.per_row ? kSumWarps : 1) / all;
    x.parts = std::max<std::int64_t>(std::min(accesses / kLeast, most), 1);
    if (g.m > 0 && g.n > 0)
      blocks = g.per_row ? plugin::ceil_div(all * x.parts, std::int64_t(kSumWarps)) : all * x.parts;
    sums = std::size_t(all);
    if (blocks > 0 && x.parts > 1) values = std::size_t(all * x.parts * (g.per_row ? 1 : x.along * kVectorWidth<T>));
  }
  /// Of the parts, and of the counts of those that are there, which are 0 between launches.
  std::size_t bytes() const { return values == 0 ? 0 : values * sizeof(Scalar<T>) + sums * sizeof(unsigned); }
  void place_parts(Scalar<T>* memory) { x.partial = memory, x.arrived = reinterpret_cast<unsigned*>(memory + values); }
};

template <class S, int kWidth>
__device__ __forceinline__ void add(Vector<S, kWidth>& sums, const Vector<S, kWidth>& values) {
#pragma unroll
  for (int e = 0; e < kWidth; ++e) sums.value[e] += values.value[e];
}

/// Calls with(read) once, where read(place) gives neighbours, of which `count` exist: the others are 0. The choice how
/// is made once for all of them.
template <int kWidth, class T, class With>
__device__ __forceinline__ void with_reading(bool vectors, std::int64_t count, const With& with) {
  if (vectors && count >= kWidth) return with([](const T* at) { return widened(read_at_once<Vector<T, kWidth>>(at)); });
  with([count](const T* at) {
    Vector<Scalar<T>, kWidth> values{};
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      if (e < count) values.value[e] = widened(at[e]);
    return values;
  });
}

/// For one thread of those who have written a part, when all have: whether the others' are there, too.
__device__ __forceinline__ bool arrives_last(unsigned* arrived, std::int64_t parts) {
  __threadfence();
  if (atomicAdd(arrived, 1u) + 1 < parts) return false;
  *arrived = 0;
  __threadfence();
  return true;
}

/// What another block has written: past the first-level cache, which may have what was there before.
template <class Values>
__device__ __forceinline__ Values read_written(const Values* from) {
  static_assert(sizeof(Values) % sizeof(float4) == 0);
  Values values;
#pragma unroll
  for (std::size_t i = 0; i < sizeof values / sizeof(float4); ++i)
    reinterpret_cast<float4*>(&values)[i] = __ldcg(reinterpret_cast<const float4*>(from) + i);
  return values;
}

/// Sums of columns: lines of `along` threads take every so many rows of a part.
template <class T>
__global__ void __launch_bounds__(kSumThreads) sum_columns_kernel(const __grid_constant__ SumArguments<T> x) {
  using Some = typename SumArguments<T>::Some;
  constexpr int kWidth = SumArguments<T>::kWidth;
  __shared__ Some of_lines[kSumThreads];
  __shared__ bool last;
  start_successor();
  wait_for_predecessor();  // which made the matrices
  const int in_line = int(threadIdx.x) % x.along, line = int(threadIdx.x) / x.along, lines = kSumThreads / x.along;
  const std::int64_t across = x.across(), unit = blockIdx.x / across, vector = unit / x.parts, part = unit % x.parts;
  const std::int64_t place = (blockIdx.x % across * x.along + in_line) * kWidth;
  const std::int64_t rows = x.rows * x.matrices, end = rows * (part + 1) / x.parts;
  Some sums{};
  // The sum of what a block's lines have, which the first one gets.
  const auto add_lines = [&] {
    of_lines[threadIdx.x] = sums;
    __syncthreads();
    for (int other = 1; line == 0 && other < lines; ++other) add(sums, of_lines[other * x.along + in_line]);
  };
  with_reading<kWidth, T>(x.aligned, x.columns - place, [&](const auto& read) {
    for (std::int64_t row = rows * part / x.parts + line; row < end;) {
      const std::int64_t matrix = x.matrices == 1 ? 0 : row / x.rows, first = matrix * x.rows;
      const std::int64_t stop = min(end, first + x.rows);
#pragma unroll 8
      for (; row < stop; row += lines) add(sums, read(x.at(vector * x.matrices + matrix, row - first, place)));
    }
  });
  add_lines();
  if (x.parts > 1) {
    const std::int64_t values = across * x.along * kWidth;
    const auto of_part = [&](std::int64_t i) {
      return reinterpret_cast<Some*>(x.partial + (vector * x.parts + i) * values + place);
    };
    if (line == 0) *of_part(part) = sums;
    __syncthreads();
    if (threadIdx.x == 0) last = arrives_last(x.arrived + (vector * across + blockIdx.x % across), x.parts);
    __syncthreads();
    if (!last) return;
    sums = {};
#pragma unroll 4
    for (std::int64_t i = line; i < x.parts; i += lines) add(sums, read_written(of_part(i)));
    add_lines();
  }
#pragma unroll
  for (int e = 0; e < kWidth; ++e)
    if (line == 0 && place + e < x.columns) x.write(vector, place + e, sums.value[e]);
}

/// Sums of rows: a warp adds a part of one.
template <class T>
__global__ void __launch_bounds__(kSumThreads) sum_rows_kernel(const __grid_constant__ SumArguments<T> x) {
  using S = Scalar<T>;
  using Some = typename SumArguments<T>::Some;
  constexpr int kWidth = SumArguments<T>::kWidth;
  start_successor();
  wait_for_predecessor();  // which made the matrices
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t unit = std::int64_t(blockIdx.x) * kSumWarps + threadIdx.x / 32, line = unit / x.parts;
  if (line >= x.vectors * x.rows) return;
  const std::int64_t part = unit % x.parts, vector = line / x.rows, row = line % x.rows;
  const std::int64_t across = x.across(), accesses = across * x.matrices, end = accesses * (part + 1) / x.parts;
  const auto of_warp = [](S sum) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    return sum;
  };
  Some sums{};
  const auto read_all = [&](std::int64_t first, std::int64_t stop, std::int64_t count) {
    with_reading<kWidth, T>(x.aligned, count, [&](const auto& read) {
#pragma unroll 4
      for (std::int64_t i = first; i < stop; ++i) {
        const std::int64_t matrix = x.matrices == 1 ? 0 : i / across;
        add(sums, read(x.at(vector * x.matrices + matrix, row, ((i - matrix * across) * 32 + lane) * kWidth)));
      }
    });
  };
  // The last access to a row may reach beyond it.
  for (std::int64_t i = accesses * part / x.parts; i < end;) {
    const std::int64_t at_end = (i / across + 1) * across - 1, stop = min(at_end, end);
    read_all(i, stop, kWidth);
    if (stop < end) read_all(stop, stop + 1, x.columns - ((across - 1) * 32 + lane) * kWidth);
    i = stop + 1;
  }
  S sum = 0;
#pragma unroll
  for (int e = 0; e < kWidth; ++e) sum += sums.value[e];
  sum = of_warp(sum);
  if (x.parts > 1) {
    S* const partial = x.partial + line * x.parts;
    int last = 0;
    if (lane == 0) partial[part] = sum, last = arrives_last(x.arrived + line, x.parts);
    if (!__shfl_sync(~0u, last, 0)) return;
    __syncwarp();  // and sees what the first lane has seen
    sum = 0;
    for (std::int64_t i = lane; i < x.parts; i += 32) sum += __ldcg(partial + i);
    sum = of_warp(sum);
  }
  if (lane == 0) x.write(vector, row, sum);
}

}  // namespace tessera::cuda
