// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm for any list of taps: a thread computes several points, for which the
/// address of a tap is calculated once.

#include "../launch.cuh"
#include "boundary_point.cuh"
#include "streaming.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

/// Points of a thread: kColumns along a row, kThreadsX apart, in each of kRows rows.
template <int kColumnsOf, int kRowsOf, int kThreadsXOf, int kThreadsYOf, int kUnrollOf>
struct ListTile {
  static constexpr int kColumns = kColumnsOf, kRows = kRowsOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreads = kThreadsX * kThreadsY;
  static constexpr int kPointsX = kColumns * kThreadsX, kPointsY = kRows * kThreadsY;
  static constexpr int kUnroll = kUnrollOf;  ///< taps whose loads are under way together
};

template <class T>
struct StreamingListArguments {
  SweepGeometry geometry;
  std::int64_t first[2];  ///< where the launch begins on axes 0 and 1
  GridTaps<T> taps;
  std::int64_t offset[kStreamingMostTaps];  ///< bytes
  T coefficient[kStreamingMostTaps];
};

/// kRows x kColumns plain points from `source` on.
template <class Tile, int kRows, int kColumns, class T>
__device__ __forceinline__ void plain_points(const StreamingListArguments<T>& g, const T* source, T* target) {
  const std::int64_t from_row = g.geometry.source_strides[1], to_row = g.geometry.target_strides[1];
  T sum[kRows][kColumns] = {};
#pragma unroll Tile::kUnroll
  for (int t = 0; t < g.taps.count; ++t) {
    const T* const at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(source) + g.offset[t]);
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int i = 0; i < kColumns; ++i)
        sum[j][i] = fma(g.coefficient[t], __ldg(at + j * from_row + i * Tile::kThreadsX), sum[j][i]);
  }
#pragma unroll
  for (int j = 0; j < kRows; ++j)
#pragma unroll
    for (int i = 0; i < kColumns; ++i) target[j * to_row + i * Tile::kThreadsX] = sum[j][i];
}

template <class Tile, class T>
__device__ __forceinline__ void any_point(const StreamingListArguments<T>& g, const T* source, T* target,
                                          std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  const SweepGeometry& geometry = g.geometry;
  const std::int64_t* const extents = geometry.domain.extents;
  if (i0 >= extents[0] || i1 >= extents[1] || i2 >= extents[2]) return;
  const auto plain_on = [&](int axis, std::int64_t i) {
    return i >= geometry.plain[axis][0] && i < geometry.plain[axis][1];
  };
  if (!plain_on(0, i0) || !plain_on(1, i1) || !plain_on(2, i2))
    return boundary_point(geometry, g.taps, source, target, i0, i1, i2);
  plain_points<Tile, 1, 1>(g, source + geometry.source_index(i0, i1, i2), target + geometry.target_index(i0, i1, i2));
}

struct GridPoint {
  std::int64_t i0, i1, i2;
};

/// The first of a thread's points.
template <class Tile, class T>
__device__ __forceinline__ GridPoint first_point(const StreamingListArguments<T>& g) {
  return {g.first[0] + blockIdx.z, g.first[1] + std::int64_t(blockIdx.y * Tile::kThreadsY + threadIdx.y) * Tile::kRows,
          std::int64_t(blockIdx.x) * Tile::kPointsX + threadIdx.x};
}

/// The points of a thread that are not all plain. Out of line and computing its place anew: its registers cost those
/// near the boundary alone.
template <class Tile, class T>
__device__ __noinline__ void edge_points(const StreamingListArguments<T>& g, const T* source, T* target) {
  const GridPoint point = first_point<Tile>(g);
#pragma unroll 1
  for (int j = 0; j < Tile::kRows; ++j)
#pragma unroll 1
    for (int i = 0; i < Tile::kColumns; ++i)
      any_point<Tile>(g, source, target, point.i0, point.i1 + j, point.i2 + i * Tile::kThreadsX);
}

template <class Tile, class T>
__global__ void __launch_bounds__(Tile::kThreads)
    stencil_streaming_list_kernel(const __grid_constant__ StreamingListArguments<T> g, const T* __restrict__ source,
                                  T* __restrict__ target) {
  const SweepGeometry& geometry = g.geometry;
  const auto [i0, i1, i2] = first_point<Tile>(g);
  const auto inside = [&](int axis, std::int64_t i, std::int64_t points) {
    return i >= geometry.plain[axis][0] && i + points <= geometry.plain[axis][1];
  };
  constexpr int kSpan = Tile::kPointsX - Tile::kThreadsX + 1;
  if (!__all_sync(~0u, inside(0, i0, 1) && inside(1, i1, Tile::kRows) && inside(2, i2, kSpan)))
    return edge_points<Tile>(g, source, target);
  plain_points<Tile, Tile::kRows, Tile::kColumns>(g, source + geometry.source_index(i0, i1, i2),
                                                  target + geometry.target_index(i0, i1, i2));
}

/// Lines; planes and volumes.
using LineTile = ListTile<8, 1, 256, 1, 4>;
using PlaneTile = ListTile<8, 1, 32, 8, 8>;

template <class T, class Tile>
class StreamingListPlan final : public plugin::Plan {
 public:
  StreamingListPlan(Context& context, const plugin::StencilProblem& problem)
      : context_(context), problem_(problem), grid_taps_(make_grid_taps<T>(context, problem)) {
    const DeviceGuard guard(context.device());
    prepare(stencil_streaming_list_kernel<Tile, T>);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    StreamingListArguments<T> arguments{
        SweepGeometry(problem_), {0, 0}, {grid_taps_.template as<GridTap<T>>(), int(problem_.taps.size())}, {}, {}};
    for (std::size_t t = 0; t < problem_.taps.size(); ++t) arguments.coefficient[t] = T(problem_.taps[t].coefficient);
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments.geometry.set_strides(source_strides, target_strides);
          for (std::size_t t = 0; t < problem_.taps.size(); ++t)
            arguments.offset[t] = linear_offset(problem_.taps[t], source_strides) * std::int64_t(sizeof(T));
          launch_sweep(arguments, source, target);
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  void launch_sweep(StreamingListArguments<T>& arguments, const T* source, T* target) const {
    const auto& extents = problem_.domain.extents;
    const dim3 grid(unsigned((extents[2] + Tile::kPointsX - 1) / Tile::kPointsX),
                    unsigned(std::min((extents[1] + Tile::kPointsY - 1) / Tile::kPointsY, kMaxGridYz)),
                    unsigned(std::min(extents[0], kMaxGridYz)));
    auto& first = arguments.first;
    for (first[0] = 0; first[0] < extents[0]; first[0] += grid.z)
      for (first[1] = 0; first[1] < extents[1]; first[1] += std::int64_t(grid.y) * Tile::kPointsY)
        launch(stencil_streaming_list_kernel<Tile, T>, grid, dim3(Tile::kThreadsX, Tile::kThreadsY), 0,
               context_.stream(), arguments, source, target);
  }

  Context& context_;
  plugin::StencilProblem problem_;
  DeviceTable grid_taps_;
};

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem) {
  if (problem.rank == 1) return std::make_unique<StreamingListPlan<T, LineTile>>(context, problem);
  return std::make_unique<StreamingListPlan<T, PlaneTile>>(context, problem);
}

}  // namespace

std::unique_ptr<plugin::Plan> make_streaming_list(Context& context, const plugin::StencilProblem& problem) {
  return problem.dtype == TESSERA_F64 ? make_typed<double>(context, problem) : make_typed<float>(context, problem);
}

}  // namespace tessera::cuda
