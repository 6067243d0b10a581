// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The automatic choice of the stencil algorithm: a pure function, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <span>
#include <string_view>

namespace tessera::cuda {

/// Algorithms for one sweep in order of preference; the first that supports the problem is the choice.
std::span<const std::string_view> preferred_stencils(const plugin::StencilProblem& p);

}  // namespace tessera::cuda
