// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM algorithms support, and what they offer: pure functions of the problem and the machine, without CUDA.
/// Each algorithm's are in its <name>_offers.cpp.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
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

std::string multistage_why_unsupported(const plugin::GemmProblem&, const Machine&);
void multistage_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                       std::uint64_t workspace_limit, plugin::OfferList&);

void naive_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                  std::uint64_t workspace_limit, plugin::OfferList&);

std::string peeled_why_unsupported(const plugin::GemmProblem&, const Machine&);
void peeled_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                   std::uint64_t workspace_limit, plugin::OfferList&);

std::string skinny_why_unsupported(const plugin::GemmProblem&, const Machine&);
void skinny_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                   std::uint64_t workspace_limit, plugin::OfferList&);

std::string small_why_unsupported(const plugin::GemmProblem&, const Machine&);
void small_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                  std::uint64_t workspace_limit, plugin::OfferList&);

void tiled_shared_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                         std::uint64_t workspace_limit, plugin::OfferList&);

std::string warpgroup_why_unsupported(const plugin::GemmProblem&, const Machine&);
void warpgroup_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                      std::uint64_t workspace_limit, plugin::OfferList&);

std::string warpgroup_f32_why_unsupported(const plugin::GemmProblem&, const Machine&);
void warpgroup_f32_offers(const plugin::GemmProblem&, const Machine&, const plugin::GivenParameters&,
                          std::uint64_t workspace_limit, plugin::OfferList&);

}  // namespace tessera::cuda
