// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed stencil chooses: steps between exchanges, and how they are cut.

#include "costs.hpp"
#include "stencil.hpp"
#include "together.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace tessera::distributed {
/// On rank 0: as many steps between exchanges as take the least time each; on a host, whose predictions err by a tenth,
/// the most that come near it: exchanges are what others disturb.
int StencilPlan::choose_depth(tessera_decomposition wishes, const tessera_plan_options& options) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  const double near = on_host_ ? 1.1 : 1.0;
  for (const int depth : {1, 2, 4, 5, 8, 10, 16}) {
    if (comm_->rank() != 0 || (depth > 1 && (!exchanges() || depth > desc_.steps))) break;
    wishes.depth = depth;
    if (outcome_of([&] { lay_out(wishes); }).status != TESSERA_OK) break;
    const double seconds = seconds_of_round(options) / depth;
    if (seconds < near * least) best = depth;
    least = std::min(least, seconds);
  }
  return best;
}

/// Predicted, of so many steps of a box.
double StencilPlan::seconds_of(const Box& box, std::int64_t steps, const tessera_plan_options& options) const {
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;
  const tessera_stencil_desc desc = part(box, steps);
  return least_seconds(context_.get(), &desc, on_device);
}

/// Predicted, of an exchange.
double StencilPlan::seconds_of_halos() const { return halo_seconds(on_host_, halos_.received_bytes()); }

/// Predicted, from one exchange to the next.
double StencilPlan::seconds_of_round(const tessera_plan_options& options) const {
  const Box block = cut_->block(comm_->rank());
  const double halos = seconds_of_halos();
  if (has_rims(depth_, options)) return std::max(halos, rim_share(depth_) * seconds_of(block, depth_, options));
  // Single steps hide their halos behind the inner points, but are cut into several plans.
  if (depth_ == 1) return std::max(seconds_of(block, 1, options), halos) + latency(on_host_) / 2;
  return seconds_of(own_.box, depth_, options) + halos;
}

/// Points that a block with rims computes over those that it has.
double StencilPlan::rim_share(std::int64_t steps) const {
  const Index points = cut_->block(comm_->rank()).extents();
  int rims = 0;
  for (int side = 0; side < 2; ++side) rims += !cut_->is_outer(comm_->rank(), 0, side);
  return 1.0 + 3.0 * double(rims * steps * domain_.low[0]) / double(points[0]);
}

/// Whether several steps are cut into inner points and rims. Rims are small kernels, of which a sweep in 2D makes a
/// poor one, and take up what they hide unless halos take twice as long as they do.
bool StencilPlan::has_rims(std::int64_t steps, const tessera_plan_options& options) const {
  constexpr int kRims = 16;  // of which a block has room
  constexpr double kLeastHalos = 30e-6;
  const Box block = cut_->block(comm_->rank());
  if (!carrier_->on_streams() || !exchanges() || steps < 2 || desc_.rank < 3 || domain_.low[0] != domain_.high[0] ||
      block.extents()[0] < kRims * steps * domain_.low[0])
    return false;
  const double halos = seconds_of_halos();
  return halos > kLeastHalos && halos > 2.0 * (rim_share(steps) - 1.0) * seconds_of(block, steps, options);
}

}  // namespace tessera::distributed
