// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of "register_tile": a thread computes a column of a few points from global memory, and the caches serve
/// what neighbours read again. Taps are known to the compiler, places are 32-bit numbers, and sides that keep their
/// values are in the same launch: in a small domain a sweep takes hardly longer than its launch.
#pragma once

#include "../../early_start.cuh"
#include "../../launch.cuh"
#include "../geometry.hpp"
#include "../streaming/unrolled.cuh"
#include "register_tile.hpp"
#include "register_tile_plan.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace tessera::cuda {
namespace {

template <class T, class Shape>
struct RegisterTileArguments {
  int extents[plugin::kAxes];
  int plain[plugin::kAxes][2];  ///< the box of points no tap of which leaves the domain
  int row[2], plane[2];         ///< distances in the source and in the target
  bool early, followed;         ///< the launch before it is of the same plan, and the one behind it
  T coefficient[Shape::kCount];
};

/// Adds what row (kZ, kY) gives to each point of a column.
template <class Shape, int kRows, int kZ, int kY, class T>
__device__ __forceinline__ void add_row(const RegisterTileArguments<T, Shape>& g, const T* row, T (&sum)[kRows]) {
  unrolled<-Shape::reach(2), Shape::reach(2) + 1>([&](auto x) {
    constexpr int kX = decltype(x)::value;
    if constexpr (reads_point<Shape, kRows>(kZ, kY, kX)) {
      const T value = row[kX];
      unrolled<0, kRows>([&](auto r) {
        constexpr int kRow = decltype(r)::value, kPlace = Shape::place(kZ, kY - kRow, kX);
        if constexpr (kPlace >= 0) sum[kRow] = fma(g.coefficient[kPlace], value, sum[kRow]);
      });
    }
  });
}

/// Plain points, from `at` on along axis 1.
template <class Shape, int kRows, class T>
__device__ __forceinline__ void plain_column(const RegisterTileArguments<T, Shape>& g, const T* at, T* to) {
  T sum[kRows] = {};
  unrolled<-Shape::reach(0), Shape::reach(0) + 1>([&](auto z) {
    unrolled<-Shape::reach(1), kRows + Shape::reach(1)>([&](auto y) {
      constexpr int kZ = decltype(z)::value, kY = decltype(y)::value;
      add_row<Shape, kRows, kZ, kY>(g, at + (kZ * g.plane[0] + kY * g.row[0]), sum);
    });
  });
#pragma unroll
  for (int r = 0; r < kRows; ++r) to[r * g.row[1]] = sum[r];
}

/// Points of a line that lie a block apart: where all are plain, none waits for the loads of another.
template <class Shape, int kRows, class T>
__device__ __forceinline__ void line_points(const RegisterTileArguments<T, Shape>& g, const T* source, T* target) {
  constexpr int kApart = kRegisterTileThreads;
  const int first = int(blockIdx.x) * kRows * kApart + int(threadIdx.x);
  if (first >= g.plain[2][0] && first + (kRows - 1) * kApart < g.plain[2][1]) {
    T sum[kRows] = {};
    unrolled<-Shape::kRadius, Shape::kRadius + 1>([&](auto x) {
      constexpr int kX = decltype(x)::value, kPlace = Shape::place(0, 0, kX);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] = fma(g.coefficient[kPlace], source[first + r * kApart + kX], sum[r]);
    });
#pragma unroll
    for (int r = 0; r < kRows; ++r) target[first + r * kApart] = sum[r];
    return;
  }
#pragma unroll 1
  for (int x = first; x < min(first + kRows * kApart, g.extents[2]); x += kApart)
    if (x >= g.plain[2][0] && x < g.plain[2][1])
      plain_column<Shape, 1>(g, source + x, target + x);
    else
      target[x] = source[x];
}

