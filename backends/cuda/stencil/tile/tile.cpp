// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tile.hpp"

#include "../../launch_limits.hpp"

#include <algorithm>
#include <limits>

namespace tessera::cuda {
namespace {

/// Shared memory that the system takes of every block.
constexpr int kReservedBytes = 1024;
/// More threads than these on a multiprocessor hide no more latency.
constexpr double kEnoughThreads = 1536.0;
/// Work of one tap of a point, in units of fetching one cell of the tile.
constexpr double kTapCost = 0.15;

/// Predicted time of a sweep, in arbitrary units.
double cost(const plugin::StencilProblem& problem, const DeviceLimits& limits, const Tile& tile) {
  const double tiles = std::max(1.0, double(tile.count(problem)));  // an empty domain takes any tile
  // Rows of the tile begin and end inside 32-byte sectors: one more than their length is moved.
  const double row = tile.cells[2] + 32.0 / double(plugin::size_of(problem.dtype));
  const double work =
      double(tile.cells[0]) * tile.cells[1] * row + tile.points() * (1.0 + kTapCost * double(problem.taps.size()));
  const int blocks = std::max(1, std::min(limits.threads_per_multiprocessor / tile.threads(),
                                          int(limits.shared_per_multiprocessor / (tile.bytes + kReservedBytes))));
  const double busy = std::min(1.0, std::min(32, blocks) * tile.threads() / kEnoughThreads);
  const double filled = std::min(1.0, tiles / limits.multiprocessors);
  return tiles * work / (busy * filled);
}

template <class Visit>
void for_each_shape(Visit&& visit) {
  for (int points = kMinTilePoints; points <= kMaxTilePoints; points *= 2)
    for (int z = 1; z <= points; z *= 2)
      for (int y = 1; z * y <= points; y *= 2) visit({z, y, points / (z * y)});
}

double halo_bytes(const plugin::StencilProblem& problem, const int (&extent)[3]) {
  double cells = 1.0;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    cells *= double(extent[axis]) + double(problem.domain.reach[axis][0]) + double(problem.domain.reach[axis][1]);
  return cells * double(plugin::size_of(problem.dtype));
}

}  // namespace

std::int64_t Tile::count(const plugin::StencilProblem& problem) const {
  std::int64_t tiles = 1;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    tiles *= plugin::ceil_div(problem.domain.extents[axis], extent[axis]);
  return tiles;
}

std::optional<Tile> make_tile(const plugin::StencilProblem& problem, const DeviceLimits& limits,
                              const int (&extent)[3]) {
  const double bytes = halo_bytes(problem, extent);
  if (bytes > limits.shared_per_block || bytes > double(kMaxTileCells) * double(plugin::size_of(problem.dtype)))
    return std::nullopt;
  Tile tile{{extent[0], extent[1], extent[2]}, {}, std::int64_t(bytes)};
  if (tile.points() < kMinTilePoints || tile.points() > kMaxTilePoints) return std::nullopt;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    tile.cells[axis] = int(extent[axis] + problem.domain.reach[axis][0] + problem.domain.reach[axis][1]);
  if (tile.count(problem) > kMaxGridX) return std::nullopt;
  return tile;
}

std::optional<Tile> choose_tile(const plugin::StencilProblem& problem, const DeviceLimits& limits) {
  std::optional<Tile> best;
  double best_cost = std::numeric_limits<double>::infinity();
  for_each_shape([&](const int(&extent)[3]) {
    const auto tile = make_tile(problem, limits, extent);
    if (!tile) return;
    if (const double predicted = cost(problem, limits, *tile); predicted < best_cost) {
      best = tile;
      best_cost = predicted;
    }
  });
  return best;
}

std::string why_no_tile(const plugin::StencilProblem& problem, int device) {
  const DeviceLimits limits = device_limits(device);
  if (choose_tile(problem, limits)) return {};
  double least = std::numeric_limits<double>::infinity();
  for_each_shape([&](const int(&extent)[3]) { least = std::min(least, halo_bytes(problem, extent)); });
  return "the smallest tile of " + std::to_string(kMinTilePoints) + " points takes " +
         std::to_string(std::uint64_t(std::min(least, 1e18))) +
         " bytes of shared memory with the halo of these taps; a block of this device has " +
         std::to_string(limits.shared_per_block);
}

}  // namespace tessera::cuda
