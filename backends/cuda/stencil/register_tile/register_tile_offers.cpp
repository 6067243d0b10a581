// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../launch_limits.hpp"
#include "register_tile.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

constexpr unsigned kWarp = 32, kWide = 64;  ///< threads of a block along rows

/// Whether the places of all points of an array of those strides are 32-bit numbers, and those of idle threads behind
/// it.
bool spans_few(const StencilProblem& p, const plugin::Index3& strides) {
  double span = 1.0;
  for (std::size_t axis = 0; axis < plugin::kAxes; ++axis)
    span += double(p.domain.extents[axis] - 1) * std::abs(double(strides[axis]));
  return span <= double(std::int64_t{1} << 30);
}

/// Loads of a thread.
template <class Shape, int kRows>
constexpr int loads_of_thread() {
  int loads = 0;
  for (int z = -Shape::reach(0); z <= Shape::reach(0); ++z)
    for (int y = -Shape::reach(1); y < kRows + Shape::reach(1); ++y)
      for (int x = -Shape::reach(2); x <= Shape::reach(2); ++x) loads += reads_point<Shape, kRows>(z, y, x);
  return loads;
}

int loads_of_thread(const StencilProblem& p, int rows) {
  int loads = 0;
  with_shape<double>(RegisterTileShapes{}, p, [&]<class Shape>(Shape, const auto&) {
    if constexpr (Shape::kRank == 1)
      loads = rows * Shape::kCount;
    else
      loads = rows == 1   ? loads_of_thread<Shape, 1>()
              : rows == 2 ? loads_of_thread<Shape, 2>()
                          : loads_of_thread<Shape, 4>();
  });
  return loads;
}

/// Times of a copy beside the fitted ones: in volumes that the second-level cache does not keep, it has lost some of
/// the planes that neighbours read again. Not fitted: 0.9 to 1.5 where an H100 was measured.
constexpr double kVolumes = 1.25;

/// A sweep waits for its launch, and then either for memory or for the multiprocessors, which load and add.
double sweep_seconds(const StencilProblem& p, const Machine& machine, int rows) {
  const RegisterTileCosts& costs = machine.stencil.register_tile;
  const RegisterTileGrid grid = register_tile_grid(p, rows);
  const double threads = double(grid.blocks[0]) * grid.blocks[1] * grid.blocks[2] * kRegisterTileThreads;
  const double loads = loads_of_thread(p, rows), taps = double(p.taps.size()) * rows;
  const double filled = std::min(1.0, threads / kRegisterTileThreads / machine.multiprocessors);
  const double work = all_cycles(
      machine, threads * (costs.thread + arithmetic(p, machine) * (costs.load * loads + costs.tap * taps)) / filled);
  const double again = p.rank == 3 ? 1.0 + (kVolumes - 1.0) * evicted_part(p, machine) : 1.0;
  return seconds_of({.launch = -costs.sooner,
                     .memory = costs.memory * again * copy_seconds(p, machine),
                     .computing = work,
                     .overlap = costs.overlap},
                    machine);
}

/// Rows a thread that are worth a try. In f64 four are slower than two by up to a fifth, unless they save loads.
std::vector<std::int64_t> worthwhile_rows(const StencilProblem& p) {
  constexpr int kTwo = 2, kFour = 4, kDoubleBytes = 8;
  const bool saves = loads_of_thread(p, kTwo) * kTwo - loads_of_thread(p, kFour) >= kFour;  // one a point
  std::vector<std::int64_t> rows;
  for (const int r : kRegisterTileRows)
    if (r != kFour || value_bytes(p.dtype) < kDoubleBytes || saves) rows.push_back(r);
  return rows;
}

}  // namespace

RegisterTileGrid register_tile_grid(const StencilProblem& p, int rows) {
  const auto& extents = p.domain.extents;
  const auto blocks = [](std::int64_t points, unsigned size) {
    return unsigned(plugin::ceil_div<std::int64_t>(points, size));
  };
  const unsigned all = kRegisterTileThreads;
  if (p.rank == 1) return {{1, 1, blocks(extents[2], all * unsigned(rows))}, {1, 1, all}};
  const unsigned x = blocks(extents[2], kWarp) % 2 == 0 ? kWide : kWarp, y = all / x;
  return {{unsigned(extents[0]), blocks(extents[1], y * unsigned(rows)), blocks(extents[2], x)}, {1, y, x}};
}

std::string why_not_register_tile(const StencilProblem& p, const Machine&) {
  bool has_kernel = false;
  with_shape<double>(RegisterTileShapes{}, p, [&](auto, const auto&) { has_kernel = true; });
  if (!has_kernel) return "takes stars of radius 1 to 4, and boxes of radius 1 in 2D and 3D, each tap once";
  if (!has_fixed_sides(p)) return "takes fixed sides";
  if (p.in_strides[2] != 1 || p.out_strides[2] != 1) return "takes rows of stride 1";
  for (const plugin::Index3& strides : {p.in_strides, p.out_strides, p.packed_strides()})
    if (!spans_few(p, strides)) return "takes arrays that span up to 2^30 elements";
  const RegisterTileGrid grid = register_tile_grid(p, 1);
  return std::max(grid.blocks[0], grid.blocks[1]) > unsigned(kMaxGridYz) ? "takes up to 65535 planes, of 262140 rows"
                                                                         : "";
}

void offer_register_tile(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                         std::uint64_t, plugin::OfferList& offers) {
  const std::vector<std::int64_t> all(std::begin(kRegisterTileRows), std::end(kRegisterTileRows));
  for (const std::int64_t rows : given.one_of("rows", worthwhile_rows(p), all))
    offer_sweeps(p, {{"rows", rows}}, sweep_seconds(p, machine, int(rows)), offers);
}

}  // namespace tessera::cuda
