// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed stencil chooses: steps between exchanges, and what carries the halos.

#include "check.hpp"
#include "stencil.hpp"
#include "together.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace tessera::distributed {
namespace {

/// What an exchange takes: between devices of one host by NCCL, and between processes of one host.
constexpr double kDeviceLatency = 12e-6, kDeviceRate = 150e9, kHostLatency = 20e-6, kHostRate = 3e9;

}  // namespace

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
  double least = std::numeric_limits<double>::infinity();
  const auto visit = [](void* data, const tessera_offer* offer) {
    double& seconds = *static_cast<double*>(data);
    seconds = std::min(seconds, offer->seconds);
  };
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;
  const tessera_stencil_desc desc = part(box, steps);
  call(tessera_visit_offers, context_.get(), reinterpret_cast<const tessera_desc*>(&desc), &on_device,
       static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&least));
  return least;
}

/// Predicted, of an exchange.
double StencilPlan::seconds_of_halos() const {
  std::int64_t points = 0;
  for (const Decomposition::Halo& halo : received_) points += halo.box.points();
  return (on_host_ ? kHostLatency : kDeviceLatency) +
         double(points * own_.element) / (on_host_ ? kHostRate : kDeviceRate);
}

/// Predicted, from one exchange to the next.
double StencilPlan::seconds_of_round(const tessera_plan_options& options) const {
  const Box block = cut_->block(comm_->rank());
  const double halos = seconds_of_halos();
  if (has_rims(depth_, options)) return std::max(halos, rim_share(depth_) * seconds_of(block, depth_, options));
  // Single steps hide their halos behind the inner points, but are cut into several plans.
  if (depth_ == 1)
    return std::max(seconds_of(block, 1, options), halos) + (on_host_ ? kHostLatency : kDeviceLatency) / 2;
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
  if (nccl_ == nullptr || !exchanges() || steps < 2 || desc_.rank < 3 || domain_.low[0] != domain_.high[0] ||
      block.extents()[0] < kRims * steps * domain_.low[0])
    return false;
  const double halos = seconds_of_halos();
  return halos > kLeastHalos && halos > 2.0 * (rim_share(steps) - 1.0) * seconds_of(block, steps, options);
}

std::string StencilPlan::why_not_contiguous() const {
  for (const auto* halos : {&sent_, &received_})
    for (const Decomposition::Halo& halo : *halos)
      if (!own_.is_contiguous(halo.box)) return "halos are not contiguous: cut the first axis alone";
  return {};
}

/// Collective: NCCL, or the group's transport.
void StencilPlan::choose_transport(tessera_halo_transport wanted) {
  std::string why_not;
  if (wanted != TESSERA_HALO_HOST && comm_->size() > 1) {
    why_not = first_failure(*comm_, outcome_of([&] {
      if (on_host_) throw Error(TESSERA_UNSUPPORTED, "the backend computes on the host");
      if (const std::string why = why_not_contiguous(); !why.empty()) throw Error(TESSERA_UNSUPPORTED, why);
    }));
    if (why_not.empty()) nccl_ = Nccl::join(*comm_, copier_.get(), why_not);
    if (nccl_ == nullptr && wanted == TESSERA_HALO_NCCL) throw Error(TESSERA_UNSUPPORTED, "halos = nccl: " + why_not);
  }
  if (nccl_ != nullptr) call(tessera_context_native_stream, copier_.get(), &stream_);
  transport_ = nccl_ != nullptr ? "by NCCL" : "through the host";
  if (!why_not.empty() && !on_host_) transport_ += " (" + why_not + ")";
}

}  // namespace tessera::distributed
