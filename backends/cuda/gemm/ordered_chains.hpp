// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The order of sums of f32 and f64 by chains of multiply-adds, whatever the algorithm: slices of k, each a chain,
/// which are added one after another.
#pragma once

#include "multistage/multistage_tiles.hpp"
#include "offers.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

/// Slices of ordered sums, whatever rows there are: few rows need them to fill a device, many lose by them, the more
/// the larger sums are. They are no more than a cluster has blocks. At least one, none is empty.
inline std::int64_t ordered_chains(const plugin::GemmProblem& p, const Machine& machine) {
  constexpr std::int64_t kManyColumns = 1024;
  if (!machine.clusters()) return 1;
  const auto sum = std::int64_t(size_of_sums(p)), steps = plugin::ceil_div(p.k, kMultistageMostDepth);
  const std::int64_t most =
      std::clamp<std::int64_t>(p.k / (64 * sum), 1, p.fixed_extent() >= kManyColumns ? 32 / sum : 8);
  return steps == 0 ? 1 : plugin::ceil_div(steps, plugin::ceil_div(steps, most));
}

/// The length of each but the last, of so many.
inline std::int64_t ordered_chain_length(std::int64_t k, std::int64_t chains) {
  return plugin::ceil_div(plugin::ceil_div(k, kMultistageMostDepth), chains) * kMultistageMostDepth;
}

}  // namespace tessera::cuda
