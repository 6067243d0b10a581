// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How long products take: pure functions of the problem, the machine and the cut.
#pragma once

#include "../machine.hpp"
#include "blocks.hpp"
#include "grid.hpp"

#include <tessera/plugin/problem.hpp>

namespace tessera::cpu {

/// A product by blocks and panels: `packed`, and `direct`, which leaves A, and B where it is not transposed, in place.
/// Where the tiles are listed in the plan (tiles.hpp) nothing needs to be found out again for every unit.
double panels_seconds(const Machine& machine, const plugin::GemmProblem& problem, const Grid& grid,
                      const Blocks& blocks, Packing packing, int threads, bool listed = false);

/// Whether a unit of `eigen` goes to our own kernels: small ones, for which packing costs more than it saves. This also
/// avoids Eigen's path for m + n + k < 20, whose sums depend on the alignment of the operands.
bool is_small_for_eigen(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element);
double eigen_seconds(const Machine& machine, const plugin::GemmProblem& problem, const Grid& grid, int threads);

double reference_seconds(const Machine& machine, const plugin::GemmProblem& problem);

/// Of the largest unit: its volume and its edges, enough to compare grids.
double grid_seconds(const Machine& machine, const plugin::GemmProblem& problem, const Grid& grid);

}  // namespace tessera::cpu
