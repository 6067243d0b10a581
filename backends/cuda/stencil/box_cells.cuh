// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How cells that a block of threads reads come to shared memory, with what boundary modes put outside of the domain.
#pragma once

#include "../convert.cuh"
#include "../cp_async.cuh"
#include "../shared_access.cuh"
#include "../vector.cuh"
#include "../vector_access.hpp"
#include "geometry.hpp"
#include "streaming/axis_fold.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::cuda {

/// Where cells come from.
template <class S>
struct CellSource {
  SweepGeometry geometry;
  AxisFold fold[plugin::kAxes];
  S value[plugin::kAxes][2];  ///< of constant sides
  bool folds;                 ///< whether AxisFold applies
  int together;               ///< cells that are copied at a time

  CellSource() = default;
  explicit CellSource(const plugin::StencilProblem& problem) : geometry(problem), folds(true), together(1) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      fold[axis] = AxisFold(problem.domain, axis);
      folds = folds && AxisFold::applies(problem.domain, axis);
      for (int side = 0; side < 2; ++side) value[axis][side] = S(problem.domain.value[axis][side]);
    }
  }

  /// The arrays of a sweep, where rows of cells begin at `first` and others whole vectors behind it.
  template <class T>
  void set_arrays(const T* source, const plugin::Index3& source_strides, const plugin::Index3& target_strides,
                  tessera_dtype dtype, std::int64_t first) {
    constexpr std::int64_t kWidth = 16 / std::int64_t(sizeof(S));
    geometry.set_strides(source_strides, target_strides);
    together = std::min({alignment_of(source), alignment_of(dtype, {source_strides[0], source_strides[1]}),
                         alignment_of(dtype, {first, kWidth})}) /
               int(sizeof(T));
  }
};

/// Has kCount cells come to shared memory. Elements of 16 bits pass through registers.
template <int kCount, class T>
__device__ __forceinline__ void copy_cells(std::uint32_t to, const T* from) {
  if constexpr (!kNarrow<T>) {
    cp_async<kCount* int(sizeof(T))>(to, from, true);
  } else if constexpr (kCount == 1) {
    store_shared(to, value_at(from));
  } else {
    const uint2 raw = __ldg(reinterpret_cast<const uint2*>(from));
    Vector<T, kCount> elements;
    memcpy(&elements, &raw, sizeof raw);
    Scalar<T> value[kCount];
    widen(elements, value);
    store_shared_vector(to, value);
  }
}

/// The part of `count` cells from `first` on that an axis of so many points has.
struct CellRange {
  int begin, end;

  __device__ __forceinline__ CellRange(std::int64_t first, int count, std::int64_t extent)
      : begin(int(min(std::int64_t(count), max(std::int64_t(0), -first)))),
        end(int(max(std::int64_t(begin), min(std::int64_t(count), extent - first)))) {}
};

/// Cells in shared memory: rows of a plane, from `first` on.
struct BoxCells {
  std::int64_t first[plugin::kAxes];
  int rows, pitch;
  std::uint32_t to;  ///< in shared memory

  template <class S>
  __device__ __forceinline__ std::uint32_t place(int row, int column) const {
    return to + std::uint32_t(row * pitch + column) * std::uint32_t(sizeof(S));
  }
};

/// Copies them, kCount at a time, where all lie in the domain.
template <bool kLine, int kCount, class T>
__device__ __forceinline__ void copy_whole(const BoxCells& cells, const SweepGeometry& geometry, const T* source) {
  using S = Scalar<T>;
  if constexpr (kLine) {
    const T* const line = source + cells.first[2];
#pragma unroll 4
    for (int column = int(threadIdx.x) * kCount; column < cells.pitch; column += int(blockDim.x) * kCount)
      copy_cells<kCount>(cells.place<S>(0, column), line + column);
    return;
  }
  const int together = int(blockDim.x) / 32, first = int(threadIdx.x) / 32;
  const T* const own = source + geometry.source_index(cells.first[0], cells.first[1] + first, cells.first[2]);
  const std::int64_t step = together * geometry.source_strides[1];
  for (int column = int(threadIdx.x) % 32 * kCount; column < cells.pitch; column += 32 * kCount) {
    const T* from = own + column;
    std::uint32_t at = cells.place<S>(first, column);
#pragma unroll 4
    for (int row = first; row < cells.rows; row += together) {
      copy_cells<kCount>(at, from);
      from += step, at += std::uint32_t(together * cells.pitch) * std::uint32_t(sizeof(S));
    }
  }
}

