// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sums of "dense": what cells and taps in shared memory give to a thread's points.
#pragma once

#include "../../shared_access.cuh"
#include "../streaming/unrolled.cuh"
#include "dense.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// A thread's sums, with kLast taps in the last group of a row of the box. Taps come in the order of their offsets.
template <class Points, int kLast>
struct DenseSums {
  using S = typename Points::Value;
  static constexpr int kRows = Points::kRows, kColumns = Points::kColumns, kWidth = Points::kWidth,
                       kVectors = Points::kVectors;
  /// On a line the vectors that groups share stay in registers, which is worth the moves: there are no rows that would
  /// share a load.
  static constexpr bool kSlides = kRows == 1;

  S sum[kRows][kColumns] = {};

  /// What rows of a stage's cells, from the thread's first on, give by `box_rows` rows of taps. Addresses and distances
  /// in bytes.
  __device__ __forceinline__ void add_stage(std::uint32_t cells, std::uint32_t taps, std::uint32_t pitch, int box_rows,
                                            int groups) {
    const std::uint32_t tap_pitch = std::uint32_t(groups) * 16;
    if (box_rows < kRows) {
#pragma unroll 1
      for (int d = 0; d < box_rows; ++d, cells += pitch, taps += tap_pitch)
        unrolled<0, kRows>([&](auto row) {
          constexpr int kRow = decltype(row)::value;
          add_row<kRow, kRow>(cells + kRow * pitch, taps, groups);
        });
      return;
    }
    // The first rows of cells are for the first rows of points alone, the last ones for the last.
    unrolled<0, kRows - 1>([&](auto y) {
      add_row<0, decltype(y)::value>(cells, taps, groups);
      cells += pitch, taps += tap_pitch;
    });
#pragma unroll 1
    for (int y = kRows - 1; y < box_rows; ++y) {
      add_row<0, kRows - 1>(cells, taps, groups);
      cells += pitch, taps += tap_pitch;
    }
    taps -= tap_pitch;
    unrolled<1, kRows>([&](auto row) {
      add_row<decltype(row)::value, kRows - 1>(cells, taps, groups);
      cells += pitch;
    });
  }

 private:
  using Window = S[kColumns + kWidth];

  /// What a row of cells gives to rows kFirst to kEnd of the points; `taps` are those for row kFirst.
  template <int kFirst, int kEnd>
  __device__ __forceinline__ void add_row(std::uint32_t cells, std::uint32_t taps, int groups) {
    const std::uint32_t tap_pitch = std::uint32_t(groups) * 16;
    Window window;
    if constexpr (kSlides) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) load_shared(cells + v * 16, window + v * kWidth);
    }
#pragma unroll(kSlides ? 2 : 1)
    for (int g = groups - 1; g > 0; --g, cells += 16, taps += 16)
      add_group<kFirst, kEnd, kWidth>(cells, taps, tap_pitch, window);
    add_group<kFirst, kEnd, kLast>(cells, taps, tap_pitch, window);
  }

  /// The same of kTaps taps of each row of the box.
  template <int kFirst, int kEnd, int kTaps>
  __device__ __forceinline__ void add_group(std::uint32_t cells, std::uint32_t taps, std::uint32_t tap_pitch,
                                            Window& window) {
#pragma unroll
    for (int v = kSlides ? kVectors : 0; v < kVectors + (kTaps > 1 ? 1 : 0); ++v)
      load_shared(cells + v * 16, window + v * kWidth);
    S tap[kRows][kWidth];
#pragma unroll
    for (int r = kFirst; r <= kEnd; ++r) load_shared(taps - (r - kFirst) * tap_pitch, tap[r]);
#pragma unroll
    for (int t = 0; t < kTaps; ++t)
#pragma unroll
      for (int r = kFirst; r <= kEnd; ++r)
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sum[r][c] = fma(tap[r][t], window[c + t], sum[r][c]);
    if constexpr (kSlides) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) window[c] = window[c + kWidth];
    }
  }
};

}  // namespace tessera::cuda
