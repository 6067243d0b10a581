// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the streaming algorithm supports, and how long it takes: pure functions, without CUDA.
#pragma once

#include "../sweep_model.hpp"

#include <string>

namespace tessera::cuda {

/// The most taps of a list that is none of the shapes.
inline constexpr int kStreamingMostTaps = 128;

std::string why_not_streaming(const plugin::StencilProblem& problem, const Machine& machine);

void offer_streaming(const plugin::StencilProblem& problem, const Machine& machine,
                     const plugin::GivenParameters& given, std::uint64_t workspace_limit, plugin::OfferList& offers);

}  // namespace tessera::cuda
