// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One sweep at the rate of memory: which kernel takes which list of taps.
#include "streaming.hpp"

#include "../algorithms.hpp"

#include <string>

namespace tessera::cuda {
namespace {

std::string why_unsupported(const plugin::StencilProblem& problem, int) {
  if (problem.in_strides[2] != 1 || problem.out_strides[2] != 1)
    return "the strides of axis " + std::to_string(problem.rank - 1) + " are " + std::to_string(problem.in_strides[2]) +
           " (in) and " + std::to_string(problem.out_strides[2]) + " (out): they must be 1";
  if (problem.taps.size() <= std::size_t(kStreamingMostTaps)) return {};
  return std::to_string(problem.taps.size()) + " taps: at most " + std::to_string(kStreamingMostTaps);
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem, plugin::PlanOptions) {
  if (auto plan = make_streaming_tile(context, problem)) return plan;
  return make_streaming_list(context, problem);
}

}  // namespace

const StencilAlgorithm kStencilStreaming{"streaming", why_unsupported, make, 0.55};

}  // namespace tessera::cuda
