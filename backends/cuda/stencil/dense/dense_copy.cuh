// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "dense" has the cells and taps of a stage come to shared memory.
#pragma once

#include "../box_plan.cuh"
#include "dense.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

/// The taps are rows of the box, each of whole vectors.
template <class T>
using DenseArguments = BoxArguments<T, DenseLayout>;

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
      {tile[0] * std::int64_t(l.depth), tile[1] * std::int64_t(l.height), tile[2] * std::int64_t(l.width) - l.early},
      true,
      true,
      false};
#pragma unroll
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    b.inside = b.inside && l.inside[axis].has(tile[axis]);
    b.whole = b.whole && l.whole[axis].has(tile[axis]);
    b.keeps = b.keeps || !l.computed[axis].has(tile[axis]);
  }
  return b;
}

/// Starts to copy vectors of taps.
template <class S>
__device__ __forceinline__ void copy_taps(std::uint32_t to, const S* from, int vectors) {
  for (int i = int(threadIdx.x); i < vectors; i += int(blockDim.x))
    cp_async<16>(to + std::uint32_t(i * 16), from + i * int(16 / sizeof(S)), true);
}

/// A stage of a block: its plane of cells, and the first row of the box that it has.
struct DenseStage {
  int plane, row;
};

#if __CUDA_ARCH__ >= 900
template <class Points, class T>
__device__ __forceinline__ bool dense_in_bulk(const DenseArguments<T>& g) {
  return Points::kBulk && comes_in_bulk<T>(g);
}
#endif

template <class Points, class T>
__device__ __forceinline__ void copy_stage(const DenseArguments<T>& g, const DenseBlock& b, DenseStage stage,
                                           const T* source, std::uint32_t to, [[maybe_unused]] std::uint32_t barrier) {
  const DenseLayout& l = g.layout;
  const int box_rows = min(l.stage_rows, l.taps[1] - stage.row);
  const BoxCells cells{{b.at[0] + l.first[0] + stage.plane, b.at[1] + l.first[1] + stage.row, b.at[2] + l.first[2]},
                       l.height + box_rows - 1,
                       l.columns,
                       l.pitch,
                       to};
  constexpr bool kLine = Points::kRows == 1;
  if (Points::kAxis == 1)
    copy_taps(to + std::uint32_t(l.cell_bytes),
              g.taps + (stage.plane * l.taps[1] + stage.row) * l.vectors * Points::kWidth, box_rows * l.vectors);
#if __CUDA_ARCH__ >= 900
  if (dense_in_bulk<Points, T>(g))
    copy_box_in_bulk<kLine>(cells, g, b.whole, source, barrier);
  else
#endif
    copy_box<kLine>(cells, g, b.whole, source);
  cp_async_commit();
}

}  // namespace tessera::cuda
