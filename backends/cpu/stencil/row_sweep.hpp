// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How `rows` and `streaming` are offered and made.
#pragma once

#include "row_sweep_plan.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace tessera::cpu {

/// The cut that the parameters threads and block mean.
inline Cut row_sweep_cut(const Machine& machine, const StencilWork& work, int threads, bool nontemporal) {
  const plugin::StencilProblem& p = work.problem;
  const std::int64_t of_box = work.box && work.box->row_axis == 0 && !nontemporal ? kDenseRows : 1;
  return cut_of(p, threads, work.by_offset ? of_box : common_planes(p, nontemporal), machine.caches.level2);
}

template <bool kNontemporal>
void offer_row_sweep(const plugin::StencilProblem& problem, const Machine& machine,
                     const plugin::GivenParameters& given, std::uint64_t, plugin::OfferList& offers) {
  const StencilWork work(problem, machine.instructions);
  const auto cut = [&](int threads) { return row_sweep_cut(machine, work, threads, kNontemporal); };
  const double alone = sweeps_seconds(machine, work, cut(1), kNontemporal, 1);
  const double sweep = alone / double(std::max<std::int64_t>(problem.steps, 1));
  const int threads = int(given.in_range("threads", machine.useful_threads(sweep), 1, kMostThreads));
  Cut blocks = cut(threads);
  blocks.block_segments = given.in_range("block", blocks.block_segments, 1, std::numeric_limits<std::int32_t>::max());
  offers.add({{{"threads", threads}, {"block", blocks.block_segments}},
              sweeps_seconds(machine, work, blocks, kNontemporal, threads),
              problem.sweep_workspace()});
}

template <bool kNontemporal>
std::unique_ptr<plugin::Plan> make_row_sweep(Context& context, const plugin::StencilProblem& problem,
                                             const plugin::Parameters& parameters) {
  const StencilWork work(problem, context.machine().instructions);
  const int threads = int(parameters.at("threads"));
  Cut cut = row_sweep_cut(context.machine(), work, threads, kNontemporal);
  cut.block_segments = parameters.at("block");
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<RowSweepPlan<T, kNontemporal>>(work, threads, cut);
  });
}

}  // namespace tessera::cpu
