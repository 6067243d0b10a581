// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep through a tile in shared memory, common to the shared_constant and shared_ldg algorithms.
///
/// A block loads its tile with the halo. Where the tile touches the boundary, the modes are resolved cell by cell.
/// After one barrier every thread sums the taps of kTilePointsPerThread points from shared memory, where a tap is one
/// offset for all of them. The algorithms differ in how the field is read (Load) and in where the taps lie (Taps: `S
/// coefficient(int)`, `int offset(int)`). Cells hold values (S, Scalar<T> of the elements T): those of 16 bits are
/// converted once, as they are loaded, and not by each tap.
#pragma once

#include "../../context.hpp"
#include "../../convert.cuh"
#include "../../launch.cuh"
#include "../geometry.hpp"
#include "tile.hpp"

#include <tessera/plugin/plugin.hpp>

#include <bit>

namespace tessera::cuda {

struct TileArguments {
  SweepGeometry geometry;
  unsigned tiles[2];         ///< along axes 1 and 2
  int shift[plugin::kAxes];  ///< log2 of the tile's extents
  int cells[plugin::kAxes];
  unsigned by_row, by_plane;  ///< 2^32 / cells[2] and 2^32 / cells[1], rounded up, for divide()
  int centre;                 ///< distance from a point's first cell to its own
  int taps;
};

/// value / divisor with `reciprocal` = ceil(2^32 / divisor): exact for value and divisor below 2^16 (the
/// error, value * divisor / 2^32, stays below one part), hence kMaxTileCells. A divisor of 1 has reciprocal 0.
__device__ __forceinline__ unsigned divide(unsigned value, unsigned reciprocal) {
  return reciprocal == 0 ? value : __umulhi(value, reciprocal);
}

inline unsigned reciprocal(int divisor) {
  return divisor == 1 ? 0u : unsigned(((std::uint64_t(1) << 32) + std::uint64_t(divisor) - 1) / std::uint64_t(divisor));
}

/// A cell near or beyond the boundary. Cells that only points outside the domain or frozen points would read are zero,
/// since nothing exists there.
template <class Load, class T>
__device__ Scalar<T> boundary_cell(const SweepGeometry& g, const T* source, const std::int64_t (&at)[plugin::kAxes]) {
#pragma unroll
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    const std::int64_t i = at[axis], n = g.domain.extents[axis];
    if (i < 0 && g.domain.mode[axis][0] == TESSERA_BOUNDARY_FIXED) return 0;
    if (i >= n && (g.domain.mode[axis][1] == TESSERA_BOUNDARY_FIXED || i >= n + g.domain.reach[axis][1])) return 0;
  }
  const plugin::Sample s = g.domain.sample(at[0], at[1], at[2]);
  if (s.constant) return Scalar<T>(s.value);
  return exact_value(Load::load(source + g.source_index(s.index[0], s.index[1], s.index[2])));
}

