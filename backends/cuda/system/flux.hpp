// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Diffusion in flux form: u + sum over the six neighbours n of w_n (k[p] + k[n]) (u[n] - u[p]).
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <optional>
#include <string>

namespace tessera::cuda {

/// A system of that kind.
struct FluxSystem {
  int u, k;             ///< fields
  double weight[3][2];  ///< by axis: of the lower and of the higher neighbour
};

/// The flux form of a system, or none with the reason why not.
std::optional<FluxSystem> flux_of(const plugin::SystemProblem& problem, std::string& why_not);

}  // namespace tessera::cuda
