// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Dense filters and long lines of taps at the rate of the multiply-adds.

#include "dense.hpp"

#include "../../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <type_traits>

namespace tessera::cuda {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    return make_dense<T>(context, problem, int(parameters.at("warps")) * kDenseWarp);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"dense", why_not_dense, offer_dense, make, {.narrow = true, .ordered = true}}, 3};

}  // namespace
}  // namespace tessera::cuda
