// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Filters that are products of a factor for each axis, at the rate of memory.

#include "separable.hpp"

#include "../../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <type_traits>

namespace tessera::cuda {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    return make_separable<T>(context, problem, parameters.at("segment"));
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"separable", why_not_separable, offer_separable, make, {.narrow = true}}, 4};

}  // namespace
}  // namespace tessera::cuda
