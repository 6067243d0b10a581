// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM algorithms support, and what they offer: pure functions of the problem and the machine, without CUDA.
/// Each algorithm's are in its <name>_offers.cpp.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace tessera::cuda {

/// Bytes of a sum, which is what alpha and beta are.
inline std::uint64_t size_of_sums(const plugin::GemmProblem& p) {
  return plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return sizeof(plugin::Scalar<T>); });
}

/// The kinds of arithmetic that the problem permits, as values of tessera_compute: what computes with tf32 may be
/// strict, too.
inline std::span<const std::int64_t> permitted_arithmetic(const plugin::GemmProblem& p) {
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

}  // namespace tessera::cuda
