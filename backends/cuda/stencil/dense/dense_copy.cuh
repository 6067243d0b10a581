// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "dense" has the cells and taps of a stage come to shared memory.
#pragma once

#include "../../convert.cuh"
#include "../../cp_async.cuh"
#include "../../vector.cuh"
#include "../geometry.hpp"
#include "../streaming/axis_fold.hpp"
#include "dense.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::cuda {

template <class S>
struct DenseArguments {
  SweepGeometry geometry;
  DenseLayout layout;
  AxisFold fold[plugin::kAxes];
  S value[plugin::kAxes][2];  ///< of constant sides
  bool folds;                 ///< whether AxisFold applies
  int together;               ///< cells that are copied at a time
  const S* taps;              ///< rows of the box, each of whole vectors
};

/// A block's place.
struct DenseBlock {
  std::int64_t at[plugin::kAxes];  ///< its first point; on axis 2 it may lie before the domain
  bool inside;                     ///< all of its points are in the domain
  bool whole;                      ///< all of its cells are
  bool keeps;                      ///< some of its points may keep their values
};

__device__ __forceinline__ DenseBlock dense_block(const DenseLayout& l) {
  const int tile[] = {int(blockIdx.z), int(blockIdx.y), int(blockIdx.x)};
  DenseBlock b{
      {tile[0], tile[1] * std::int64_t(l.height), tile[2] * std::int64_t(l.width) - l.early}, true, true, false};
#pragma unroll
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    b.inside = b.inside && l.inside[axis].has(tile[axis]);
    b.whole = b.whole && l.whole[axis].has(tile[axis]);
    b.keeps = b.keeps || !l.computed[axis].has(tile[axis]);
  }
  return b;
}

template <class S>
__device__ __forceinline__ void store_shared(std::uint32_t to, S value) {
  if constexpr (sizeof(S) == 4)
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
  else
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(value) : "memory");
}

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
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(value[0]), "f"(value[1]), "f"(value[2]),
                 "f"(value[3])
                 : "memory");
  }
}

/// The part of `count` cells from `first` on that an axis of so many points has.
struct CellRange {
  int begin, end;

  __device__ __forceinline__ CellRange(std::int64_t first, int count, std::int64_t extent)
      : begin(int(min(std::int64_t(count), max(std::int64_t(0), -first)))),
        end(int(max(std::int64_t(begin), min(std::int64_t(count), extent - first)))) {}
};

/// The cells of a stage, from `first` on.
struct DenseCells {
  std::int64_t first[plugin::kAxes];
  int rows, pitch;
  std::uint32_t to;  ///< in shared memory

  template <class S>
  __device__ __forceinline__ std::uint32_t place(int row, int column) const {
    return to + std::uint32_t(row * pitch + column) * std::uint32_t(sizeof(S));
  }
};

/// Copies them, kCount at a time, where all lie in the domain.
template <class Points, int kCount, class T>
__device__ __forceinline__ void copy_whole(const DenseCells& cells, const SweepGeometry& geometry, const T* source) {
  using S = Scalar<T>;
  if constexpr (Points::kRows == 1) {
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
template <class Points, int kCount, class T>
__device__ __forceinline__ void copy_folded(const DenseCells& cells, const DenseArguments<Scalar<T>>& g,
                                            const T* source) {
  using S = Scalar<T>;
  constexpr bool kLine = Points::kRows == 1;
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
__device__ __noinline__ void copy_sampled(const DenseCells& cells, const SweepGeometry& geometry, const T* source) {
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

/// A stage of a block: `plane` and `row` are the first of the box that it has.
struct DenseStage {
  int plane, row;
};

template <class Points, class T>
__device__ __forceinline__ void copy_stage(const DenseArguments<Scalar<T>>& g, const DenseBlock& b, DenseStage stage,
                                           const T* source, std::uint32_t to) {
  using S = Scalar<T>;
  constexpr int kWidth = Points::kWidth;
  const DenseLayout& l = g.layout;
  const int box_rows = min(l.stage_rows, l.taps[1] - stage.row);
  const DenseCells cells{{b.at[0] + l.first[0] + stage.plane, b.at[1] + l.first[1] + stage.row, b.at[2] + l.first[2]},
                         l.height + box_rows - 1,
                         l.pitch,
                         to};
  const auto copy = [&]<int kCount>(std::integral_constant<int, kCount>) {
    if (b.whole)
      copy_whole<Points, kCount>(cells, g.geometry, source);
    else
      copy_folded<Points, kCount>(cells, g, source);
  };
  if (!b.whole && !g.folds)
    copy_sampled(cells, g.geometry, source);
  else if (g.together == kWidth)
    copy(std::integral_constant<int, kWidth>());
  else if (sizeof(T) == 4 && g.together == 2)
    copy(std::integral_constant < int, sizeof(T) == 4 ? 2 : 1 > ());
  else
    copy(std::integral_constant<int, 1>());
  const S* const taps = g.taps + (stage.plane * l.taps[1] + stage.row) * l.groups * Points::kWidth;
  for (int i = int(threadIdx.x); i < box_rows * l.groups; i += int(blockDim.x))
    cp_async<16>(to + std::uint32_t(l.cell_bytes + i * 16), taps + i * kWidth, true);
  cp_async_commit();
}

}  // namespace tessera::cuda
