// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM algorithms support, and what they offer: pure functions of the problem and the machine, without CUDA.
/// Each algorithm's are in its <name>_offers.cpp.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <string>

namespace tessera::cuda {

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

}  // namespace tessera::cuda
