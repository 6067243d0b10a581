// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming_march.cuh"

#include "../launch.cuh"
#include "streaming.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

template <class Tile, class T, class Shape>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    stencil_streaming_march_kernel(const __grid_constant__ MarchArguments<T, Shape> g, const T* __restrict__ source,
                                   T* __restrict__ target) {
  extern __shared__ __align__(16) unsigned char ring[];
  streaming_march<Tile>(g, source, target, reinterpret_cast<T*>(ring));
}

template <class T, class Shape>
using TileOf = MarchTile<2, 16, 8, 4, 1, 3>;

/// Planes of outputs of a block: more read fewer twice, fewer fill the device with smaller domains.
constexpr std::int64_t kMarchPlanes = 32;

template <class T, class Shape, class Tile = TileOf<T, Shape>>
class StreamingMarchPlan final : public plugin::Plan {
 public:
  StreamingMarchPlan(Context& context, const plugin::StencilProblem& problem,
                     const std::array<T, Shape::kCount>& coefficients, int planes)
      : context_(context), problem_(problem), arguments_{SweepGeometry(problem), planes, tiles(2), false, false, {}} {
    const DeviceGuard guard(context.device());
    prepare(stencil_streaming_march_kernel<Tile, T, Shape>, context.limits().shared_per_block);
    std::copy(coefficients.begin(), coefficients.end(), arguments_.coefficient);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    MarchArguments<T, Shape> arguments = arguments_;
    const dim3 grid(tiles(2) * tiles(1), unsigned((extent(0) + arguments.planes - 1) / arguments.planes));
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments.geometry.set_strides(source_strides, target_strides);
          arguments.aligned_source = rows_aligned(source, arguments.geometry.source_strides);
          arguments.aligned_target = rows_aligned(target, arguments.geometry.target_strides);
          launch(stencil_streaming_march_kernel<Tile, T, Shape>, grid, dim3(Tile::kThreadsX, Tile::kThreadsY),
                 std::size_t(MarchRing<T, Shape, Tile>::kBytes), context_.stream(), arguments, source, target);
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  std::int64_t extent(int axis) const { return problem_.domain.extents[axis]; }
  unsigned tiles(int axis) const {
    const int points = axis == 2 ? Tile::kThreadsX * kVectorWidth<T> : Tile::kPointsY;
    return unsigned((extent(axis) + points - 1) / points);
  }

  Context& context_;
  plugin::StencilProblem problem_;
  MarchArguments<T, Shape> arguments_;
};

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem,
                                         plugin::PlanOptions options) {
  std::unique_ptr<plugin::Plan> plan;
  with_shape<T>(MarchShapes{}, problem, [&]<class Shape>(Shape, const auto& coefficients) {
    const int planes = int(options.parameters.take("planes", kMarchPlanes, 1, 65536));
    plan = std::make_unique<StreamingMarchPlan<T, Shape>>(context, problem, coefficients, planes);
  });
  return plan;
}

}  // namespace

std::unique_ptr<plugin::Plan> make_streaming_march(Context& context, const plugin::StencilProblem& problem,
                                                   plugin::PlanOptions options) {
  return problem.dtype == TESSERA_F64 ? make_typed<double>(context, problem, options)
                                      : make_typed<float>(context, problem, options);
}

}  // namespace tessera::cuda
