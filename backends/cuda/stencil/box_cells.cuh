// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How cells that a block of threads reads come to shared memory, with what boundary modes put outside of the domain.
#pragma once

#include "../bulk_copy.cuh"
#include "../convert.cuh"
#include "../cp_async.cuh"
#include "../shared_access.cuh"
#include "../vector.cuh"
#include "../vector_access.hpp"
#include "box_layout.hpp"
#include "geometry.hpp"
#include "streaming/axis_fold.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::cuda {

/// Where cells come from. They are elements, also of 16 bits, which become values as they are read.
template <class T>
struct CellSource {
  SweepGeometry geometry;
  AxisFold fold[plugin::kAxes];
  T value[plugin::kAxes][2];  ///< of constant sides: holds_constants()
  bool folds;                 ///< whether AxisFold applies
  int together;               ///< cells that are copied at a time

  CellSource() = default;
  explicit CellSource(const plugin::StencilProblem& problem) : geometry(problem), folds(true), together(1) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      fold[axis] = AxisFold(problem.domain, axis);
      folds = folds && AxisFold::applies(problem.domain, axis);
      for (int side = 0; side < 2; ++side) value[axis][side] = T(Scalar<T>(problem.domain.value[axis][side]));
    }
  }

  /// The arrays of a sweep, where rows of cells begin at `first` and others whole vectors behind it.
  void set_arrays(const T* source, const plugin::Index3& source_strides, const plugin::Index3& target_strides,
                  tessera_dtype dtype, std::int64_t first) {
    geometry.set_strides(source_strides, target_strides);
    together = std::min({alignment_of(source), alignment_of(dtype, {source_strides[0], source_strides[1]}),
                         alignment_of(dtype, {first, kVectorWidth<T>})}) /
               int(sizeof(T));
  }
};

/// What a kernel takes whose blocks have their cells in shared memory.
template <class T, class Layout>
struct BoxArguments : CellSource<T> {
  Layout layout;
  const Scalar<T>* taps;

  BoxArguments(const plugin::StencilProblem& problem, const Layout& of, const Scalar<T>* on_device)
      : CellSource<T>(problem), layout(of), taps(on_device) {}
};

/// Has kCount cells come to shared memory.
template <int kCount, class T>
__device__ __forceinline__ void copy_cells(std::uint32_t to, const T* from) {
  cp_async<kCount* int(sizeof(T))>(to, from, true);
}

/// Stores a cell.
template <class T>
__device__ __forceinline__ void store_cell(std::uint32_t to, T cell) {
  if constexpr (kNarrow<T>)
    store_shared(to, cell.bits);
  else
    store_shared(to, cell);
}

/// What a vector of values takes in shared memory as cells, which it begins on a multiple of, and these values.
template <class T>
inline constexpr std::uint32_t kCellVectorBytes = 16 * sizeof(T) / sizeof(Scalar<T>);
template <class T>
__device__ __forceinline__ void load_cells(std::uint32_t from, Scalar<T>* to) {
  if constexpr (kNarrow<T>) {
    std::uint32_t words[2]{};
    load_shared_words(from, words);
    Vector<T, 4> cells;
    memcpy(&cells, words, sizeof words);
    widen(cells, to);
  } else {
    load_shared(from, to);
  }
}

/// The part of `count` cells from `first` on that an axis of so many points has.
struct CellRange {
  int begin, end;

  __device__ __forceinline__ CellRange(int first, int count, int extent)
      : begin(min(count, max(0, -first))), end(max(begin, min(count, extent - first))) {}
};

/// Cells in shared memory: rows of a plane, from `first` on.
struct BoxCells {
  std::int64_t first[plugin::kAxes];
  int rows, columns;
  int pitch;         ///< of rows in shared memory,
  std::uint32_t to;  ///< from here on

  template <class T>
  __device__ __forceinline__ std::uint32_t place(int row, int column) const {
    return to + std::uint32_t(row * pitch + column) * std::uint32_t(sizeof(T));
  }
};

