// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One sweep at the rate of memory: which kernel takes which list of taps.
#include "streaming.hpp"

#include "../offers.hpp"

#include <type_traits>

namespace tessera::cuda {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem, const plugin::Parameters&) {
  std::unique_ptr<plugin::Plan> plan;
  with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    plan = problem.rank == 3 ? make_streaming_volume<T>(context, problem) : make_streaming_flat<T>(context, problem);
  });
  return plan ? std::move(plan) : make_streaming_list(context, problem);
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"streaming", why_not_streaming, offer_streaming, make, {.narrow = true, .ordered = true}}, 0};

}  // namespace
}  // namespace tessera::cuda
