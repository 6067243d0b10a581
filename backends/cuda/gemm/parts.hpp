// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Plans of the algorithms that others are put together from.
#pragma once

#include "../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <memory>

namespace tessera::cuda {

std::unique_ptr<plugin::Plan> make_multistage(Context&, const plugin::GemmProblem&, const plugin::Parameters&);
std::unique_ptr<plugin::Plan> make_skinny(Context&, const plugin::GemmProblem&, const plugin::Parameters&);

}  // namespace tessera::cuda
