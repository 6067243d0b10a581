// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a distributed system takes its steps: by which algorithm, how many from one exchange to the next, and whether
/// the inner points are made beside it.

#include "check.hpp"
#include "costs.hpp"
#include "system.hpp"
#include "together.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace tessera::distributed {

/// Collective: the first way of rank 0's that all ranks can go.
void SystemPlan::choose(tessera_decomposition wishes, const tessera_plan_options& options) {
  std::copy(cut_->ranks().begin(), cut_->ranks().end(), wishes.ranks);
  std::vector<Way> list;
  together(*comm_, [&] {
    if (comm_->rank() == 0) list = ways(wishes, options);
  });
  auto count = std::int64_t(list.size());
  comm_->broadcast(&count, sizeof count, 0);
  list.resize(std::size_t(count));
  comm_->broadcast(list.data(), list.size() * sizeof(Way), 0);
  Outcome first;
  for (const Way& way : list) {
    const Outcome outcome = outcome_of([&] { take(way, wishes, options); });
    if (first_failure(*comm_, outcome).empty()) {
      way_ = way;
      const bool parts = way.parts != 0;
      recordings_ = std::make_unique<Recordings>(*comm_, context_.get(), *system_,
                                                 parts ? boxes(way) : std::vector<Box>{cut_->block(comm_->rank())});
      return;
    }
    if (first.status == TESSERA_OK) first = outcome;
  }
  agree(*comm_, first);
  throw Error(TESSERA_INTERNAL, "no rank has said why it cannot step its block");
}

/// The backend's own order of algorithms for the whole domain; of each the fastest way first.
std::vector<SystemPlan::Way> SystemPlan::ways(tessera_decomposition wishes, const tessera_plan_options& options) {
  constexpr std::int32_t kDepths[] = {1, 2, 3, 4, 6, 8};
  std::vector<Way> list;
  for (const std::string& algorithm : algorithms(options)) {
    const auto begin = std::ptrdiff_t(list.size());
    for (const std::int32_t depth : kDepths)
      for (const int parts : {1, 0}) {
        if (wishes.depth != 0 && depth != kDepths[0]) continue;
        Way way{{}, wishes.depth != 0 ? wishes.depth : depth, parts, 0.0};
        if ((parts != 0 && (way.depth > 1 || !system_->has_parts() || carrier_->empty())) ||
            (depth > 1 && (carrier_->empty() || depth > system_->desc().steps)))
          continue;
        std::strncpy(way.algorithm, algorithm.c_str(), sizeof way.algorithm - 1);
        way.seconds = seconds_of(way, wishes, options);
        if (way.seconds < std::numeric_limits<double>::infinity()) list.push_back(way);
      }
    std::stable_sort(list.begin() + begin, list.end(),
                     [](const Way& a, const Way& b) { return a.seconds < b.seconds; });
  }
  if (list.empty()) {  // whose plans say why not
    list.emplace_back();
    list.back().depth = std::max(wishes.depth, 1);
    if (options.algorithm != nullptr)
      std::strncpy(list.back().algorithm, options.algorithm, sizeof list.back().algorithm - 1);
  }
  return list;
}

/// The one that is asked for, or all that there are for the whole domain.
std::vector<std::string> SystemPlan::algorithms(const tessera_plan_options& options) const {
  std::vector<std::string> names;
  if (options.algorithm != nullptr) return {options.algorithm};
  const auto visit = [](void* data, const tessera_offer* offer) {
    auto& known = *static_cast<std::vector<std::string>*>(data);
    const std::string name(offer->algorithm, std::strcspn(offer->algorithm, ":"));
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;
  call(tessera_visit_offers, context_.get(), reinterpret_cast<const tessera_desc*>(&system_->desc()), &on_device,
       static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&names));
  return names;
}

/// Predicted, of a step; endless where the way is not there.
double SystemPlan::seconds_of(const Way& way, const tessera_decomposition& wishes,
                              const tessera_plan_options& options) {
  tessera_decomposition cut = wishes;
  cut.depth = way.depth;
  if (outcome_of([&] { lay_out(cut); }).status != TESSERA_OK) return std::numeric_limits<double>::infinity();
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE, each.algorithm = way.algorithm;
  const std::int64_t steps = std::min<std::int64_t>(way.depth, system_->desc().steps);
  double bytes = 0.0;
  for (const Halos& one : halos()) bytes += one.received_bytes();
  const double exchange = carrier_->empty() ? 0.0 : halo_seconds(on_host_, bytes);
  const Box block = cut_->block(comm_->rank());
  if (way.parts == 0) return (seconds_of(own_.box, steps, each) + exchange) / double(std::max<std::int64_t>(steps, 1));
  if (on_host_) return seconds_of(block, steps, each) + exchange;
  return std::max(seconds_of(block, steps, each), exchange) + latency(on_host_) / 2;
}

/// Predicted, of so many steps that make a box of the array.
double SystemPlan::seconds_of(const Box& made, std::int64_t steps, const tessera_plan_options& options) const {
  LocalSystem local;
  system_->describe(local, *cut_, comm_->rank(), made, steps, {});
  double least = std::numeric_limits<double>::infinity();
  const Outcome outcome = outcome_of([&] { least = least_seconds(context_.get(), &local.desc, options); });
  if (outcome.status != TESSERA_OK && outcome.status != TESSERA_UNSUPPORTED)
    throw Error(outcome.status, outcome.message);
  return least;
}

}  // namespace tessera::distributed
