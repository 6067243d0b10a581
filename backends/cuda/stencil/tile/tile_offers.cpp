// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tile.hpp"

#include "../../launch_limits.hpp"
#include "../box_layout.hpp"
#include "constant_bank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// More threads than these on a multiprocessor hide no more latency.
constexpr double kEnoughThreads = 1536.0;
constexpr int kMostBlocks = 32;         ///< of a multiprocessor
constexpr std::size_t kMostOffers = 8;  ///< tiles that are worth a try

/// The part of the tiles that read across the boundary.
double boundary_share(const StencilProblem& p, const Tile& tile) {
  double plain = 1.0;
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    const std::int64_t extent = tile.extent[axis];
    const std::int64_t first = plugin::ceil_div(p.domain.plain_begin(axis), extent),
                       end = p.domain.plain_end(axis) / extent;
    const double all = double(plugin::ceil_div(p.domain.extents[axis], extent));
    plain *= all > 0.0 ? double(std::max<std::int64_t>(end - first, 0)) / all : 1.0;
  }
  return 1.0 - plain;
}

/// Seconds of a sweep. Rows of a tile begin and end inside 32-byte sectors, so one sector more than their length moves.
/// Few threads leave a multiprocessor idle while they wait for memory, and few tiles leave multiprocessors idle. The
/// sweep waits for a tile at the boundary, whose threads load one cell after another.
double sweep_seconds(const StencilProblem& p, const Machine& machine, const CellCosts& cell, const Tile& tile) {
  const TileCosts& costs = machine.stencil.tile;
  const double arithmetic = cuda::arithmetic(p, machine);
  const double tiles = double(tile.count(p)), size = double(plugin::size_of(p.dtype));
  const double cells = double(tile.cells[0]) * tile.cells[1] * (tile.cells[2] + 32.0 / size);
  const double boundary = boundary_share(p, tile);
  const double loads = cell.cell * (p.rank == 1 ? costs.line : 1.0) * cells * (1.0 + (cell.boundary - 1.0) * boundary);
  const double sums = tile.points() * (costs.point + arithmetic * costs.tap * double(p.taps.size()));
  const int blocks = std::max(1, std::min({machine.threads_per_multiprocessor / tile.threads(), kMostBlocks,
                                           int(machine.shared_per_multiprocessor / (tile.bytes + kReservedBytes))}));
  const double busy = std::min(1.0, blocks * tile.threads() / kEnoughThreads);
  const double filled = std::min(1.0, std::max(1.0, tiles) / machine.multiprocessors);
  const double latency = boundary > 0.0 ? arithmetic * costs.latency * cells / tile.threads() : 0.0;
  return seconds_of({.memory = copy_seconds(p, machine),
                     .computing = all_cycles(machine, tiles * (loads + sums) / (busy * filled)),
                     .overlap = costs.overlap,
                     .wait = latency / machine.clock_hz},
                    machine);
}

template <class Visit>
void for_each_shape(Visit&& visit) {
  for (int points = kMinTilePoints; points <= kMaxTilePoints; points *= 2)
    for (int z = 1; z <= points; z *= 2)
      for (int y = 1; z * y <= points; y *= 2) visit({z, y, points / (z * y)});
}

double halo_bytes(const StencilProblem& problem, const int (&extent)[3]) {
  double cells = 1.0;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    cells *= double(extent[axis]) + double(problem.domain.reach[axis][0]) + double(problem.domain.reach[axis][1]);
  return cells * value_bytes(problem.dtype);
}

/// The extents that the caller allows on each axis. Axes that the domain does not have take one point.
std::vector<std::int64_t> allowed_extents(const StencilProblem& p, const plugin::GivenParameters& given, int axis) {
  constexpr std::int64_t kExtents[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  if (axis < plugin::kAxes - p.rank) return {1};
  return given.one_of(kTileKeys[axis], kExtents);
}

}  // namespace

std::int64_t Tile::count(const StencilProblem& problem) const {
  std::int64_t tiles = 1;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    tiles *= plugin::ceil_div(problem.domain.extents[axis], extent[axis]);
  return tiles;
}

