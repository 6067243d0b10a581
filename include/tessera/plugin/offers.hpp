// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an algorithm could do with a problem, and how long that would take.
#pragma once

#include <tessera/plugin/parameters.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// One way to run a problem.
struct Offer {
  Parameters parameters;
  double seconds;                     ///< predicted time of one execution, without transfers to and from the host
  std::uint64_t workspace_bytes = 0;  ///< what the plan will ask for
};

/// The offers of one algorithm for one problem.
class OfferList {
 public:
  OfferList() = default;
  /// One that keeps the cheapest offer alone, the first of equals, where `only_cheapest`.
  explicit OfferList(bool only_cheapest) : only_cheapest_(only_cheapest) {}

  /// Whether an algorithm may save itself the trouble to add any but its cheapest offer.
  bool only_cheapest() const { return only_cheapest_; }

  void add(Offer offer) {
    if (!std::isfinite(offer.seconds))
      throw Error(TESSERA_INTERNAL, "an offer" + offer.parameters.text() + " whose time is not a finite number");
    if (!only_cheapest_ || offers_.empty())
      offers_.push_back(std::move(offer));
    else if (offer.seconds < offers_.front().seconds)
      offers_.front() = std::move(offer);
  }

  bool empty() const { return offers_.empty(); }
  const std::vector<Offer>& all() const { return offers_; }
  std::vector<Offer>& all() { return offers_; }

  /// The one of the least time, the first of equals; there must be one.
  const Offer& cheapest() const {
    return *std::min_element(offers_.begin(), offers_.end(),
                             [](const Offer& a, const Offer& b) { return a.seconds < b.seconds; });
  }

 private:
  std::vector<Offer> offers_;
  bool only_cheapest_ = false;
};

}  // namespace tessera::plugin
