// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The parts of the streaming algorithm: which of them takes a list of taps, and their plans.
#pragma once

#include "../../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <memory>

namespace tessera::cuda {

/// For a list of TileShapes; nullptr for any other.
std::unique_ptr<plugin::Plan> make_streaming_tile(Context& context, const plugin::StencilProblem& problem);
/// For any list of up to kStreamingMostTaps taps.
std::unique_ptr<plugin::Plan> make_streaming_list(Context& context, const plugin::StencilProblem& problem);

}  // namespace tessera::cuda
