// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the CPU backend offers on the machine that its costs were measured on.
#pragma once

#include <tessera/tessera.h>
#include <context.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::test {

/// The one of perf/baselines/xeon-*.json.
inline cpu::Machine xeon(int threads) {
  return {threads, {48 << 10, 2 << 20, 314572800, 16}, cpu::kAvx512, cpu::kAvx512Costs};
}

struct CpuOffer {
  std::string algorithm;
  plugin::Offer offer;
};

/// The cheapest offer of each algorithm that supports the problem, the cheapest of all first.
template <class Problem>
std::vector<CpuOffer> cheapest_offers(const Problem& problem, const cpu::Machine& machine,
                                      std::uint64_t workspace_limit = TESSERA_DEFAULT_WORKSPACE_LIMIT) {
  std::vector<CpuOffer> all;
  for (const auto& algorithm : plugin::Register<cpu::Context, Problem>::all()) {
    if (!algorithm.why_unsupported(problem, machine).empty()) continue;
    plugin::OfferList offers;
    algorithm.offers(problem, machine, {}, workspace_limit, offers);
    all.push_back({algorithm.name, offers.cheapest()});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const CpuOffer& a, const CpuOffer& b) { return a.offer.seconds < b.offer.seconds; });
  return all;
}

}  // namespace tessera::test