/// Copies them, kCount at a time, where all lie in the domain.
template <bool kLine, int kCount, class T>
__device__ __forceinline__ void copy_whole(const BoxCells& cells, const SweepGeometry& geometry, const T* source) {
  if constexpr (kLine) {
    const T* const line = source + cells.first[2];
#pragma unroll 4
    for (int column = int(threadIdx.x) * kCount; column < cells.columns; column += int(blockDim.x) * kCount)
      copy_cells<kCount>(cells.place<T>(0, column), line + column);
    return;
  }
  const int together = int(blockDim.x) / 32, first = int(threadIdx.x) / 32;
  const T* const own = source + geometry.source_index(cells.first[0], cells.first[1] + first, cells.first[2]);
  const std::int64_t step = together * geometry.source_strides[1];
  for (int column = int(threadIdx.x) % 32 * kCount; column < cells.columns; column += 32 * kCount) {
    const T* from = own + column;
    std::uint32_t at = cells.place<T>(first, column);
#pragma unroll 4
    for (int row = first; row < cells.rows; row += together) {
      copy_cells<kCount>(at, from);
      from += step, at += std::uint32_t(together * cells.pitch) * std::uint32_t(sizeof(T));
    }
  }
}

/// The first row of cells that a thread copies in bulk, of as many warps as the block has: instructions of a warp's
/// threads go one after the other.
__device__ __forceinline__ int row_of_bulk_copy() {
  const int warps = int(blockDim.x) / 32;
  return int(threadIdx.x) % 32 * warps + int(threadIdx.x) / 32;
}

/// Cells some of which lie outside of the domain, no farther than it is long. Those that no point reads which is
/// computed are left, or are any of the domain's. Positions are numbers of 32 bits where AxisFold applies.
template <class T>
class FoldedCells {
 public:
  const CellRange rows, columns;  ///< that the domain has

  __device__ __forceinline__ FoldedCells(const BoxCells& cells, const CellSource<T>& source_of, const T* source)
      : rows(int(cells.first[1]), cells.rows, int(source_of.geometry.domain.extents[1])),
        columns(int(cells.first[2]), cells.columns, int(source_of.geometry.domain.extents[2])),
        c(cells),
        g(source_of),
        stride(g.geometry.source_strides[1]) {
    const std::int32_t z = reached(0, int(c.first[0]));
    constant_plane = g.fold[0].constant(z);
    plane_value = g.value[0][z < 0 ? 0 : 1];
    plane = source + (z + g.fold[0].shift(z)) * g.geometry.source_strides[0] + c.first[2];
  }

  /// Of a row: where it lies, or that it has one value.
  __device__ __forceinline__ bool constant(int row, const T*& from, T& value) const {
    const std::int32_t y = reached(1, int(c.first[1]) + row);
    from = plane + (y + g.fold[1].shift(y)) * stride;
    value = constant_plane ? plane_value : g.value[1][y < 0 ? 0 : 1];
    return constant_plane || g.fold[1].constant(y);
  }

  /// Columns of the domain that are copied kCount at a time end here.
  template <int kCount>
  __device__ __forceinline__ int whole_end() const {
    return columns.begin + (columns.end - columns.begin) / kCount * kCount;
  }

  /// Copies these. A thread has the same columns in all its rows.
  template <bool kLine, int kCount>
  __device__ __forceinline__ void copy_inside() const {
    const int lanes = kLine ? int(blockDim.x) : 32, together = kLine ? 1 : int(blockDim.x) / 32;
    const int first_row = int(threadIdx.x) / lanes, end = whole_end<kCount>();
    for (int column = columns.begin + int(threadIdx.x) % lanes * kCount; column < end; column += lanes * kCount) {
      const T* inside = plane + (c.first[1] + first_row) * stride + column;
      std::uint32_t at = c.place<T>(first_row, column);
#pragma unroll 4
      for (int row = first_row; row < c.rows; row += together) {
        if (!constant_plane && row >= rows.begin && row < rows.end) {
          copy_cells<kCount>(at, inside);
        } else {
          const T* from;
          T value;
          if (constant(row, from, value))
            fill<kCount>(at, value);
          else
            copy_cells<kCount>(at, from + column);
        }
        inside += together * stride, at += std::uint32_t(together * c.pitch) * std::uint32_t(sizeof(T));
      }
    }
  }

