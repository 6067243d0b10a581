// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm peeled takes a product apart: pure functions, without CUDA.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <vector>

namespace tessera::cuda {

/// The most rows or columns that are computed apart: such products read their large operand at the rate of memory.
inline constexpr std::int64_t kMostPeeled = 16;

/// The last rows and columns of C that are computed apart from the rest.
struct Peel {
  std::int64_t rows, columns;
};

/// A block of C: its own product, of some rows of op(A) and some columns of op(B), and how it is computed.
struct PeeledPart {
  std::int64_t first_row, first_column;
  plugin::GemmProblem problem;
  bool skinny;  ///< by that algorithm, else by multistage
  plugin::Offer offer;
};

/// Each part by its own cheapest offer within the limit; one part after the other uses the workspace.
std::vector<PeeledPart> peeled_parts(const plugin::GemmProblem& problem, const Machine& machine, const Peel& peel,
                                     std::uint64_t workspace_limit);

/// The most that a part takes.
std::uint64_t peeled_workspace(const std::vector<PeeledPart>& parts);

}  // namespace tessera::cuda
