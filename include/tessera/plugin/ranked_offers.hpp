// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The offers of a backend's algorithms for a problem.
#pragma once

#include <tessera/plugin/operands.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// An offer, and whose it is.
template <class Context, class Problem>
struct RankedOffer {
  const Algorithm<Context, Problem>* algorithm;
  Offer offer;
};

/// The offers of the algorithm `wanted`, or for null of all but those that must be forced, the cheapest first. With
/// `only_cheapest` that of each algorithm alone. `rejected`: why others have none.
template <class Context, class Problem>
std::vector<RankedOffer<Context, Problem>> ranked_offers(const Problem& problem,
                                                         const typename Context::Machine& machine, const char* wanted,
                                                         const GivenParameters& given, std::uint64_t workspace_limit,
                                                         bool only_cheapest, std::string& rejected) {
  std::vector<RankedOffer<Context, Problem>> ranked;
  const auto reject = [&](const char* name, const std::string& why) {
    rejected += (rejected.empty() ? "" : "; ") + std::string(name) + ": " + why;
  };
  for (const auto& algorithm : Register<Context, Problem>::all()) {
    if (wanted != nullptr && std::string_view(wanted) != algorithm.name) continue;
    if (const std::string why = why_not(algorithm, problem, machine); !why.empty()) {
      reject(algorithm.name, why);
      continue;
    }
    if (wanted == nullptr && algorithm.features.forced_only) {
      reject(algorithm.name, "runs only where it is forced");
      continue;
    }
    OfferList offers(only_cheapest);
    add_offers(algorithm, problem, machine, given, workspace_limit, offers);
    given.require_all_known(algorithm.name);
    if (offers.empty())
      reject(algorithm.name, "nothing fits the parameters and workspace_limit = " + std::to_string(workspace_limit));
    for (Offer& offer : offers.all()) ranked.push_back({&algorithm, std::move(offer)});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.offer.seconds < b.offer.seconds; });
  return ranked;
}

}  // namespace tessera::plugin
