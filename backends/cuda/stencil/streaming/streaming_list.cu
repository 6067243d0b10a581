// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm for any list of taps: a thread computes several points, for which the address
/// of a tap is calculated once. They lie in one row; near the ends of the rows they lie in one column, so that all
/// threads take about as long.

#include "../../early_start.cuh"
#include "../../launch.cuh"
#include "../boundary_point.cuh"
#include "axis_fold.hpp"
#include "streaming.hpp"
#include "streaming_list.hpp"

#include <algorithm>
#include <type_traits>

namespace tessera::cuda {
namespace {

template <class T>
struct StreamingListArguments {
  SweepGeometry geometry;
  std::int64_t first[2];    ///< where the launch begins on axes 0 and 1
  std::int64_t wide_begin;  ///< on axis 2: blocks whose threads have points of one row,
  unsigned wide_blocks;     ///< their number; the threads of others have points of one column
  bool folds;               ///< whether AxisFold applies
  AxisFold fold[plugin::kAxes];
  Scalar<T> value[plugin::kAxes][2];  ///< of constant sides
  GridTaps<Scalar<T>> taps;
  std::int32_t tap[kStreamingMostTaps][plugin::kAxes];  ///< with `folds`
  std::int64_t offset[kStreamingMostTaps];              ///< bytes
  Scalar<T> coefficient[kStreamingMostTaps];
};

/// Values of kRows x kColumns points.
template <int kRows, int kColumns, class T>
using ListPoints = Scalar<T>[kRows][kColumns];

/// Such points from `source` on, all of them plain.
template <class Tile, int kRows, int kColumns, class T>
__device__ __forceinline__ void plain_points(const StreamingListArguments<T>& g, const T* source, T* target) {
  const std::int64_t from_row = g.geometry.source_strides[1], to_row = g.geometry.target_strides[1];
  ListPoints<kRows, kColumns, T> sum = {};
#pragma unroll Tile::kUnroll
  for (int t = 0; t < g.taps.count; ++t) {
    const T* const at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(source) + g.offset[t]);
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int i = 0; i < kColumns; ++i)
        sum[j][i] = fma(g.coefficient[t], value_at(at + j * from_row + i * Tile::kThreadsX), sum[j][i]);
  }
#pragma unroll
  for (int j = 0; j < kRows; ++j)
#pragma unroll
    for (int i = 0; i < kColumns; ++i) target[j * to_row + i * Tile::kThreadsX] = rounded<T>(sum[j][i]);
}

/// The sums of such points from (i0, i1, i2) on, which may be near the boundary: on axes 0 and 1 (kLines), on axis 2
/// (kEnds). A tap's plain place is `offset` from the points' own at `source`. Rows behind the last one repeat it.
template <class Tile, int kRows, int kColumns, bool kLines, bool kEnds, class T>
__device__ __forceinline__ void edge_sums(const StreamingListArguments<T>& g, const T* source, std::int32_t i0,
                                          std::int32_t i1, std::int32_t i2, ListPoints<kRows, kColumns, T>& sum) {
  const auto value = [&](int axis, std::int32_t i) { return i < 0 ? g.value[axis][0] : g.value[axis][1]; };
  const std::int32_t last = std::int32_t(g.geometry.domain.extents[1]) - 1;
  constexpr int kUnroll = kLines && kRows > 1 ? Tile::kCornerUnroll : Tile::kUnroll / 2;
#pragma unroll kUnroll
  for (int t = 0; t < g.taps.count; ++t) {
    const std::int32_t z = i0 + g.tap[t][0], x = i2 + g.tap[t][2];
    const T* at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(source) + g.offset[t]);
    if (kLines) at += g.fold[0].shift(z) * g.geometry.source_strides[0];
    if (kEnds) at += g.fold[2].shift(x);
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      const std::int32_t row = kLines ? min(i1 + j, last) : i1 + j, y = row + g.tap[t][1];
      const T* const in_row = at + (row - i1 + (kLines ? g.fold[1].shift(y) : 0)) * g.geometry.source_strides[1];
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        Scalar<T> read = value_at(in_row + i * Tile::kThreadsX);
        if (kEnds && g.fold[2].constant(x)) read = value(2, x);
        if (kLines && g.fold[1].constant(y)) read = value(1, y);
        if (kLines && g.fold[0].constant(z)) read = value(0, z);
        sum[j][i] = fma(g.coefficient[t], read, sum[j][i]);
      }
    }
  }
}