template <class Shape, int kRows, class T>
__device__ __forceinline__ void column(const RegisterTileArguments<T, Shape>& g, const T* source, T* target) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), z = int(blockIdx.z);
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  if (x >= g.extents[2] || y >= g.extents[1]) return;
  const T* const at = source + (z * g.plane[0] + y * g.row[0] + x);
  T* const to = target + (z * g.plane[1] + y * g.row[1] + x);
  const bool plain = x >= g.plain[2][0] && x < g.plain[2][1] && z >= g.plain[0][0] && z < g.plain[0][1];
  if (plain && y >= g.plain[1][0] && y + kRows <= g.plain[1][1]) return plain_column<Shape, kRows>(g, at, to);
#pragma unroll 1
  for (int r = 0; r < kRows && y + r < g.extents[1]; ++r)
    if (plain && y + r >= g.plain[1][0] && y + r < g.plain[1][1])
      plain_column<Shape, 1>(g, at + r * g.row[0], to + r * g.row[1]);
    else
      to[r * g.row[1]] = at[r * g.row[0]];
}

/// The instructions of an early start take each block's time, so a single sweep has none.
template <class Shape, int kRows, class T>
__global__ void __launch_bounds__(kRegisterTileThreads)
    stencil_register_tile_kernel(const __grid_constant__ RegisterTileArguments<T, Shape> g,
                                 const T* __restrict__ source, T* __restrict__ target) {
  if (g.early) wait_for_predecessor();
  if (g.followed) start_successor();
  if constexpr (Shape::kRank == 1)
    line_points<Shape, kRows>(g, source, target);
  else
    column<Shape, kRows>(g, source, target);
}

template <class T, class Shape, int kRows>
class RegisterTilePlan final : public plugin::Plan {
 public:
  RegisterTilePlan(Context& context, const plugin::StencilProblem& problem,
                   const std::array<T, Shape::kCount>& coefficients)
      : context_(context), problem_(problem), grid_(register_tile_grid(problem, kRows)) {
    const DeviceGuard guard(context.device());
    prepare(kKernel);
    starts_early_ = can_start_early(kKernel);
    std::ranges::copy(coefficients, arguments_.coefficient);
    const SweepGeometry geometry(problem);
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      arguments_.extents[axis] = int(problem.domain.extents[axis]);
      for (int side = 0; side < 2; ++side) arguments_.plain[axis][side] = int(geometry.plain[axis][side]);
    }
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    const dim3 blocks(grid_.blocks[2], grid_.blocks[1], grid_.blocks[0]), threads(grid_.threads[2], grid_.threads[1]);
    RegisterTileArguments<T, Shape> g = arguments_;
    std::int64_t left = problem_.steps;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          g.row[0] = int(source_strides[1]), g.row[1] = int(target_strides[1]);
          g.plane[0] = int(source_strides[0]), g.plane[1] = int(target_strides[0]);
          g.early = starts_early_ && left < problem_.steps, g.followed = starts_early_ && --left > 0;
          launch(kKernel, blocks, threads, 0, context_.stream(), EarlyStart{g.early}, g, source, target);
        });
  }

 private:
  static constexpr auto kKernel = &stencil_register_tile_kernel<Shape, kRows, T>;

  Context& context_;
  plugin::StencilProblem problem_;
  RegisterTileGrid grid_;
  RegisterTileArguments<T, Shape> arguments_{};
  bool starts_early_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<plugin::Plan> make_register_tile(Context& context, const plugin::StencilProblem& problem, int rows) {
  std::unique_ptr<plugin::Plan> plan;
  with_shape<T>(RegisterTileShapes{}, problem, [&]<class Shape>(Shape, const auto& coefficients) {
    const auto make = [&]<int kRows>(std::integral_constant<int, kRows>) {
      plan = std::make_unique<RegisterTilePlan<T, Shape, kRows>>(context, problem, coefficients);
    };
    if (rows == 1) make(std::integral_constant<int, 1>());
    if (rows == 2) make(std::integral_constant<int, 2>());
    if (rows == 4) make(std::integral_constant<int, 4>());
  });
  return plan;
}

}  // namespace tessera::cuda
