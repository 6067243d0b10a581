// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's stencil algorithms as the choice sees them, on the device that their costs were measured on.
#pragma once

#include <tessera/plugin/algorithm.hpp>

#include <direct/direct_offers.hpp>
#include <persistent/persistent.hpp>
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
};

/// In the order of their ranks.
inline constexpr StencilAlgorithm kStencilAlgorithms[] = {
    {"streaming", cuda::why_not_streaming, cuda::offer_streaming},
    {"temporal", cuda::why_not_temporal, cuda::offer_temporal},
    {"persistent", cuda::why_not_persistent, cuda::offer_persistent},
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

/// The offers of an algorithm; none where it does not support the problem.
inline plugin::OfferList offers(std::string_view name, const plugin::StencilProblem& problem,
                                const plugin::GivenParameters& parameters = {}, const cuda::Machine& machine = h100()) {
  plugin::OfferList list;
  for (const StencilAlgorithm& algorithm : kStencilAlgorithms)
    if (algorithm.name == name && algorithm.why_unsupported(problem, machine).empty())
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

/// A packed domain with the same boundary mode on all sides.
inline plugin::StencilProblem packed_problem(tessera_dtype dtype, const std::vector<std::int64_t>& extents,
                                             std::vector<tessera_tap> taps, tessera_boundary mode,
                                             std::int64_t steps = 1) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.rank = std::int32_t(extents.size());
  desc.steps = steps;
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) {
    desc.extents[axis] = extents[axis];
    desc.in_strides[axis] = desc.out_strides[axis] = stride;
    desc.boundary[axis][0] = desc.boundary[axis][1] = mode;
  }
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

/// All offsets within the radius, or those on the axes.
inline std::vector<tessera_tap> neighbours(int rank, int radius, bool box) {
  std::vector<tessera_tap> taps;
  const std::int64_t r = radius, r1 = rank > 1 ? r : 0, r2 = rank > 2 ? r : 0;
  for (std::int64_t i = -r; i <= r; ++i)
    for (std::int64_t j = -r1; j <= r1; ++j)
      for (std::int64_t l = -r2; l <= r2; ++l)
        if (box || (i != 0) + (j != 0) + (l != 0) <= 1) taps.push_back({{i, j, l}, 0.1});
  return taps;
}

}  // namespace tessera::test