/// Writes such points, as far as their rows exist. Domains that are smaller than what taps reach use boundary_point().
template <class Tile, int kRows, int kColumns, bool kLines, bool kEnds, class T>
__device__ __forceinline__ void edge_points(const StreamingListArguments<T>& g, const T* source, T* target,
                                            std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  const SweepGeometry& geometry = g.geometry;
  const int rows = kLines ? int(min(std::int64_t(kRows), geometry.domain.extents[1] - i1)) : kRows;
  if (!g.folds) {
#pragma unroll 1
    for (int j = 0; j < rows; ++j)
#pragma unroll 1
      for (int i = 0; i < kColumns; ++i)
        boundary_point(geometry, g.taps, source, target, i0, i1 + j, i2 + i * Tile::kThreadsX);
    return;
  }
  const T* const from = source + geometry.source_index(i0, i1, i2);
  T* const to = target + geometry.target_index(i0, i1, i2);
  const bool frozen = (kLines && geometry.domain.frozen_on(0, i0)) || (kEnds && geometry.domain.frozen_on(2, i2));
  ListPoints<kRows, kColumns, T> sum = {};
  if (!frozen)
    edge_sums<Tile, kRows, kColumns, kLines, kEnds>(g, from, std::int32_t(i0), std::int32_t(i1), std::int32_t(i2), sum);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    if (j >= rows) return;
    const bool keeps = frozen || (kLines && geometry.domain.frozen_on(1, i1 + j));
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int point = i * Tile::kThreadsX;
      to[j * geometry.target_strides[1] + point] =
          keeps ? load_read_only(from + j * geometry.source_strides[1] + point) : rounded<T>(sum[j][i]);
    }
  }
}

/// plain_plane: whether points are plain on axis 0.
template <class Tile, class T>
__device__ __forceinline__ void wide_points(const StreamingListArguments<T>& g, bool plain_plane, const T* source,
                                            T* target, std::int64_t i0) {
  const SweepGeometry& geometry = g.geometry;
  const std::int64_t i1 = g.first[1] + blockIdx.y * Tile::kThreadsY + threadIdx.y;
  const std::int64_t i2 = g.wide_begin + std::int64_t(blockIdx.x) * Tile::kPointsX + threadIdx.x;
  if (i1 >= geometry.domain.extents[1]) return;
  if (!plain_plane || i1 < geometry.plain[1][0] || i1 >= geometry.plain[1][1])
    return edge_points<Tile, 1, Tile::kColumns, true, false>(g, source, target, i0, i1, i2);
  plain_points<Tile, 1, Tile::kColumns>(g, source + geometry.source_index(i0, i1, i2),
                                        target + geometry.target_index(i0, i1, i2));
}

/// Points of blocks that are as wide as a warp and kRows times as high as others: kRows of them along a row of the grid
/// lie above each other in the domain.
template <class Tile, class T>
__device__ __forceinline__ void narrow_points(const StreamingListArguments<T>& g, bool plain_plane, const T* source,
                                              T* target, std::int64_t i0) {
  const SweepGeometry& geometry = g.geometry;
  const auto& plain = geometry.plain;
  const unsigned column = (blockIdx.x - g.wide_blocks) * Tile::kRows + blockIdx.y % Tile::kRows;
  std::int64_t begin = std::int64_t(column) * Tile::kThreadsX;
  if (begin >= g.wide_begin) begin += std::int64_t(g.wide_blocks) * Tile::kPointsX;
  const std::int64_t i2 = begin + threadIdx.x;
  const std::int64_t i1 =
      g.first[1] + (std::int64_t(blockIdx.y / Tile::kRows) * Tile::kThreadsY + threadIdx.y) * Tile::kRows;
  if (i1 >= geometry.domain.extents[1] || i2 >= geometry.domain.extents[2]) return;
  if (!plain_plane || i1 < plain[1][0] || i1 + Tile::kRows > plain[1][1])
    return edge_points<Tile, Tile::kRows, 1, true, true>(g, source, target, i0, i1, i2);
  if (begin < plain[2][0] || begin + Tile::kThreadsX > plain[2][1])
    return edge_points<Tile, Tile::kRows, 1, false, true>(g, source, target, i0, i1, i2);
  plain_points<Tile, Tile::kRows, 1>(g, source + geometry.source_index(i0, i1, i2),
                                     target + geometry.target_index(i0, i1, i2));
}

template <class Tile, class T>
__global__ void __launch_bounds__(Tile::kThreads)
    stencil_streaming_list_kernel(const __grid_constant__ StreamingListArguments<T> g, const T* __restrict__ source,
                                  T* __restrict__ target) {
  wait_for_predecessor();
  start_successor();
  const std::int64_t i0 = g.first[0] + blockIdx.z;
  const bool plain_plane = i0 >= g.geometry.plain[0][0] && i0 < g.geometry.plain[0][1];
  if (blockIdx.x < g.wide_blocks)
    wide_points<Tile>(g, plain_plane, source, target, i0);
  else
    narrow_points<Tile>(g, plain_plane, source, target, i0);
}

