// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small domains with fixed sides in a launch that is as short as can be.

#include "register_tile.hpp"
#include "register_tile_plan.hpp"

#include <type_traits>

namespace tessera::cuda {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return plugin::with_types<plugin::WideTypes>(problem.dtype, [&]<class T>(std::type_identity<T>) {
    return make_register_tile<T>(context, problem, int(parameters.at("rows")));
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"register_tile", why_not_register_tile, offer_register_tile, make, {.ordered = true}}, 2};

}  // namespace
}  // namespace tessera::cuda
