// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's stencil algorithms as the choice sees them, on the device that their costs were measured on.
#pragma once

#include "problems.hpp"

#include <tessera/plugin/algorithm.hpp>

#include <direct/direct_offers.hpp>
#include <marching_offers.hpp>
#include <persistent/persistent.hpp>
#include <register_tile/register_tile.hpp>
#include <streaming/streaming_offers.hpp>
#include <temporal/temporal.hpp>
#include <tile/tile.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

inline const cuda::Machine& h100() {
  static const cuda::Machine machine = cuda::machine_of(cuda::kH100);
  return machine;
}

struct StencilAlgorithm {
  std::string_view name;
  std::string (*why_unsupported)(const plugin::StencilProblem&, const cuda::Machine&);
  void (*offer)(const plugin::StencilProblem&, const cuda::Machine&, const plugin::GivenParameters&, std::uint64_t,
                plugin::OfferList&);
  bool narrow = true;  ///< whether it takes types of 16 bits
};

/// In the order of their ranks.
inline constexpr StencilAlgorithm kStencilAlgorithms[] = {
    {"streaming", cuda::why_not_streaming, cuda::offer_streaming},
    {"marching", cuda::why_not_marching, cuda::offer_marching, false},
    {"temporal", cuda::why_not_temporal, cuda::offer_temporal},
    {"persistent", cuda::why_not_persistent, cuda::offer_persistent},
    {"register_tile", cuda::why_not_register_tile, cuda::offer_register_tile, false},
    {"restrict", plugin::supports_all<plugin::StencilProblem, cuda::Machine>, cuda::offer_direct},
    {"shared_constant", cuda::why_no_tile, cuda::offer_shared_constant},
    {"shared_ldg", cuda::why_no_tile, cuda::offer_shared_ldg},
    {"naive", plugin::supports_all<plugin::StencilProblem, cuda::Machine>, cuda::offer_direct}};

inline plugin::GivenParameters given(std::initializer_list<plugin::Parameters::Entry> entries) {
  std::vector<tessera_parameter> parameters;
  for (const auto& entry : entries) {
    tessera_parameter one{};
    one.key = entry.key;
    one.value = entry.value;
    parameters.push_back(one);
  }
  return {parameters.data(), sizeof(tessera_parameter), parameters.size()};
}

inline bool is_narrow(tessera_dtype dtype) { return plugin::size_of(dtype) < sizeof(float); }

/// The offers of an algorithm; none where it does not support the problem.
inline plugin::OfferList offers(std::string_view name, const plugin::StencilProblem& problem,
                                const plugin::GivenParameters& parameters = {}, const cuda::Machine& machine = h100()) {
  plugin::OfferList list;
  for (const StencilAlgorithm& algorithm : kStencilAlgorithms)
    if (algorithm.name == name && (algorithm.narrow || !is_narrow(problem.dtype)) &&
        algorithm.why_unsupported(problem, machine).empty())
      algorithm.offer(problem, machine, parameters, 0, list);
  return list;
}

inline std::vector<plugin::Offer> all_offers(std::string_view name, const plugin::StencilProblem& problem,
                                             const plugin::GivenParameters& parameters = {}) {
  return offers(name, problem, parameters).all();
}

/// The algorithm that is chosen.
inline std::string_view choice(const plugin::StencilProblem& problem) {
  std::string_view best;
  double least = 0.0;
  for (const StencilAlgorithm& algorithm : kStencilAlgorithms) {
    const plugin::OfferList list = offers(algorithm.name, problem);
    if (list.empty() || (!best.empty() && list.cheapest().seconds >= least)) continue;
    best = algorithm.name;
    least = list.cheapest().seconds;
  }
  return best;
}

}  // namespace tessera::test