/// The same where some lie outside, no farther than the domain is long. Those that no point reads which is computed are
/// left, or are any of the domain's.
template <bool kLine, int kCount, class T>
__device__ __forceinline__ void copy_folded(const BoxCells& cells, const CellSource<Scalar<T>>& g, const T* source) {
  using S = Scalar<T>;
  const plugin::Domain& d = g.geometry.domain;
  const std::int64_t stride = g.geometry.source_strides[1];
  const auto reached = [&](int axis, std::int64_t i) {
    const std::int64_t last = d.extents[axis] - 1 + d.reach[axis][1];
    return std::int32_t(max(-d.reach[axis][0], min(last, i)));
  };
  const bool in_plane = cells.first[0] >= 0 && cells.first[0] < d.extents[0];
  const std::int32_t z = in_plane ? 0 : reached(0, cells.first[0]);
  const bool constant_plane = !in_plane && g.fold[0].constant(z);
  const std::int64_t plane_at = in_plane ? cells.first[0] : z + g.fold[0].shift(z);
  const T* const plane = source + plane_at * g.geometry.source_strides[0] + cells.first[2];
  CellRange rows(cells.first[1], cells.rows, d.extents[1]);
  if (constant_plane) rows.end = rows.begin;
  const CellRange columns(cells.first[2], cells.pitch, d.extents[2]);
  const int whole_end = columns.begin + (columns.end - columns.begin) / kCount * kCount;
  // Of a row outside: where it lies, or that it is constant.
  const auto fold_row = [&](int row, const T*& from, S& value) {
    const std::int32_t y = reached(1, cells.first[1] + row);
    from = plane + (y + g.fold[1].shift(y)) * stride;
    value = constant_plane ? g.value[0][z < 0 ? 0 : 1] : g.value[1][y < 0 ? 0 : 1];
    return constant_plane || g.fold[1].constant(y);
  };

  const int lanes = kLine ? int(blockDim.x) : 32, together = kLine ? 1 : int(blockDim.x) / 32;
  const int first_row = int(threadIdx.x) / lanes;
  for (int column = columns.begin + int(threadIdx.x) % lanes * kCount; column < whole_end; column += lanes * kCount) {
    const T* from = plane + (cells.first[1] + first_row) * stride + column;
    std::uint32_t at = cells.place<S>(first_row, column);
#pragma unroll 4
    for (int row = first_row; row < cells.rows; row += together) {
      if (row >= rows.begin && row < rows.end) {
        copy_cells<kCount>(at, from);
      } else {
        const T* folded;
        S value;
        if (fold_row(row, folded, value)) {
#pragma unroll
          for (int i = 0; i < kCount; ++i) store_shared(at + std::uint32_t(i) * std::uint32_t(sizeof(S)), value);
        } else {
          copy_cells<kCount>(at, folded + column);
        }
      }
      from += together * stride, at += std::uint32_t(together * cells.pitch) * std::uint32_t(sizeof(S));
    }
  }
  // What is left at the ends of rows: a thread for each row.
  const int end = int(min(std::int64_t(cells.pitch), d.extents[2] + d.reach[2][1] - cells.first[2]));
  if (columns.begin == 0 && whole_end >= end) return;
#pragma unroll 1
  for (int row = kLine ? 0 : int(threadIdx.x); row < cells.rows; row += kLine ? 1 : int(blockDim.x)) {
    const T* from = plane + (cells.first[1] + row) * stride;
    S value = 0;
    const bool constant = row >= rows.begin && row < rows.end ? false : fold_row(row, from, value);
#pragma unroll 1
    for (int column = kLine ? int(threadIdx.x) : 0; column < end; column += kLine ? int(blockDim.x) : 1) {
      if (column >= columns.begin && column < whole_end) {
        if (!kLine) column = whole_end - 1;
        continue;
      }
      const std::uint32_t at = cells.place<S>(row, column);
      const bool inside = column >= columns.begin && column < columns.end;
      const std::int32_t x = inside ? 0 : reached(2, cells.first[2] + column);
      if (constant || (!inside && g.fold[2].constant(x)))
        store_shared(at, constant ? value : g.value[2][x < 0 ? 0 : 1]);
      else
        copy_cells<1>(at, inside ? from + column : from + (x + g.fold[2].shift(x) - cells.first[2]));
    }
  }
}