std::optional<Tile> make_tile(const StencilProblem& problem, const Machine& machine, const int (&extent)[3]) {
  const double bytes = halo_bytes(problem, extent), size = value_bytes(problem.dtype);
  if (bytes > machine.shared_per_block || bytes > double(kMaxTileCells) * size) return std::nullopt;
  Tile tile{{extent[0], extent[1], extent[2]}, {}, std::int64_t(bytes)};
  if (tile.points() < kMinTilePoints || tile.points() > kMaxTilePoints) return std::nullopt;
  for (int axis = 0; axis < plugin::kAxes; ++axis)
    tile.cells[axis] = int(extent[axis] + problem.domain.reach[axis][0] + problem.domain.reach[axis][1]);
  if (tile.count(problem) > kMaxGridX) return std::nullopt;
  return tile;
}

std::vector<TimedTile> fastest_tiles(const StencilProblem& problem, const Machine& machine, const CellCosts& costs,
                                     const plugin::GivenParameters& given) {
  std::vector<TimedTile> tiles;
  const auto extents = [&](int axis) { return allowed_extents(problem, given, axis); };
  const auto z_extents = extents(0), y_extents = extents(1), x_extents = extents(2);
  for (const std::int64_t z : z_extents)
    for (const std::int64_t y : y_extents)
      for (const std::int64_t x : x_extents)
        if (const auto tile = make_tile(problem, machine, {int(z), int(y), int(x)}))
          tiles.push_back({*tile, sweep_seconds(problem, machine, costs, *tile)});
  if (tiles.empty())
    throw plugin::Error(TESSERA_INVALID_ARGUMENT,
                        "no tile of the given extents: it must have " + std::to_string(kMinTilePoints) + " to " +
                            std::to_string(kMaxTilePoints) + " points and fit, with its halo, into " +
                            std::to_string(machine.shared_per_block) + " bytes of shared memory");
  const auto most = std::min(tiles.size(), kMostOffers);
  std::ranges::partial_sort(tiles, tiles.begin() + std::ptrdiff_t(most), {}, &TimedTile::seconds);
  tiles.resize(most);
  return tiles;
}

std::string why_no_tile(const StencilProblem& problem, const Machine& machine) {
  bool fits = false;
  double least = std::numeric_limits<double>::infinity();
  for_each_shape([&](const int(&extent)[3]) {
    fits = fits || make_tile(problem, machine, extent).has_value();
    least = std::min(least, halo_bytes(problem, extent));
  });
  if (fits) return {};
  return "the smallest tile of " + std::to_string(kMinTilePoints) + " points takes " +
         std::to_string(std::uint64_t(std::min(least, 1e18))) +
         " bytes of shared memory with the halo of these taps; a block of this device has " +
         std::to_string(machine.shared_per_block);
}

Tile tile_of(const StencilProblem& problem, const Machine& machine, const plugin::Parameters& parameters) {
  int extent[plugin::kAxes] = {1, 1, 1};
  for (int axis = plugin::kAxes - problem.rank; axis < plugin::kAxes; ++axis)
    extent[axis] = int(parameters.at(kTileKeys[axis]));
  return make_tile(problem, machine, extent).value();
}

void offer_shared_ldg(const StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
                      std::uint64_t, plugin::OfferList& offers) {
  const CellCosts& costs = machine.stencil.tile.ldg;
  for (const auto& [tile, seconds] : fastest_tiles(problem, machine, costs, given))
    offer_sweeps(problem, parameters_of(problem, tile), seconds, offers);
}

/// Taps that cannot have a place in the bank are read from device memory, as by shared_ldg.
void offer_shared_constant(const StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
                           std::uint64_t, plugin::OfferList& offers) {
  const TileCosts& all = machine.stencil.tile;
  const std::int64_t bank = given.in_range("bank", kBankIfRoom, kBankNever, kBankIfRoom);
  const std::size_t bytes = problem.taps.size() * (std::size_t(value_bytes(problem.dtype)) + sizeof(int));
  const CellCosts& costs = bank == kBankNever || bytes > kConstantBankBytes ? all.ldg : all.constant;
  for (const auto& [tile, seconds] : fastest_tiles(problem, machine, costs, given))
    offer_sweeps(problem, parameters_of(problem, tile, plugin::Parameters::Entry{"bank", bank}), seconds, offers);
}

}  // namespace tessera::cuda
