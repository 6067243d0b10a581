// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming_tile.cuh"

#include "../launch.cuh"
#include "streaming.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

template <class Tile, class T, class Shape>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    stencil_streaming_tile_kernel(const __grid_constant__ StreamingTileArguments<T, Shape> g,
                                  const T* __restrict__ source, T* __restrict__ target) {
  streaming_tile<Tile>(g, source, target);
}

/// Tiles for rows that begin on multiples of 16 bytes, and for any others.
template <class T, class Shape, int kRank = Shape::kRank>
struct Tiles {  // of volumes
  using Aligned = StreamingTile<kVectorWidth<T>, 1, 2, 2, 16, 8, 2, 3>;
  using Unaligned = StreamingTile<1, 1, 4, 2, 32, 4, 2, 3>;
};

template <class T, class Shape>
struct Tiles<T, Shape, 2> {
  static constexpr bool kHeavy = Shape::kCount > 9;
  using Aligned = std::conditional_t<kHeavy, StreamingTile<kVectorWidth<T>, 1, 4, 1, 32, 8, 1, 4>,
                                     StreamingTile<kVectorWidth<T>, 1, 2, 1, 32, 8, 1, 5>>;
  using Unaligned = StreamingTile<1, 1, 8, 1, 32, 8, 1, 3>;
};

template <class T, class Shape>
struct Tiles<T, Shape, 1> {
  using Aligned = StreamingTile<kVectorWidth<T>, 2, 1, 1, 128, 1, 1, 8>;
  using Unaligned = StreamingTile<1, 4, 1, 1, 128, 1, 1, 8>;
};

template <class T, class Shape, class Aligned = typename Tiles<T, Shape>::Aligned,
          class Unaligned = typename Tiles<T, Shape>::Unaligned>
class StreamingTilePlan final : public plugin::Plan {
 public:
  StreamingTilePlan(Context& context, const plugin::StencilProblem& problem,
                    const std::array<T, Shape::kCount>& coefficients)
      : context_(context), problem_(problem), arguments_{SweepGeometry(problem), {0, 0}, {0, 0}, {}} {
    const DeviceGuard guard(context.device());
    prepare(stencil_streaming_tile_kernel<Aligned, T, Shape>);
    prepare(stencil_streaming_tile_kernel<Unaligned, T, Shape>);
    std::copy(coefficients.begin(), coefficients.end(), arguments_.coefficient);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments_.geometry.set_strides(source_strides, target_strides);
          const auto& geometry = arguments_.geometry;
          if (rows_aligned(source, geometry.source_strides) && rows_aligned(target, geometry.target_strides))
            launch_sweep<Aligned>(source, target);
          else
            launch_sweep<Unaligned>(source, target);
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  template <class Tile>
  void launch_sweep(const T* source, T* target) const {
    const auto& extents = problem_.domain.extents;
    StreamingTileArguments<T, Shape> arguments = arguments_;
    set_interior<Tile>(arguments);
    const auto blocks = [&](int axis, int points, std::int64_t most) {
      return unsigned(std::min((extents[axis] + points - 1) / points, most));
    };
    const dim3 grid(blocks(2, Tile::kPointsX, kMaxGridX), blocks(1, Tile::kPointsY, kMaxGridYz),
                    blocks(0, Tile::kPointsZ, kMaxGridYz));
    auto& first = arguments.first;
    for (first[0] = 0; first[0] < extents[0]; first[0] += std::int64_t(grid.z) * Tile::kPointsZ)
      for (first[1] = 0; first[1] < extents[1]; first[1] += std::int64_t(grid.y) * Tile::kPointsY)
        launch(stencil_streaming_tile_kernel<Tile, T, Shape>, grid,
               dim3(Tile::kThreadsX, Tile::kThreadsY, Tile::kThreadsZ), 0, context_.stream(), arguments, source,
               target);
  }

  /// A thread reads whole vectors on either side of its own.
  template <class Tile>
  void set_interior(StreamingTileArguments<T, Shape>& arguments) const {
    constexpr int kWidth = Tile::kWidth, kBeside = (Shape::kRadius + kWidth - 1) / kWidth * kWidth;
    const plugin::Domain& domain = problem_.domain;
    const auto halo = [&](int side) {
      return domain.mode[2][side] == TESSERA_BOUNDARY_HALO ? domain.reach[2][side] : std::int64_t(0);
    };
    const auto& plain = arguments.geometry.plain[2];
    arguments.interior_x[0] = std::max(plain[0], kBeside - halo(0));
    const std::int64_t end = std::min(plain[1], domain.extents[2] + halo(1) - kBeside);
    arguments.interior_x[1] = end - (Tile::kColumns - 1) * Tile::kApart - kWidth + 1;
  }

  Context& context_;
  plugin::StencilProblem problem_;
  StreamingTileArguments<T, Shape> arguments_;
};

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem) {
  std::unique_ptr<plugin::Plan> plan;
  with_shape<T>(TileShapes{}, problem, [&]<class Shape>(Shape, const auto& coefficients) {
    plan = std::make_unique<StreamingTilePlan<T, Shape>>(context, problem, coefficients);
  });
  return plan;
}

}  // namespace

std::unique_ptr<plugin::Plan> make_streaming_tile(Context& context, const plugin::StencilProblem& problem) {
  return problem.dtype == TESSERA_F64 ? make_typed<double>(context, problem) : make_typed<float>(context, problem);
}

}  // namespace tessera::cuda
