// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "grid.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;

/// Reading and packing an element of A or B, or adding up a partial result, in multiply-adds.
constexpr double kTouch = 16.0;

Grid cut(const plugin::GemmProblem& p, std::int64_t rows, std::int64_t columns, std::int64_t slices,
         const GridLimits& limits) {
  const std::int64_t m = std::min(p.m, round_up(ceil_div(p.m, rows), limits.align_m));
  const std::int64_t n = std::min(p.n, round_up(ceil_div(p.n, columns), limits.align_n));
  const std::int64_t k = std::max<std::int64_t>(1, ceil_div(p.k, slices));
  return {m, n, k, ceil_div(p.m, m), ceil_div(p.n, n), std::max<std::int64_t>(1, ceil_div(p.k, k))};
}

/// Of a whole unit, in multiply-adds.
double cost(const Grid& g) {
  const double m = double(g.tile_m), n = double(g.tile_n), k = double(g.slice_k);
  return m * n * k + kTouch * ((m + n) * k + (g.slices > 1 ? 2.0 * m * n : 0.0));
}

}  // namespace

// Among equals the one with the most rows: each thread streams whole rows of C.
Grid choose_grid(const plugin::GemmProblem& p, std::int64_t parts, const GridLimits& limits) {
  Grid best = cut(p, 1, 1, 1, limits);
  for (std::int64_t slices = 1; slices <= std::min(parts, limits.most_slices); ++slices)
    for (std::int64_t rows = parts / slices; rows > 0; --rows) {
      const Grid grid = cut(p, rows, parts / slices / rows, slices, limits);
      if (cost(grid) < cost(best)) best = grid;
    }
  return best;
}

std::int64_t parts_per_product(std::int64_t batch, int threads) {
  return batch >= 8 * std::int64_t(threads) ? 1 : threads / std::gcd(batch, std::int64_t(threads));
}

}  // namespace tessera::cpu
