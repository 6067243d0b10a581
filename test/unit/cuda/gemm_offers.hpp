// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's GEMM algorithms as the choice sees them, on the device that their costs were measured on.
#pragma once

#include "../cheapest_offers.hpp"

#include <tessera/tessera.h>

#include <offers.hpp>

namespace tessera::test {

/// The limit of a plan's workspace; where other arithmetic than strict is permitted a quarter of the device's memory.
inline constexpr std::uint64_t kLimit = TESSERA_DEFAULT_WORKSPACE_LIMIT, kPartsLimit = std::uint64_t(20) << 30;
inline std::uint64_t limit_of(const plugin::GemmProblem& p) {
  return p.compute > TESSERA_COMPUTE_STRICT ? kPartsLimit : kLimit;
}

inline cuda::Machine h100() { return cuda::machine_of(cuda::kH100); }

/// The algorithms without their kernels, in the order of their ranks.
struct GemmChoice {
  using Machine = cuda::Machine;
};
inline constexpr plugin::Features kAll{.narrow = true, .epilogue = true, .aux = true};
inline constexpr plugin::Algorithm<GemmChoice, plugin::GemmProblem> kGemmAlgorithms[] = {
    {"elementwise", cuda::elementwise_why_unsupported, cuda::elementwise_offers, nullptr, kAll},
    {"multistage", cuda::multistage_why_unsupported, cuda::multistage_offers, nullptr, kAll},
    {"warpgroup", cuda::warpgroup_why_unsupported, cuda::warpgroup_offers, nullptr, kAll},
    {"warpgroup_f32", cuda::warpgroup_f32_why_unsupported, cuda::warpgroup_f32_offers, nullptr, kAll},
    {"peeled", cuda::peeled_why_unsupported, cuda::peeled_offers, nullptr, kAll},
    {"small", cuda::small_why_unsupported, cuda::small_offers, nullptr, kAll},
    {"skinny_parts", cuda::skinny_parts_why_unsupported, cuda::skinny_parts_offers, nullptr, kAll},
    {"chains", cuda::chains_why_unsupported, cuda::chains_offers, nullptr, {.epilogue = true, .aux = true}},
    {"skinny", cuda::skinny_why_unsupported, cuda::skinny_offers, nullptr, kAll},
    {"tiled_shared", plugin::supports_all, cuda::tiled_shared_offers, nullptr, kAll},
    {"naive", plugin::supports_all, cuda::naive_offers, nullptr, kAll}};

inline plugin::OfferList ask(cuda::GemmOffers* offers, const plugin::GemmProblem& p, const cuda::Machine& machine,
                             std::uint64_t limit = kLimit, const plugin::GivenParameters& given = {}) {
  plugin::OfferList list;
  offers(p, machine, given, limit, list);
  return list;
}

/// The algorithm of the automatic choice.
inline std::string choice(const plugin::GemmProblem& p, const cuda::Machine& machine) {
  return cheapest_offers(kGemmAlgorithms, p, machine, limit_of(p)).front().algorithm;
}

}  // namespace tessera::test
