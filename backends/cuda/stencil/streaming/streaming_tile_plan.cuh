// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels and plans of the streaming algorithm for taps that it knows as shapes. They take long to compile, so a
/// type of element and a kind of domain have a file each.
#pragma once

#include "../../early_start.cuh"
#include "../../launch.cuh"
#include "../sweep_model.hpp"
#include "streaming.hpp"
#include "streaming_shapes.hpp"
#include "streaming_tile.cuh"

#include <algorithm>
#include <type_traits>

namespace tessera::cuda {
namespace {

// A sweep is two launches, the shell and the interior. They write different points and read what the sweep before
// wrote. So the shell waits for the sweep before, and the interior begins as soon as the shell's blocks have begun. The
// interior's first block waits for the shell, so that the sweep has ended when the interior has.
//
// Planes of 16-bit elements are swept in half the time, of which the shell's launch is 5 %: there the first rows of the
// grid are the shell.

template <int kWidth, class T, class Shape>
__global__ void __launch_bounds__(StreamingShell::kThreads)
    stencil_streaming_shell_kernel(const __grid_constant__ StreamingTileArguments<T, Shape> g,
                                   const __grid_constant__ StreamingShell shell, const T* __restrict__ source,
                                   T* __restrict__ target) {
  wait_for_predecessor();
  start_successor();
  streaming_shell<kWidth>(g, shell, std::int64_t(blockIdx.x) * StreamingShell::kThreads + threadIdx.x, source, target);
}

template <class Tile, bool kEnds, class T, class Shape>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    stencil_streaming_interior_kernel(const __grid_constant__ StreamingTileArguments<T, Shape> g,
                                      const __grid_constant__ StreamingInterior interior, const T* __restrict__ source,
                                      T* __restrict__ target) {
  start_successor();
  streaming_interior<Tile, kEnds>(g, interior, blockIdx.y, source, target);
  if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0) wait_for_predecessor();
}

/// Both: `shell_rows` rows of the grid are the shell.
template <class Tile, class T, class Shape>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    stencil_streaming_whole_kernel(const __grid_constant__ StreamingTileArguments<T, Shape> g,
                                   const __grid_constant__ StreamingShell shell, unsigned shell_rows,
                                   const __grid_constant__ StreamingInterior interior, const T* __restrict__ source,
                                   T* __restrict__ target) {
  wait_for_predecessor();
  start_successor();
  if (blockIdx.y >= shell_rows)
    return streaming_interior<Tile, false>(g, interior, blockIdx.y - shell_rows, source, target);
  const std::int64_t block = std::int64_t(blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = threadIdx.y * Tile::kThreadsX + threadIdx.x;
  if (blockIdx.z == 0) streaming_shell<Tile::kWidth>(g, shell, block * Tile::kThreads + thread, source, target);
}

/// In larger domains the shell takes little time, and tiles that run with it take up to 5 % longer.
inline constexpr std::int64_t kMostEarlyPoints = std::int64_t(1) << 23;

/// The problem with its taps in the order in which tiles add them.
inline plugin::StencilProblem in_order_of_tiles(plugin::StencilProblem problem) {
  std::ranges::sort(problem.taps, {}, &plugin::Tap::offset);
  return problem;
}

template <class T, class Shape, class Aligned = typename StreamingTiles<T, Shape>::Aligned,
          class Unaligned = typename StreamingTiles<T, Shape>::Unaligned>
class StreamingTilePlan final : public plugin::Plan {
 public:
  StreamingTilePlan(Context& context, const plugin::StencilProblem& problem,
                    const std::array<Scalar<T>, Shape::kCount>& coefficients)
      : context_(context), problem_(problem), aligned_(layout<Aligned>()), arguments_{SweepGeometry(problem), {}} {
    const DeviceGuard guard(context.device());
    prepare_kernels<Aligned>();
    if constexpr (kAllAligned) {
      list_ = make_streaming_list(context, in_order_of_tiles(problem));
    } else {
      unaligned_ = layout<Unaligned>();
      prepare_kernels<Unaligned>();
    }
    early_ = problem.points() <= kMostEarlyPoints && starts_early();
    std::copy(coefficients.begin(), coefficients.end(), arguments_.coefficient);
  }

  void execute(const plugin::Execution& e) override {
    if (kAllAligned && !all_aligned(e)) return list_->execute(e);
    const DeviceGuard guard(context_.device());
    StreamingTileArguments<T, Shape> arguments = arguments_;
    bool first = true;
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          SweepGeometry& geometry = arguments.geometry;
          geometry.set_strides(source_strides, target_strides);
          if constexpr (kOneLaunch<T, Shape>)
            launch_whole<Aligned>(aligned_, arguments, first, source, target);
          else if constexpr (kAllAligned)
            launch_sweep<Aligned>(aligned_, arguments, first, source, target);
          else if (rows_aligned(source, geometry.source_strides, Shape::kRank) &&
                   rows_aligned(target, geometry.target_strides, Shape::kRank))
            launch_sweep<Aligned>(aligned_, arguments, first, source, target);
          else
            launch_sweep<Unaligned>(unaligned_, arguments, first, source, target);
          first = false;
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  /// Whether there are no tiles for other rows. Those are swept as a list, which gives the same bits.
  static constexpr bool kAllAligned = std::is_void_v<Unaligned>;

  bool all_aligned(const plugin::Execution& e) const {
    return rows_aligned(problem_) && at_vector(e.operand<const T>(0)) && at_vector(e.operand<T>(1)) &&
           at_vector(e.workspace<T>());
  }

  /// Rows of a grid that may be the shell; a larger one has a launch of its own.
  static constexpr std::int64_t kMostShellRows = 1024;

  template <class Tile>
  void prepare_kernels() const {
    if constexpr (kOneLaunch<T, Shape>) {
      prepare(stencil_streaming_whole_kernel<Tile, T, Shape>);
    } else {
      prepare(stencil_streaming_interior_kernel<Tile, kWholeRows<Tile, Shape>, T, Shape>);
      prepare(stencil_streaming_shell_kernel<Tile::kWidth, T, Shape>);
    }
  }

  static bool starts_early() {
    if constexpr (kOneLaunch<T, Shape>)
      return can_start_early(stencil_streaming_whole_kernel<Aligned, T, Shape>);
    else
      return can_start_early(stencil_streaming_shell_kernel<Aligned::kWidth, T, Shape>);
  }

  /// How tiles of one kind cut the domain.
  struct Layout {
    StreamingInterior interior;
    StreamingShell shell;
  };

  template <class Tile>
  Layout layout() const {
    const PointBox box = interior_box<Tile, Shape>(problem_.domain);
    const std::int64_t row_bytes = problem_.domain.extents[2] * std::int64_t(sizeof(T));
    const Rasterization order =
        rasterize({plugin::ceil_div(box.extent(0), Tile::kPointsZ), plugin::ceil_div(box.extent(1), Tile::kPointsY),
                   box.extent(2) == 0 ? 0 : plugin::ceil_div(box.end[2], Tile::kPointsX)},
                  Tile::kPointsZ, Tile::kPointsY, Shape::reach(0), row_bytes, context_.machine().l2_bytes,
                  kMaxGridYz - (kOneLaunch<T, Shape> ? kMostShellRows : 0));
    return {{box, order, 0}, shell_around(problem_.domain, box, Tile::kWidth)};
  }

  template <class Tile>
  void launch_sweep(Layout layout, const StreamingTileArguments<T, Shape>& arguments, bool first_sweep, const T* source,
                    T* target) const {
    const bool shell = launch_shell<Tile>(layout.shell, arguments, EarlyStart{early_ && !first_sweep}, source, target);

    const Rasterization& tiles = layout.interior.tiles;
    const std::int64_t planes = tiles.columns == 0 ? 0 : tiles.planes * tiles.groups;
    for (std::int64_t& first = layout.interior.first; first < planes; first += kMaxGridYz)
      launch(stencil_streaming_interior_kernel<Tile, kWholeRows<Tile, Shape>, T, Shape>,
             dim3(unsigned(tiles.columns), unsigned(tiles.group_rows), unsigned(std::min(planes - first, kMaxGridYz))),
             dim3(Tile::kThreadsX, Tile::kThreadsY, Tile::kThreadsZ), 0, context_.stream(),
             EarlyStart{early_ && shell && first == 0}, arguments, layout.interior, source, target);
  }

  /// The same in one launch, as far as the grid's limits allow.
  template <class Tile>
  void launch_whole(Layout layout, const StreamingTileArguments<T, Shape>& arguments, bool first_sweep, const T* source,
                    T* target) const {
    const Rasterization& tiles = layout.interior.tiles;
    const std::int64_t blocks = plugin::ceil_div(layout.shell.all_vectors(), std::int64_t(Tile::kThreads));
    const std::int64_t planes = tiles.columns == 0 ? 0 : tiles.planes * tiles.groups;
    std::int64_t rows = planes == 0 ? kMostShellRows + 1 : plugin::ceil_div(blocks, tiles.columns);
    bool first = first_sweep;
    const auto launch_grid = [&](dim3 grid, unsigned shell_rows) {
      launch(stencil_streaming_whole_kernel<Tile, T, Shape>, grid, dim3(Tile::kThreadsX, Tile::kThreadsY), 0,
             context_.stream(), EarlyStart{early_ && !first}, arguments, layout.shell, shell_rows, layout.interior,
             source, target);
      first = false;
    };
    if (rows > kMostShellRows) {
      if (blocks > 0) launch_grid(dim3(unsigned(blocks)), 1);
      rows = 0;
    }
    for (std::int64_t& done = layout.interior.first; done < planes; done += kMaxGridYz, rows = 0)
      launch_grid(dim3(unsigned(tiles.columns), unsigned(tiles.group_rows + rows),
                       unsigned(std::min(planes - done, kMaxGridYz))),
                  unsigned(rows));
  }

  /// Whether there is one.
  template <class Tile>
  bool launch_shell(const StreamingShell& shell, const StreamingTileArguments<T, Shape>& arguments, EarlyStart start,
                    const T* source, T* target) const {
    const std::int64_t vectors = shell.all_vectors();
    if (vectors > 0)
      launch(stencil_streaming_shell_kernel<Tile::kWidth, T, Shape>,
             dim3(unsigned(plugin::ceil_div(vectors, StreamingShell::kThreads))), dim3(StreamingShell::kThreads), 0,
             context_.stream(), start, arguments, shell, source, target);
    return vectors > 0;
  }

  Context& context_;
  plugin::StencilProblem problem_;
  Layout aligned_, unaligned_{};
  std::unique_ptr<plugin::Plan> list_;          ///< with kAllAligned
  StreamingTileArguments<T, Shape> arguments_;  ///< but for the strides
  bool early_;                                  ///< launches may begin before others have ended
};

template <class T, class... Shapes>
std::unique_ptr<plugin::Plan> make_streaming_tile(TapShapes<Shapes...> shapes, Context& context,
                                                  const plugin::StencilProblem& problem) {
  std::unique_ptr<plugin::Plan> plan;
  with_shape<Scalar<T>>(shapes, problem, [&]<class Shape>(Shape, const auto& coefficients) {
    plan = std::make_unique<StreamingTilePlan<T, Shape>>(context, problem, coefficients);
  });
  return plan;
}

}  // namespace

template <class T>
std::unique_ptr<plugin::Plan> make_streaming_flat(Context& context, const plugin::StencilProblem& problem) {
  return make_streaming_tile<T>(FlatShapes{}, context, problem);
}

template <class T>
std::unique_ptr<plugin::Plan> make_streaming_volume(Context& context, const plugin::StencilProblem& problem) {
  return make_streaming_tile<T>(VolumeShapes{}, context, problem);
}

}  // namespace tessera::cuda
