// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM algorithms support, and what they offer: pure functions of the problem and the machine, without CUDA.
/// Each algorithm's are in its <name>_offers.cpp, those of naive and tiled_shared in square_offers.cpp.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cuda {

/// Bytes of a sum, which is what alpha and beta are.
inline std::uint64_t size_of_sums(const plugin::GemmProblem& p) {
  return plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return sizeof(plugin::Scalar<T>); });
}

/// Elements of a row of the sums of a slice of k that another kernel adds: rows stay aligned to 16 bytes.
inline std::int64_t partial_ld(std::int64_t n) { return plugin::round_up(n, 4); }

/// Bytes of them.
inline std::uint64_t slice_bytes(const plugin::GemmProblem& p) {
  return std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(partial_ld(p.n)) * size_of_sums(p);
}

/// Leaves the tiles whose extent is the given one, if one is given.
template <class Tile, class Extent>
void keep_given(const plugin::GivenParameters& given, const char* key, Extent extent, std::vector<Tile>& tiles) {
  std::set<std::int64_t> extents;
  for (const Tile& tile : tiles) extents.insert(std::invoke(extent, tile));
  const std::vector<std::int64_t> kept = given.one_of(key, std::vector<std::int64_t>(extents.begin(), extents.end()));
  std::erase_if(tiles, [&](const Tile& tile) { return std::ranges::count(kept, std::invoke(extent, tile)) == 0; });
}

/// The kinds of arithmetic that the problem permits, as values of tessera_compute: each permits strict, and f16x3 and
/// tf32 permit bf16x6.
inline std::vector<std::int64_t> permitted_arithmetic(const plugin::GemmProblem& p) {
  std::vector<std::int64_t> permitted{TESSERA_COMPUTE_STRICT};
  if (p.compute > TESSERA_COMPUTE_STRICT) permitted.push_back(TESSERA_COMPUTE_BF16X6);
  if (p.compute > TESSERA_COMPUTE_BF16X6) permitted.push_back(p.compute);
  return permitted;
}

/// Those of them that multistage has, and peeled.
inline std::span<const std::int64_t> multistage_arithmetic(const plugin::GemmProblem& p) {
  static constexpr std::array<std::int64_t, 2> kAll{TESSERA_COMPUTE_STRICT, TESSERA_COMPUTE_TF32};
  return std::span(kAll).first(p.compute == TESSERA_COMPUTE_TF32 ? 2 : 1);
}

/// Why a device is not of the kind whose instructions the warpgroups' kernels have; "" where it is.
inline std::string why_not_hopper(const Machine& machine) {
  if (machine.major == 9 && machine.minor == 0) return {};
  return "it is for compute capability 9.0, the device has " + std::to_string(machine.major) + "." +
         std::to_string(machine.minor);
}

/// A configuration and its time: cheaper to sort than an offer.
template <class Config>
struct Priced {
  Config config;
  double seconds;
};

/// Leaves those that are worth a try, the cheapest first.
template <class Config>
void keep_cheapest(std::vector<Priced<Config>>& found, const plugin::OfferList& offers) {
  const std::size_t most = std::min<std::size_t>(found.size(), offers.only_cheapest() ? 1 : 32);
  if (most == 1)
    std::iter_swap(found.begin(), std::ranges::min_element(found, {}, &Priced<Config>::seconds));
  else
    std::ranges::stable_sort(found, {}, &Priced<Config>::seconds);
  found.erase(found.begin() + std::ptrdiff_t(most), found.end());
}

/// Why an algorithm cannot compute a product; "" where it can.
using GemmWhyUnsupported = std::string(const plugin::GemmProblem&, const Machine&);
GemmWhyUnsupported chains_why_unsupported, elementwise_why_unsupported, multistage_why_unsupported,
    peeled_why_unsupported, skinny_parts_why_unsupported, skinny_why_unsupported, small_why_unsupported,
    warpgroup_why_unsupported, warpgroup_f32_why_unsupported;

/// What it offers.
using GemmOffers = void(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                        std::uint64_t workspace_limit, plugin::OfferList&);
GemmOffers chains_offers, elementwise_offers, multistage_offers, naive_offers, peeled_offers, skinny_offers,
    skinny_parts_offers, small_offers, tiled_shared_offers, warpgroup_offers, warpgroup_f32_offers;

}  // namespace tessera::cuda