/// Loads the tile whose first point is `origin`. kLine: the domain has one axis.
template <bool kLine, class Load, class T>
__device__ __forceinline__ void load_tile(const TileArguments& g, const std::int64_t (&origin)[plugin::kAxes],
                                          bool plain, const T* source, Scalar<T>* tile) {
  const SweepGeometry& geometry = g.geometry;
  const unsigned threads = blockDim.x, cells = unsigned(g.cells[0] * g.cells[1] * g.cells[2]);
  std::int64_t corner[plugin::kAxes];
#pragma unroll
  for (int axis = 0; axis < plugin::kAxes; ++axis) corner[axis] = origin[axis] - geometry.domain.reach[axis][0];

  const auto coordinates = [&](unsigned cell, unsigned& c0, unsigned& c1, unsigned& c2) {
    const unsigned row = kLine ? 0 : divide(cell, g.by_row);
    c2 = kLine ? cell : cell - row * unsigned(g.cells[2]);
    c0 = kLine ? 0 : divide(row, g.by_plane);
    c1 = kLine ? 0 : row - c0 * unsigned(g.cells[1]);
  };

  if (!plain) {
#pragma unroll 1
    for (unsigned cell = threadIdx.x; cell < cells; cell += threads) {
      unsigned c0, c1, c2;
      coordinates(cell, c0, c1, c2);
      const std::int64_t at[plugin::kAxes] = {corner[0] + c0, corner[1] + c1, corner[2] + c2};
      tile[cell] = boundary_cell<Load>(geometry, source, at);
    }
    return;
  }

  // Several loads in flight before the first is stored; a thread without a cell left repeats the last one.
  constexpr int kBatch = 4;
  const T* const first = source + geometry.source_index(corner[0], corner[1], corner[2]);
  for (unsigned base = threadIdx.x; base < cells; base += kBatch * threads) {
    T value[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      unsigned c0, c1, c2;
      coordinates(min(base + i * threads, cells - 1), c0, c1, c2);
      value[i] = Load::load(first + (kLine ? c2 * geometry.source_strides[2] : geometry.source_index(c0, c1, c2)));
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (const unsigned cell = base + i * threads; cell < cells) tile[cell] = widened(value[i]);
  }
}

/// A thread's points, counted from the tile's first, and the first cell that each of them could reach.
struct TilePoints {
  int at[kTilePointsPerThread][plugin::kAxes], cell[kTilePointsPerThread];
};

template <bool kLine>
__device__ __forceinline__ TilePoints thread_points(const TileArguments& g) {
  TilePoints points;
#pragma unroll
  for (int j = 0; j < kTilePointsPerThread; ++j) {
    const int p = int(threadIdx.x + j * blockDim.x);
    auto& at = points.at[j];
    at[2] = kLine ? p : p & ((1 << g.shift[2]) - 1);
    at[1] = kLine ? 0 : (p >> g.shift[2]) & ((1 << g.shift[1]) - 1);
    at[0] = kLine ? 0 : p >> (g.shift[2] + g.shift[1]);
    points.cell[j] = kLine ? p : (at[0] * g.cells[1] + at[1]) * g.cells[2] + at[2];
  }
  return points;
}

/// The body of the kernels; `tile` is the block's dynamic shared memory.
template <bool kLine, class Load, class T, class Taps>
__device__ __forceinline__ void tile_sweep(const TileArguments& g, const Taps& taps, const T* source, T* target,
                                           Scalar<T>* tile) {
  const SweepGeometry& geometry = g.geometry;
  const unsigned row_of_tiles = kLine ? 0 : blockIdx.x / g.tiles[1];
  const unsigned plane_of_tiles = kLine ? 0 : row_of_tiles / g.tiles[0];
  const std::int64_t origin[plugin::kAxes] = {std::int64_t(plane_of_tiles) << g.shift[0],
                                              std::int64_t(row_of_tiles - plane_of_tiles * g.tiles[0]) << g.shift[1],
                                              std::int64_t(blockIdx.x - row_of_tiles * g.tiles[1]) << g.shift[2]};
  bool plain = true;
#pragma unroll
  for (int axis = kLine ? 2 : 0; axis < plugin::kAxes; ++axis)
    plain = plain && origin[axis] >= geometry.plain[axis][0] &&
            origin[axis] + (std::int64_t(1) << g.shift[axis]) <= geometry.plain[axis][1];

  load_tile<kLine, Load>(g, origin, plain, source, tile);
  __syncthreads();

  const TilePoints points = thread_points<kLine>(g);
  using S = Scalar<T>;
  S sum[kTilePointsPerThread] = {};
#pragma unroll 4
  for (int t = 0; t < g.taps; ++t) {
    const S coefficient = taps.coefficient(t);
    const S* const shifted = tile + taps.offset(t);
#pragma unroll
    for (int j = 0; j < kTilePointsPerThread; ++j) sum[j] = fma(coefficient, shifted[points.cell[j]], sum[j]);
  }

#pragma unroll
  for (int j = 0; j < kTilePointsPerThread; ++j) {
    const std::int64_t i0 = origin[0] + points.at[j][0], i1 = origin[1] + points.at[j][1],
                       i2 = origin[2] + points.at[j][2];
    bool keeps = false;
    if (!plain) {
      if (i0 >= geometry.domain.extents[0] || i1 >= geometry.domain.extents[1] || i2 >= geometry.domain.extents[2])
        continue;
      keeps = geometry.domain.frozen(i0, i1, i2);
      if (keeps) sum[j] = tile[points.cell[j] + g.centre];
    }
    target[kLine ? i2 * geometry.target_strides[2] : geometry.target_index(i0, i1, i2)] =
        keeps ? element_of<T>(sum[j]) : rounded<T>(sum[j]);
  }
}

/// `Held` owns the taps' memory; `taps` tells the kernel where they are.
template <class T, class Taps, class Held>
class TilePlan final : public plugin::Plan {
 public:
  using Kernel = void (*)(TileArguments, Taps, const T*, T*);

  TilePlan(Context& context, const plugin::StencilProblem& problem, const Tile& tile, Kernel kernel, Taps taps,
           Held held)
      : context_(context),
        problem_(problem),
        tile_(tile),
        kernel_(kernel),
        taps_(taps),
        held_(std::move(held)),
        arguments_{SweepGeometry(problem), {}, {}, {}, 0, 0, 0, int(problem.taps.size())} {
    const DeviceGuard guard(context.device());
    prepare(kernel, context.machine().shared_per_block);
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      arguments_.shift[axis] = std::countr_zero(unsigned(tile.extent[axis]));
      arguments_.cells[axis] = tile.cells[axis];
    }
    for (int axis = 1; axis < plugin::kAxes; ++axis)
      arguments_.tiles[axis - 1] = unsigned(plugin::ceil_div(problem.domain.extents[axis], tile.extent[axis]));
    arguments_.by_row = reciprocal(tile.cells[2]);
    arguments_.by_plane = reciprocal(tile.cells[1]);
    const auto& reach = problem.domain.reach;
    arguments_.centre = int((reach[0][0] * tile.cells[1] + reach[1][0]) * tile.cells[2] + reach[2][0]);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    TileArguments arguments = arguments_;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments.geometry.set_strides(source_strides, target_strides);
          launch(kernel_, dim3(unsigned(tile_.count(problem_))), dim3(unsigned(tile_.threads())),
                 std::size_t(tile_.bytes), context_.stream(), arguments, taps_, source, target);
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  Context& context_;
  plugin::StencilProblem problem_;
  Tile tile_;
  Kernel kernel_;
  Taps taps_;
  Held held_;
  TileArguments arguments_;
};

}  // namespace tessera::cuda
