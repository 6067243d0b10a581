// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "grid.hpp"

#include "model.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <numeric>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;

Grid cut(const plugin::GemmProblem& p, std::int64_t rows, std::int64_t columns, std::int64_t slices,
         TileAlignment alignment) {
  const std::int64_t m = std::min(p.m, round_up(ceil_div(p.m, rows), alignment.m));
  const std::int64_t n = std::min(p.n, round_up(ceil_div(p.n, columns), alignment.n));
  const std::int64_t k = std::max<std::int64_t>(1, ceil_div(p.k, slices));
  return {m, n, k, ceil_div(p.m, m), ceil_div(p.n, n), std::max<std::int64_t>(1, ceil_div(p.k, k))};
}

}  // namespace

// Among equals the one with the most rows: then each thread writes whole rows of C.
Grid choose_grid(const Machine& machine, const plugin::GemmProblem& p, std::int64_t parts, std::int64_t slices,
                 TileAlignment alignment) {
  const std::int64_t tiles = std::max<std::int64_t>(1, parts / slices);
  Grid best = cut(p, tiles, 1, slices, alignment);
  double least = grid_seconds(machine, p, best);
  for (std::int64_t rows = tiles - 1; rows > 0; --rows) {
    const Grid grid = cut(p, rows, tiles / rows, slices, alignment);
    if (const double seconds = grid_seconds(machine, p, grid); seconds < least) least = seconds, best = grid;
  }
  return best;
}

std::int64_t parts_per_product(std::int64_t batch, int threads) {
  return batch >= 8 * std::int64_t(threads) ? 1 : threads / std::gcd(batch, std::int64_t(threads));
}

}  // namespace tessera::cpu
