// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's GEMM algorithms as the choice sees them, on the device that their costs were measured on.
#pragma once

#include <tessera/tessera.h>

#include <offers.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// The limit of a plan's workspace; where other arithmetic than strict is permitted a quarter of the device's memory.
inline constexpr std::uint64_t kLimit = TESSERA_DEFAULT_WORKSPACE_LIMIT, kPartsLimit = std::uint64_t(20) << 30;
inline std::uint64_t limit_of(const plugin::GemmProblem& p) {
  return p.compute > TESSERA_COMPUTE_STRICT ? kPartsLimit : kLimit;
}

inline cuda::Machine h100() { return cuda::machine_of(cuda::kH100); }

using GemmOffers = decltype(cuda::multistage_offers);

struct GemmAlgorithm {
  std::string name;
  std::string (*why_unsupported)(const plugin::GemmProblem&, const cuda::Machine&);
  GemmOffers* offers;
};

/// In the order of their ranks.
inline const GemmAlgorithm kGemmAlgorithms[] = {
    {"multistage", cuda::multistage_why_unsupported, cuda::multistage_offers},
    {"warpgroup", cuda::warpgroup_why_unsupported, cuda::warpgroup_offers},
    {"warpgroup_f32", cuda::warpgroup_f32_why_unsupported, cuda::warpgroup_f32_offers},
    {"peeled", cuda::peeled_why_unsupported, cuda::peeled_offers},
    {"small", cuda::small_why_unsupported, cuda::small_offers},
    {"skinny", cuda::skinny_why_unsupported, cuda::skinny_offers},
    {"tiled_shared", nullptr, cuda::tiled_shared_offers},
    {"naive", nullptr, cuda::naive_offers}};

inline bool supports(const GemmAlgorithm& a, const plugin::GemmProblem& p, const cuda::Machine& machine) {
  return a.why_unsupported == nullptr || a.why_unsupported(p, machine).empty();
}

inline plugin::OfferList ask(GemmOffers* offers, const plugin::GemmProblem& p, const cuda::Machine& machine,
                             std::uint64_t limit = kLimit, const plugin::GivenParameters& given = {}) {
  plugin::OfferList list;
  offers(p, machine, given, limit, list);
  return list;
}

/// Parameters that a caller fixed.
inline plugin::GivenParameters fix(const std::vector<std::pair<const char*, std::int64_t>>& values) {
  std::vector<tessera_parameter> list;
  for (const auto& [key, value] : values) list.push_back({key, value});
  return {list.data(), sizeof(tessera_parameter), list.size()};
}

/// The algorithm of the automatic choice, as the plugin's table makes it.
inline std::string choice(const plugin::GemmProblem& p, const cuda::Machine& machine) {
  std::string best;
  double least = std::numeric_limits<double>::infinity();
  for (const GemmAlgorithm& a : kGemmAlgorithms) {
    if (!supports(a, p, machine)) continue;
    const double seconds = ask(a.offers, p, machine, limit_of(p)).cheapest().seconds;
    if (seconds < least) best = a.name, least = seconds;
  }
  return best;
}

}  // namespace tessera::test
