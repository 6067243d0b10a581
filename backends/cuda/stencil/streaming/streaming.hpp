// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The parts of the streaming algorithm: which of them takes a list of taps, and their plans.
#pragma once

#include "../../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <memory>

namespace tessera::cuda {

/// For a list of FlatShapes; nullptr for any other.
template <class T>
std::unique_ptr<plugin::Plan> make_streaming_flat(Context& context, const plugin::StencilProblem& problem);
/// For a list of VolumeShapes; nullptr for any other.
template <class T>
std::unique_ptr<plugin::Plan> make_streaming_volume(Context& context, const plugin::StencilProblem& problem);
/// For any list of up to kStreamingMostTaps taps.
std::unique_ptr<plugin::Plan> make_streaming_list(Context& context, const plugin::StencilProblem& problem);

}  // namespace tessera::cuda