  /// The same by bulk copies.
  __device__ __forceinline__ void copy_inside(std::uint32_t barrier) const {
    const int end = whole_end<kVectorWidth<T>>();
    const unsigned bytes = unsigned(end - columns.begin) * unsigned(sizeof(T));
    unsigned expected = 0;
#pragma unroll 1
    for (int row = row_of_bulk_copy(); row < c.rows; row += int(blockDim.x)) {
      const std::uint32_t at = c.place<T>(row, columns.begin);
      const T* from;
      T value;
      if (constant(row, from, value)) {
#pragma unroll 1
        for (unsigned i = 0; i < bytes; i += unsigned(sizeof(T))) store_cell(at + i, value);
        fence_for_bulk_copies();
      } else if (bytes > 0) {
        copy_bytes(at, from + columns.begin, bytes, barrier);
        expected += bytes;
      }
    }
    expected = __reduce_add_sync(~0U, expected);
    if (threadIdx.x % 32 == 0) barrier_expect(barrier, expected);
  }

  /// What is left at the ends of rows: a thread for each row.
  template <bool kLine, int kCount>
  __device__ __forceinline__ void copy_ends() const {
    const int end = min(c.columns, end_of(2) - int(c.first[2]));
    const int inside_end = whole_end<kCount>();
    if (columns.begin == 0 && inside_end >= end) return;
#pragma unroll 1
    for (int row = kLine ? 0 : int(threadIdx.x); row < c.rows; row += kLine ? 1 : int(blockDim.x)) {
      const T* from;
      T value;
      const bool of_row = constant(row, from, value);
#pragma unroll 1
      for (int column = kLine ? int(threadIdx.x) : 0; column < end; column += kLine ? int(blockDim.x) : 1) {
        if (column >= columns.begin && column < inside_end) {
          if (!kLine) column = inside_end - 1;
          continue;
        }
        const std::uint32_t at = c.place<T>(row, column);
        const bool inside = column >= columns.begin && column < columns.end;
        const std::int32_t x = inside ? 0 : reached(2, int(c.first[2]) + column);
        if (of_row || (!inside && g.fold[2].constant(x)))
          store_cell(at, of_row ? value : g.value[2][x < 0 ? 0 : 1]);
        else
          copy_cells<1>(at, inside ? from + column : from + (x + g.fold[2].shift(x) - c.first[2]));
      }
    }
  }

 private:
  const BoxCells& c;
  const CellSource<T>& g;
  std::int64_t stride;
  const T* plane;  ///< where its first column lies
  bool constant_plane;
  T plane_value;

  /// Where what is read of an axis ends.
  __device__ __forceinline__ std::int32_t end_of(int axis) const {
    return std::int32_t(g.geometry.domain.extents[axis]) + std::int32_t(g.geometry.domain.reach[axis][1]);
  }
  /// The position on an axis, or the last one that is read.
  __device__ __forceinline__ std::int32_t reached(int axis, std::int32_t i) const {
    return max(-std::int32_t(g.geometry.domain.reach[axis][0]), min(end_of(axis) - 1, i));
  }
  template <int kCount>
  static __device__ __forceinline__ void fill(std::uint32_t at, T value) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) store_cell(at + std::uint32_t(i) * std::uint32_t(sizeof(T)), value);
  }
};

