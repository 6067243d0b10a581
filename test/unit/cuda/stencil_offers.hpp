// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's stencil algorithms as the choice sees them, on the device that their costs were measured on.
#pragma once

#include "../cheapest_offers.hpp"
#include "../problems.hpp"

#include <persistent/persistent.hpp>
#include <register_tile/register_tile.hpp>
#include <stencil/offers.hpp>
#include <temporal/temporal.hpp>
#include <tile/tile.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

inline const cuda::Machine& h100() {
  static const cuda::Machine machine = cuda::machine_of(cuda::kH100);
  return machine;
}

/// The algorithms without their kernels, in the order of their ranks.
struct StencilChoice {
  using Machine = cuda::Machine;
};
inline constexpr plugin::Features kAll{.narrow = true, .ordered = true};
inline constexpr plugin::Algorithm<StencilChoice, plugin::StencilProblem> kStencilAlgorithms[] = {
    {"streaming", cuda::why_not_streaming, cuda::offer_streaming, nullptr, kAll},
    {"marching", cuda::why_not_marching, cuda::offer_marching, nullptr, {}},
    {"temporal", cuda::why_not_temporal, cuda::offer_temporal, nullptr, kAll},
    {"persistent", cuda::why_not_persistent, cuda::offer_persistent, nullptr, kAll},
    {"register_tile", cuda::why_not_register_tile, cuda::offer_register_tile, nullptr, {.ordered = true}},
    {"dense", cuda::why_not_dense, cuda::offer_dense, nullptr, kAll},
    {"separable", cuda::why_not_separable, cuda::offer_separable, nullptr, {.narrow = true}},
    {"restrict", plugin::supports_all, cuda::offer_direct, nullptr, kAll},
    {"shared_constant", cuda::why_no_tile, cuda::offer_shared_constant, nullptr, kAll},
    {"shared_ldg", cuda::why_no_tile, cuda::offer_shared_ldg, nullptr, kAll},
    {"naive", plugin::supports_all, cuda::offer_direct, nullptr, kAll}};

/// The offers of an algorithm; none where it does not support the problem.
inline plugin::OfferList offers(std::string_view name, const plugin::StencilProblem& problem,
                                const plugin::GivenParameters& parameters = {}, const cuda::Machine& machine = h100()) {
  plugin::OfferList list;
  for (const auto& algorithm : kStencilAlgorithms)
    if (algorithm.name == name && algorithm.why_not(problem, machine).empty())
      algorithm.offers(problem, machine, parameters, 0, list);
  return list;
}

inline std::vector<plugin::Offer> all_offers(std::string_view name, const plugin::StencilProblem& problem,
                                             const plugin::GivenParameters& parameters = {}) {
  return offers(name, problem, parameters).all();
}

/// The algorithm that is chosen.
inline std::string choice(const plugin::StencilProblem& problem) {
  return cheapest_offers(kStencilAlgorithms, problem, h100(), 0).front().algorithm;
}

}  // namespace tessera::test
