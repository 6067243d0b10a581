// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How naive and restrict lay out a problem, and how long they take: pure functions, without CUDA.
#pragma once

#include "../sweep_model.hpp"

#include <array>

namespace tessera::cuda {

inline constexpr int kDirectThreads = 256;

/// The threads of a block on axes 0 to 2: 64 x 4, or the nearest to that where the domain is narrow.
std::array<unsigned, plugin::kAxes> direct_block(const plugin::StencilProblem& problem);

/// The two algorithms take equally long; so the first in the list wins.
void offer_direct(const plugin::StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
                  std::uint64_t workspace_limit, plugin::OfferList& offers);

}  // namespace tessera::cuda