/// Where taps reach farther than the domain is long, or it is longer than numbers of 32 bits.
template <class T>
__device__ __noinline__ void copy_sampled(const BoxCells& cells, const SweepGeometry& geometry, const T* source) {
  using S = Scalar<T>;
  const plugin::Domain& d = geometry.domain;
  for (int cell = int(threadIdx.x); cell < cells.rows * cells.pitch; cell += int(blockDim.x)) {
    const int row = cell / cells.pitch, column = cell - row * cells.pitch;
    std::int64_t at[] = {cells.first[0], cells.first[1] + row, cells.first[2] + column};
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      const bool low = d.mode[axis][0] == TESSERA_BOUNDARY_FIXED, high = d.mode[axis][1] == TESSERA_BOUNDARY_FIXED;
      const std::int64_t last = d.extents[axis] - 1 + (high ? 0 : d.reach[axis][1]);
      at[axis] = max(low ? 0 : -d.reach[axis][0], min(last, at[axis]));
    }
    const plugin::Sample s = d.sample(at[0], at[1], at[2]);
    store_shared(
        cells.place<S>(row, column),
        s.constant ? S(s.value) : value_at(source + geometry.source_index(s.index[0], s.index[1], s.index[2])));
  }
}

/// Copies cells, all of which are in the domain (`whole`) or not.
template <bool kLine, class T>
__device__ __forceinline__ void copy_box(const BoxCells& cells, const CellSource<Scalar<T>>& g, bool whole,
                                         const T* source) {
  constexpr int kWidth = int(16 / sizeof(Scalar<T>));
  const auto copy = [&]<int kCount>(std::integral_constant<int, kCount>) {
    if (whole)
      copy_whole<kLine, kCount>(cells, g.geometry, source);
    else
      copy_folded<kLine, kCount>(cells, g, source);
  };
  if (!whole && !g.folds)
    copy_sampled(cells, g.geometry, source);
  else if (g.together == kWidth)
    copy(std::integral_constant<int, kWidth>());
  else if (sizeof(T) == 4 && g.together == 2)
    copy(std::integral_constant < int, sizeof(T) == 4 ? 2 : 1 > ());
  else
    copy(std::integral_constant<int, 1>());
}

/// Which of the points behind one on an axis exist, and are computed.
struct AxisParts {
  int low, high, first, end;

  __device__ __forceinline__ AxisParts(const plugin::Domain& d, int axis, std::int64_t at) {
    constexpr std::int64_t kFar = 1 << 20;
    const auto behind = [&](std::int64_t i) { return int(max(-kFar, min(kFar, i - at))); };
    const std::int64_t extent = d.extents[axis];
    low = behind(0), high = behind(extent);
    first = d.mode[axis][0] == TESSERA_BOUNDARY_FIXED ? behind(d.reach[axis][0]) : low;
    end = d.mode[axis][1] == TESSERA_BOUNDARY_FIXED ? behind(extent - d.reach[axis][1]) : high;
  }
  __device__ __forceinline__ bool exists(int i) const { return i >= low && i < high; }
  __device__ __forceinline__ bool computed(int i) const { return i >= first && i < end; }
};

}  // namespace tessera::cuda