template <class T, class Tile>
class StreamingListPlan final : public plugin::Plan {
 public:
  StreamingListPlan(Context& context, const plugin::StencilProblem& problem)
      : context_(context),
        problem_(problem),
        grid_taps_(make_grid_taps<Scalar<T>>(context, problem)),
        arguments_(arguments()) {
    const DeviceGuard guard(context.device());
    prepare(stencil_streaming_list_kernel<Tile, T>);
    early_ = can_start_early(stencil_streaming_list_kernel<Tile, T>);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    StreamingListArguments<T> arguments = arguments_;
    EarlyStart start{false};
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments.geometry.set_strides(source_strides, target_strides);
          for (std::size_t t = 0; t < problem_.taps.size(); ++t)
            arguments.offset[t] = linear_offset(problem_.taps[t], source_strides) * std::int64_t(sizeof(T));
          launch_sweep(arguments, start, source, target);
          start.early = early_;
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  /// All but strides and offsets.
  StreamingListArguments<T> arguments() const {
    StreamingListArguments<T> g{};
    g.geometry = SweepGeometry(problem_);
    g.taps = {grid_taps_.template as<GridTap<Scalar<T>>>(), int(problem_.taps.size())};
    g.folds = true;
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      g.fold[axis] = AxisFold(problem_.domain, axis);
      g.folds = g.folds && AxisFold::applies(problem_.domain, axis);
      for (int side = 0; side < 2; ++side) g.value[axis][side] = Scalar<T>(problem_.domain.value[axis][side]);
    }
    for (std::size_t t = 0; t < problem_.taps.size(); ++t) {
      g.coefficient[t] = Scalar<T>(problem_.taps[t].coefficient);
      for (std::size_t axis = 0; g.folds && axis < plugin::kAxes; ++axis)
        g.tap[t][axis] = std::int32_t(problem_.taps[t].offset[axis]);
    }
    // From a multiple of a warp's width on, so that its accesses meet whole cache lines.
    const auto& plain = g.geometry.plain[2];
    g.wide_begin = plugin::round_up(plain[0], Tile::kThreadsX);
    g.wide_blocks = unsigned(std::max<std::int64_t>(plain[1] - g.wide_begin, 0) / Tile::kPointsX);
    return g;
  }

  void launch_sweep(StreamingListArguments<T>& arguments, EarlyStart start, const T* source, T* target) const {
    const auto& extents = problem_.domain.extents;
    const std::int64_t narrow = extents[2] - std::int64_t(arguments.wide_blocks) * Tile::kPointsX;
    const std::int64_t high = Tile::kThreadsY * Tile::kRows;  // rows of a narrow block
    const dim3 grid(arguments.wide_blocks + unsigned(plugin::ceil_div(narrow, Tile::kThreadsX * Tile::kRows)),
                    unsigned(std::min(plugin::ceil_div(extents[1], high), kMaxGridYz / Tile::kRows)) * Tile::kRows,
                    unsigned(std::min(extents[0], kMaxGridYz)));
    auto& first = arguments.first;
    for (first[0] = 0; first[0] < extents[0]; first[0] += grid.z)
      for (first[1] = 0; first[1] < extents[1]; first[1] += std::int64_t(grid.y) * Tile::kThreadsY)
        launch(stencil_streaming_list_kernel<Tile, T>, grid, dim3(Tile::kThreadsX, Tile::kThreadsY), 0,
               context_.stream(), start, arguments, source, target);
  }

  Context& context_;
  plugin::StencilProblem problem_;
  DeviceTable grid_taps_;
  StreamingListArguments<T> arguments_;
  bool early_;  ///< launches may begin before others have ended
};

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem) {
  if (problem.rank == 1) return std::make_unique<StreamingListPlan<T, LineTile>>(context, problem);
  if constexpr (sizeof(T) == 4) {
    const bool large = problem.taps.size() > 25 && problem.points() >= (std::int64_t(1) << 24);
    if (problem.rank == 2 && large) return std::make_unique<StreamingListPlan<T, LargePlaneTile>>(context, problem);
  }
  if (problem.rank == 2) return std::make_unique<StreamingListPlan<T, PlaneTile>>(context, problem);
  return std::make_unique<StreamingListPlan<T, VolumeTile>>(context, problem);
}

}  // namespace

std::unique_ptr<plugin::Plan> make_streaming_list(Context& context, const plugin::StencilProblem& problem) {
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) { return make_typed<T>(context, problem); });
}

}  // namespace tessera::cuda
