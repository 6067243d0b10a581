// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep_model.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::cuda {

using plugin::StencilProblem;

double evicted_part(const StencilProblem& p, const Machine& machine) {
  const SweepCosts& costs = machine.stencil.sweep;
  const double part = 2.0 * array_bytes(p) / double(machine.l2_bytes);
  return std::clamp((part - costs.l2_kept) / (costs.l2_evicted - costs.l2_kept), 0.0, 1.0);
}

double copy_seconds(const StencilProblem& p, const Machine& machine) {
  const double bytes = 2.0 * array_bytes(p), evicted = evicted_part(p, machine);
  return evicted * bytes / machine.memory_rate +
         all_cycles(machine, (1.0 - evicted) * bytes / machine.stencil.sweep.l2_rate);
}

bool rows_aligned(const StencilProblem& p) {
  const std::int64_t width = 16 / std::int64_t(plugin::size_of(p.dtype));
  const auto aligned = [&](const plugin::Index3& strides) {
    return (p.rank < 2 || strides[1] % width == 0) && (p.rank < 3 || strides[0] % width == 0);
  };
  return aligned(p.in_strides) && aligned(p.out_strides) && (p.steps == 1 || aligned(p.packed_strides()));
}

bool has_fixed_sides(const StencilProblem& p) {
  for (int axis = plugin::kAxes - p.rank; axis < plugin::kAxes; ++axis)
    for (const std::int32_t mode : p.domain.mode[axis])
      if (mode != TESSERA_BOUNDARY_FIXED) return false;
  return true;
}

BoundaryWarps boundary_warps(const StencilProblem& p) {
  constexpr double kWarp = 32.0;
  const auto plain = [&](int axis) { return double(p.domain.plain_end(axis) - p.domain.plain_begin(axis)); };
  const double extent = double(p.domain.extents[2]), warps = std::ceil(extent / kWarp);
  const double low = double(p.domain.plain_begin(2)), high = extent - double(p.domain.plain_end(2));
  const double ends = std::min(warps, std::ceil(low / kWarp) + std::ceil(high / kWarp));
  const double rows = double(p.domain.extents[0]) * double(p.domain.extents[1]), plain_rows = plain(0) * plain(1);
  bool computed = false;
  for (int axis = plugin::kAxes - p.rank; axis < plugin::kAxes; ++axis)
    for (const std::int32_t mode : p.domain.mode[axis])
      computed = computed || (mode != TESSERA_BOUNDARY_FIXED && mode != TESSERA_BOUNDARY_HALO);
  return {(rows - plain_rows) * warps + plain_rows * ends, computed};
}

void offer_sweeps(const StencilProblem& p, plugin::Parameters parameters, double sweep_seconds,
                  plugin::OfferList& offers) {
  offers.add({std::move(parameters), double(p.steps) * sweep_seconds, p.sweep_workspace()});
}

}  // namespace tessera::cuda
