// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The automatic choice of a backend, from the list of its algorithms.
#pragma once

#include <tessera/plugin/algorithm.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Parameters that a caller fixed.
inline plugin::GivenParameters given(const std::vector<std::pair<const char*, std::int64_t>>& values) {
  std::vector<tessera_parameter> list;
  for (const auto& [key, value] : values) list.push_back({key, value});
  return {list.data(), sizeof(tessera_parameter), list.size()};
}

struct NamedOffer {
  std::string algorithm;
  plugin::Offer offer;
};

/// The cheapest offer of each algorithm that supports the problem and need not be forced, the cheapest of all first.
template <class Algorithms, class Problem, class Machine>
std::vector<NamedOffer> cheapest_offers(const Algorithms& algorithms, const Problem& problem, const Machine& machine,
                                        std::uint64_t workspace_limit) {
  std::vector<NamedOffer> all;
  for (const auto& algorithm : algorithms) {
    if (algorithm.features.forced_only || !algorithm.why_not(problem, machine).empty()) continue;
    plugin::OfferList offers;
    algorithm.offers(problem, machine, {}, workspace_limit, offers);
    all.push_back({algorithm.name, offers.cheapest()});
  }
  std::ranges::stable_sort(all, {}, [](const NamedOffer& one) { return one.offer.seconds; });
  return all;
}

}  // namespace tessera::test
