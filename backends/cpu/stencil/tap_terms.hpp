// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps that are sums of a few products of factors, which separable sums take.
#pragma once

#include <tessera/plugin/tap_factors.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::cpu {

/// Taps are the sum of the terms, each of which is a product of its factors of each axis.
struct TapTerms {
  using Factors = std::array<std::vector<double>, plugin::kAxes>;
  plugin::TapBox box;
  std::vector<Factors> terms;
  int last;  ///< the axis that is summed last

  std::int64_t count() const { return std::int64_t(terms.size()); }
};

/// Those of a problem, if it may be summed in any order: one term as plugin::tap_factors() finds it, or up to four for
/// taps in a plane. With several, too, sums keep the bound of the error of dense ones, point by point: a term's
/// products may be larger than the taps, so this leaves out taps that are differences of much larger numbers. Taps that
/// are whole multiples of a number, whose dense sums of integers are exact, are not split.
std::optional<TapTerms> tap_terms(const plugin::StencilProblem& problem);

}  // namespace tessera::cpu