/// Where taps reach farther than the domain is long, or it is longer than numbers of 32 bits.
template <class T>
__device__ __noinline__ void copy_sampled(BoxCells cells, const SweepGeometry& geometry, const T* source) {
  const plugin::Domain& d = geometry.domain;
  for (int cell = int(threadIdx.x); cell < cells.rows * cells.columns; cell += int(blockDim.x)) {
    const int row = cell / cells.columns, column = cell - row * cells.columns;
    std::int64_t at[] = {cells.first[0], cells.first[1] + row, cells.first[2] + column};
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      const bool low = d.mode[axis][0] == TESSERA_BOUNDARY_FIXED, high = d.mode[axis][1] == TESSERA_BOUNDARY_FIXED;
      const std::int64_t last = d.extents[axis] - 1 + (high ? 0 : d.reach[axis][1]);
      at[axis] = max(low ? 0 : -d.reach[axis][0], min(last, at[axis]));
    }
    const plugin::Sample s = d.sample(at[0], at[1], at[2]);
    store_cell(cells.place<T>(row, column),
               s.constant ? rounded<T>(Scalar<T>(s.value))
                          : load_read_only(source + geometry.source_index(s.index[0], s.index[1], s.index[2])));
  }
}

/// Copies cells, all of which are in the domain (`whole`) or not.
template <bool kLine, class T>
__device__ __forceinline__ void copy_box(const BoxCells& cells, const CellSource<T>& g, bool whole, const T* source) {
  constexpr int kWidth = kVectorWidth<T>;
  const auto copy = [&]<int kCount>(std::integral_constant<int, kCount>) {
    if (whole) return copy_whole<kLine, kCount>(cells, g.geometry, source);
    const FoldedCells<T> folded(cells, g, source);
    folded.template copy_inside<kLine, kCount>();
    folded.template copy_ends<kLine, kCount>();
  };
  if (!whole && !g.folds)
    copy_sampled(cells, g.geometry, source);
  else if (g.together == kWidth)
    copy(std::integral_constant<int, kWidth>());
  else if (kNarrow<T> && g.together == kWidth / 2)
    copy(std::integral_constant < int, kNarrow<T> ? kWidth / 2 : 1 > ());
  else
    copy(std::integral_constant<int, 1>());
}

#if __CUDA_ARCH__ >= 900
/// Whether rows of cells come by bulk copies.
template <class T>
__device__ __forceinline__ bool comes_in_bulk(const CellSource<T>& g) {
  return g.together == kVectorWidth<T>;
}
/// Copies cells likewise. When they are there, a phase of the barrier has ended, at which each warp arrives, and so
/// have copies of the thread's own (cp_async_wait).
template <bool kLine, class T>
__device__ __forceinline__ void copy_box_in_bulk(const BoxCells& cells, const CellSource<T>& g, bool whole,
                                                 const T* source, std::uint32_t barrier) {
  if (whole) {
    const unsigned bytes = unsigned(cells.columns) * unsigned(sizeof(T));
    const int first = row_of_bulk_copy(), step = int(blockDim.x);
    const T* from = source + g.geometry.source_index(cells.first[0], cells.first[1] + first, cells.first[2]);
    unsigned expected = 0;
#pragma unroll 1
    for (int row = first; row < cells.rows; row += step, from += step * g.geometry.source_strides[1]) {
      copy_bytes(cells.place<T>(row, 0), from, bytes, barrier);
      expected += bytes;
    }
    expected = __reduce_add_sync(~0U, expected);
    if (threadIdx.x % 32 == 0) barrier_expect(barrier, expected);
  } else if (g.folds) {
    const FoldedCells<T> folded(cells, g, source);
    folded.copy_inside(barrier);
    folded.template copy_ends<kLine, kVectorWidth<T>>();
  } else {
    copy_sampled(cells, g.geometry, source);
    fence_for_bulk_copies();
    if (threadIdx.x % 32 == 0) barrier_arrive(barrier);
  }
}
#endif

/// Which of the points up to kFarthestPart behind one on an axis exist, and are computed.
struct AxisParts {
  int low, high, first, end;

  __device__ __forceinline__ AxisParts(const plugin::Domain& d, int axis, std::int64_t at) {
    constexpr std::int64_t kFar = kFarthestPart;
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
