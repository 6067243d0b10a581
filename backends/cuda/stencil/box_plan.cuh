// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Plans of single sweeps by blocks whose cells lie in shared memory.
#pragma once

#include "../context.hpp"
#include "../early_start.cuh"
#include "../launch.cuh"
#include "box_cells.cuh"

#include <tessera/plugin/plugin.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::cuda {

/// Of a kernel that takes BoxArguments, the source and the target, and reads `taps` as they lie.
template <auto kKernel, class T, class Layout>
class BoxPlan final : public plugin::Plan {
 public:
  using S = Scalar<T>;

  BoxPlan(Context& context, const plugin::StencilProblem& problem, const Layout& layout, int threads,
          const std::vector<S>& taps)
      : context_(context),
        problem_(problem),
        threads_(unsigned(threads)),
        taps_(context, taps.data(), taps.size() * sizeof(S)),
        arguments_(problem, layout, taps_.template as<const S>()) {
    const DeviceGuard guard(context.device());
    prepare(kKernel, context.machine().shared_per_block);
    early_ = can_start_early(kKernel);
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    BoxArguments<T, Layout> g = arguments_;
    const Layout& l = g.layout;
    EarlyStart start{false};
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          g.set_arrays(source, source_strides, target_strides, problem_.dtype, l.first_cell());
          launch(kKernel, dim3(unsigned(l.tiles[2]), unsigned(l.tiles[1]), unsigned(l.tiles[0])), dim3(threads_),
                 std::size_t(l.shared_bytes()), context_.stream(), start, g, source, target);
          start.early = early_;
        });
  }

 private:
  Context& context_;
  plugin::StencilProblem problem_;
  unsigned threads_;
  DeviceTable taps_;
  BoxArguments<T, Layout> arguments_;
  bool early_ = false;  ///< launches may begin before others have ended
};

}  // namespace tessera::cuda
