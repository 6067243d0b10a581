// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plans of "register_tile", by type.
#pragma once

#include "../../context.hpp"

#include <tessera/plugin/plugin.hpp>

#include <memory>

namespace tessera::cuda {

/// With so many rows a thread.
template <class T>
std::unique_ptr<plugin::Plan> make_register_tile(Context& context, const plugin::StencilProblem& problem, int rows);

}  // namespace tessera::cuda
