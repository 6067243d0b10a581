// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sums of "dense": what cells and taps in shared memory give to a thread's points.
#pragma once

#include "../../shared_access.cuh"
#include "../box_cells.cuh"
#include "../streaming/unrolled.cuh"
#include "../tap_line.cuh"
#include "dense.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// A thread's sums. Taps come in the order of their offsets.
template <class T, class Points, DenseRow kRow>
struct DenseSums {
  using S = typename Points::Value;
  static constexpr int kRows = Points::kRows, kColumns = Points::kColumns, kWidth = Points::kWidth,
                       kVectors = Points::kVectors;

  const DenseLayout& l;
  S sum[kRows][kColumns] = {};

  /// What rows of a stage's cells, from the thread's first on, give by `box_rows` rows of taps. Addresses and
  /// distances in bytes.
  __device__ __forceinline__ void add_rows(std::uint32_t cells, std::uint32_t taps, std::uint32_t pitch, int box_rows) {
    const std::uint32_t tap_pitch = std::uint32_t(l.vectors) * 16;
    if (box_rows < kRows) {
#pragma unroll 1
      for (int d = 0; d < box_rows; ++d, cells += pitch, taps += tap_pitch)
        unrolled<0, kRows>([&](auto row) {
          constexpr int kOf = decltype(row)::value;
          add_row<kOf, kOf>(cells + kOf * pitch, taps, tap_pitch);
        });
      return;
    }
    // The first rows of cells are for the first rows of points alone, the last ones for the last.
    unrolled<0, kRows - 1>([&](auto y) {
      add_row<0, decltype(y)::value>(cells, taps, tap_pitch);
      cells += pitch, taps += tap_pitch;
    });
#pragma unroll 1
    for (int y = kRows - 1; y < box_rows; ++y) {
      add_row<0, kRows - 1>(cells, taps, tap_pitch);
      cells += pitch, taps += tap_pitch;
    }
    taps -= tap_pitch;
    unrolled<1, kRows>([&](auto row) {
      add_row<decltype(row)::value, kRows - 1>(cells, taps, tap_pitch);
      cells += pitch;
    });
  }

  /// What plane `z` of cells, from the thread's first row on, gives to points in planes. `taps`: all of the box,
  /// which has kRows planes and more.
  __device__ __forceinline__ void add_plane(int z, std::uint32_t cells, std::uint32_t taps, std::uint32_t pitch) {
    const int planes = l.taps[0], box_rows = l.taps[1];
    const std::uint32_t tap_pitch = std::uint32_t(l.vectors) * 16, tap_plane = std::uint32_t(box_rows) * tap_pitch;
    // Of the first plane of points that it has taps for, by the last of its planes of taps.
    const auto add = [&](auto first, auto end) {
      constexpr int kFirst = decltype(first)::value, kEnd = decltype(end)::value;
      std::uint32_t row = cells, tap = taps + std::uint32_t(z - kFirst) * tap_plane;
#pragma unroll 1
      for (int y = 0; y < box_rows; ++y, row += pitch, tap += tap_pitch) add_row<kFirst, kEnd>(row, tap, tap_plane);
    };
    using Zero = std::integral_constant<int, 0>;
    using Last = std::integral_constant<int, kRows - 1>;
    if (z >= kRows - 1 && z < planes) return add(Zero(), Last());
    unrolled<0, kRows - 1>([&](auto of) {
      constexpr int kOf = decltype(of)::value;
      if (z == kOf) add(Zero(), of);
      if (z == planes + kOf) add(std::integral_constant<int, kOf + 1>(), Last());
    });
  }

 private:
  using Window = S[kColumns + kWidth];

  /// What a row of cells gives to rows kFirst to kEnd of the points; `taps` are those for row kFirst, and those for the
  /// next one lie `between` before them.
  template <int kFirst, int kEnd>
  __device__ __forceinline__ void add_row(std::uint32_t cells, std::uint32_t taps, std::uint32_t between) {
    Window window;
    if constexpr (kRow == DenseRow::kPartFirst) {
      add_group<kFirst, kEnd, 1, kWidth>(cells, taps, between, window);
      cells += kCellVectorBytes<T>, taps += 16;
    }
    constexpr int kOthers = kRow == DenseRow::kOneMore ? 2 : 1;  // vectors that are not of groups in the loop
#pragma unroll 1
    for (int g = l.vectors - kOthers; g > 0; --g, cells += kCellVectorBytes<T>, taps += 16)
      add_group<kFirst, kEnd, 0, kWidth>(cells, taps, between, window);
    if constexpr (kRow == DenseRow::kOneMore) add_group<kFirst, kEnd, 0, kWidth + 1>(cells, taps, between, window);
    if constexpr (kRow == DenseRow::kAny) add_group<kFirst, kEnd, 0, kWidth, true>(cells, taps, between, window);
  }

  /// The same of taps kTap to kEndTap - 1, which the group's cells serve, of each row of the box; or of `last` of them.
  template <int kFirst, int kEnd, int kTap, int kEndTap, bool kSome = false>
  __device__ __forceinline__ void add_group(std::uint32_t cells, std::uint32_t taps, std::uint32_t between,
                                            Window& window) {
#pragma unroll
    for (int v = 0; v < kVectors + 1; ++v) load_cells<T>(cells + v * kCellVectorBytes<T>, window + v * kWidth);
    S tap[kRows][kWidth + 1];
#pragma unroll
    for (int r = kFirst; r <= kEnd; ++r) {
      load_shared(taps - (r - kFirst) * between, tap[r]);
      if constexpr (kEndTap > kWidth) tap[r][kWidth] = load_shared_value<S>(taps - (r - kFirst) * between + 16);
    }
#pragma unroll
    for (int t = kTap; t < kEndTap; ++t) {
      if (kSome && t >= l.last) break;
#pragma unroll
      for (int r = kFirst; r <= kEnd; ++r)
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sum[r][c] = fma(tap[r][t], window[c + t], sum[r][c]);
    }
  }
};

/// The same on a line, by a thread's window of cells.
template <class T, class Points>
struct DenseLineSums {
  using S = typename Points::Value;

  const DenseLayout& l;
  S sum[1][Points::kColumns] = {};

  /// What cells from the thread's first on give.
  __device__ __forceinline__ void add(std::uint32_t cells, std::uint32_t taps) {
    const auto load = [&](S* value) {
      load_cells<T>(cells, value);
      cells += kCellVectorBytes<T>;
    };
    add_line(sum[0], taps, l.taps[2] - l.last, load);
    if (l.last == 0) return;
    cells -= Points::kVectors * kCellVectorBytes<T>;  // that the last tap's group loaded beyond its first
    add_rest(sum[0], taps + std::uint32_t(l.vectors - 1) * 16, l.last, load);
  }
};

}  // namespace tessera::cuda
