// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One sweep at the rate of memory: which kernel takes which list of taps.
#include "streaming.hpp"

#include "streaming_offers.hpp"

namespace tessera::cuda {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem, const plugin::Parameters&) {
  if (auto plan = make_streaming_tile(context, problem)) return plan;
  return make_streaming_list(context, problem);
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"streaming", why_not_streaming, offer_streaming, make}, 0};

}  // namespace
}  // namespace tessera::cuda
