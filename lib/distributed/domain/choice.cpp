// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan on a cut domain takes its steps: by which algorithm, how many from one exchange to the next, and whether
/// the inner points are made beside it.

#include "plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace tessera::distributed {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

/// What an exchange takes: seconds until it has begun to move, and bytes a second then. Set, not fitted: both stand for
/// links of their kind, and are only weighed against the predicted steps of a block. Where they are too slow, a plan
/// takes more steps from one exchange to the next than it need.
struct Link {
  double latency, rate;
};
/// Between processes of one host, slower than measured: Open MPI on two cores takes 1.7 us for 8 bytes, 14 us for 64
/// KiB, and moves 5.5 to 7.5 GB/s in messages of 512 KiB and more (perf/baselines/epyc-distributed.json).
constexpr Link kHostLink{20e-6, 3e9};
/// Between devices of one host. NCCL on two H200 takes 9.5 us for 8 bytes, 10 us for 64 KiB, and moves 144 GB/s in
/// messages of 4 MiB, 272 in those of 64 MiB (perf/baselines/h200x2-distributed.json).
constexpr Link kDeviceLink{12e-6, 150e9};
const Link& link_of(bool on_host) { return on_host ? kHostLink : kDeviceLink; }

/// Ways of a stencil on a host that are predicted within this factor of the fastest count as equally fast, and the one
/// with the most steps is taken: predictions err by a tenth, and exchanges are what others disturb
/// (docs/notes/distributed.md, "Ranks on a processor").
constexpr double kNearOnHost = 1.1;
/// What the starts of several plans add to a single step whose inner points are apart, in latencies of the link. Set as
/// well; perf/report/scaling.py models steps with the same figure.
constexpr double kStartsOfPlans = 0.5;

}  // namespace

/// Collective: the first way of rank 0's that all ranks can go.
void DomainPlan::choose(tessera_decomposition wanted, const tessera_plan_options& options) {
  std::copy(cut_->ranks().begin(), cut_->ranks().end(), wanted.ranks);
  std::vector<Way> list;
  together(*comm_, [&] {
    if (comm_->rank() == 0) list = ways(wanted, options);
  });
  auto count = std::int64_t(list.size());
  comm_->broadcast(&count, sizeof count, 0);
  together(*comm_, [&] { list.resize(std::size_t(count)); });
  comm_->broadcast(list.data(), list.size() * sizeof(Way), 0);
  Outcome first;
  for (const Way& way : list) {
    const Outcome outcome = outcome_of([&] { take(way, wanted, options); });
    if (first_failure(*comm_, outcome).empty()) {
      way_ = way;
      return stepper_->make_room(*comm_, context_.get(), place_,
                                 way.inner_first != 0 ? boxes(true) : std::vector<Box>{place_.block}, rounds_);
    }
    if (!first.failed()) first = outcome;
  }
  agree(*comm_, first);
  throw Error(TESSERA_INTERNAL, "no rank has said why it cannot step its block");
}

/// The backend's own order of algorithms for the whole domain; of each the fastest way first.
std::vector<DomainPlan::Way> DomainPlan::ways(const tessera_decomposition& wanted,
                                              const tessera_plan_options& options) {
  const bool travels = !messages_.empty();
  const double near = copier_ == nullptr && !stepper_->is_in_place() ? kNearOnHost : 1.0;
  std::vector<int> depths = stepper_->depths();
  if (wanted.depth != 0) depths = {wanted.depth};
  std::vector<Way> list;
  for (const std::string& algorithm : stepper_->algorithms(context_.get(), options)) {
    const auto begin = std::ptrdiff_t(list.size());
    for (const int depth : depths)
      for (const int inner_first : {1, 0}) {
        Way way{{}, depth, inner_first, 0.0};
        if (!stepper_->has_way(depth, inner_first != 0, travels)) continue;
        if (wanted.depth == 0 && depth > 1 && (!travels || depth > stepper_->steps())) continue;
        std::strncpy(way.algorithm, algorithm.c_str(), sizeof way.algorithm - 1);
        way.seconds = seconds_of(way, wanted, options);
        if (way.seconds < kEndless) list.push_back(way);
      }
    std::stable_sort(list.begin() + begin, list.end(),
                     [](const Way& a, const Way& b) { return a.seconds < b.seconds; });
    auto best = list.begin() + begin;
    for (auto way = best; way != list.end() && way->seconds < near * list[std::size_t(begin)].seconds; ++way)
      if (way->depth > best->depth) best = way;
    if (best != list.end()) std::swap(*best, list[std::size_t(begin)]);
  }
  if (list.empty()) {  // whose plans say why not
    Way way{{}, std::max(wanted.depth, 1), 0, 0.0};
    way.inner_first = !stepper_->has_way(way.depth, false, travels);
    if (options.algorithm != nullptr) std::strncpy(way.algorithm, options.algorithm, sizeof way.algorithm - 1);
    list.push_back(way);
  }
  return list;
}

/// Predicted, of an exchange.
double DomainPlan::seconds_of_halos() const {
  const Link& link = link_of(copier_ == nullptr);
  return messages_.empty() ? 0.0 : link.latency + messages_.received_bytes() / link.rate;
}

/// Predicted, of a step; endless where the way is not there.
double DomainPlan::seconds_of(const Way& way, const tessera_decomposition& wanted,
                              const tessera_plan_options& options) {
  tessera_decomposition cut = wanted;
  cut.depth = way.depth;
  if (outcome_of([&] { lay_out(cut); }).failed()) return kEndless;
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;
  if (way.algorithm[0] != '\0') each.algorithm = way.algorithm;
  const std::int64_t steps = std::max<std::int64_t>(std::min<std::int64_t>(way.depth, stepper_->steps()), 1);
  const auto made = [&](const Box& box) { return stepper_->seconds(context_.get(), place_, box, steps, each); };
  const double halos = seconds_of_halos();
  const bool inner_first = is_inner_first(way, steps);
  if (!inner_first && has_edges(steps, each))
    return std::max(halos, edge_share(steps) * made(place_.block)) / double(steps);
  if (!inner_first) return (made(place_.array) + halos) / double(steps);
  if (copier_ == nullptr && stepper_->is_in_place()) return made(place_.block) + halos;
  // Single steps hide their halos behind the inner points, but are cut into several plans.
  return std::max(made(place_.block), halos) + kStartsOfPlans * link_of(copier_ == nullptr).latency;
}

}  // namespace tessera::distributed
