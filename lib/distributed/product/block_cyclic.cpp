// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "block_cyclic.hpp"

#include "check.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace tessera::distributed {
namespace {

using core::invalid;

std::string field(const char* matrix, const char* name) { return std::string(matrix) + "." + name; }

/// The end of the block that an index is in.
std::int64_t block_end(const Cut& cut, std::int64_t index) {
  const std::int64_t begin = index - index % cut.block;
  return cut.extent - begin <= cut.block ? cut.extent : begin + cut.block;
}

/// What the layouts ask for along one axis of the grid; 0 where they leave it open.
int wanted(const std::array<tessera_layout, 3>& layouts, std::int32_t tessera_layout::*of, const char* name) {
  int first = 0;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const int here = layouts[i].*of;
    core::at_least(field(kMatrixNames[i], name), here, 0);
    if (first != 0 && here != 0 && here != first)
      invalid(field(kMatrixNames[i], name), here,
              "another matrix has " + std::to_string(first) + "; the matrices of a product are on one grid");
    first = std::max(first, here);
  }
  return first;
}

}  // namespace

std::int64_t Cut::count(int place) const {
  const std::int64_t blocks = extent / block, turns = blocks / places, rest = blocks % places;
  const std::int64_t turn = (places + place - source) % places;
  const std::int64_t last = turn < rest ? block : turn == rest ? extent % block : 0;
  return turns * block + last;
}

Cut make_cut(std::int64_t extent, std::int64_t block, int places, int source) {
  if (places == 1 || block > extent) block = extent;
  if (block == 0) block = extent / places + (extent % places != 0);
  return {extent, std::max<std::int64_t>(block, 1), places, source};
}

Grid choose_grid(const std::array<tessera_layout, 3>& layouts, int ranks, std::int64_t m, std::int64_t n) {
  const int rows = wanted(layouts, &tessera_layout::grid_rows, "grid_rows");
  const int columns = wanted(layouts, &tessera_layout::grid_columns, "grid_columns");
  double least = std::numeric_limits<double>::infinity();
  Grid grid;
  for (int p = ranks; p >= 1; --p) {
    if (ranks % p != 0 || (rows != 0 && rows != p) || (columns != 0 && columns != ranks / p)) continue;
    // Elements of A and of B that a rank gets from others, for each of k.
    const int q = ranks / p;
    const double received = double(m) / p * (1.0 - 1.0 / q) + double(n) / q * (1.0 - 1.0 / p);
    if (received < least) least = received, grid = {p, q, q, 1, 0};
  }
  if (least == std::numeric_limits<double>::infinity())
    invalid("grid_rows x grid_columns", std::to_string(rows) + " x " + std::to_string(columns),
            "must be a grid of " + std::to_string(ranks) + " ranks; 0 lets the library choose");
  return grid;
}

Spread make_spread(const tessera_layout& layout, const char* name, std::int64_t rows, std::int64_t columns,
                   const Grid& grid, bool by_columns) {
  core::at_least(field(name, "block_rows"), layout.block_rows, 0);
  core::at_least(field(name, "block_columns"), layout.block_columns, 0);
  const auto check_source = [&](const char* which, int source, int places) {
    if (source < 0 || source >= places)
      invalid(field(name, which), source, "must lie in [0, " + std::to_string(places) + "), the grid");
  };
  check_source("source_row", layout.source_row, grid.rows);
  check_source("source_column", layout.source_column, grid.columns);
  return {make_cut(rows, layout.block_rows, grid.rows, layout.source_row),
          make_cut(columns, layout.block_columns, grid.columns, layout.source_column), grid, by_columns};
}

std::vector<Run> common_runs(const Cut& from, int from_place, const Cut& to, int to_place) {
  std::vector<Run> runs;
  for (std::int64_t index = 0; index < from.extent;) {
    const std::int64_t block = block_end(from, index), end = std::min(block, block_end(to, index));
    if (from.owner(index) != from_place) {
      index = block;
      continue;
    }
    if (to.owner(index) == to_place) {
      const Run run{from.local(index), to.local(index), end - index};
      if (!runs.empty() && runs.back().from + runs.back().length == run.from &&
          runs.back().to + runs.back().length == run.to)
        runs.back().length += run.length;
      else
        runs.push_back(run);
    }
    index = end;
  }
  return runs;
}

std::vector<Range> panels_of(const Cut& a_columns, const Cut& b_rows, std::int64_t widest) {
  std::vector<Range> panels;
  for (std::int64_t first = 0; first < a_columns.extent; first = panels.back().end)
    panels.push_back({first, std::min({block_end(a_columns, first), block_end(b_rows, first), first + widest})});
  return panels;
}

}  // namespace tessera::distributed
