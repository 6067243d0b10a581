// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "multistage.hpp"

#include "../launch_limits.hpp"
#include "../vector_access.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::cuda {
namespace {

// Fitted to times on an H100, every tile and up to 128 slices, each weighed by the cube of its nearness to the shape's
// best and by what the choice then loses, the suite's shapes fourfold: f32 on 245 shapes, 180 of them random and 110 of
// these narrow, f64 on 171, 141 of them random; large squares were held to the largest tile (14 % mean error).
constexpr std::array kTiles32{MultistageTile{128, 128, 32, 2, 67584, 191.2e3, 173.9e3, 6.06},
                              MultistageTile{128, 64, 16, 4, 38400, 187.6e3, 142.0e3, 5.12},
                              MultistageTile{64, 128, 16, 4, 38400, 189.7e3, 158.5e3, 5.07},
                              MultistageTile{64, 64, 16, 5, 26112, 173.7e3, 153.8e3, 3.82},
                              MultistageTile{32, 64, 16, 8, 19968, 161.0e3, 148.6e3, 4.33},
                              MultistageTile{128, 16, 16, 7, 29184, 139.3e3, 77.5e3, 3.40},
                              MultistageTile{16, 128, 16, 7, 29184, 137.4e3, 85.7e3, 4.01},
                              MultistageTile{64, 16, 64, 5, 45056, 132.5e3, 43.1e3, 3.66, true},
                              MultistageTile{16, 64, 64, 5, 45056, 116.1e3, 45.0e3, 3.72, true}};
constexpr std::array kTiles64{MultistageTile{128, 128, 16, 1, 163840, 223.8e3, 223.8e3, 6.09},
                              MultistageTile{64, 128, 16, 2, 92160, 219.2e3, 215.5e3, 4.97},
                              MultistageTile{64, 64, 16, 3, 61440, 206.1e3, 155.2e3, 4.18},
                              MultistageTile{32, 32, 16, 7, 30720, 103.9e3, 45.7e3, 3.07}};

/// Times in microseconds, rates in bytes a microsecond.
struct Costs {
  double cluster, cluster_slice;              ///< to add sums in a cluster, and for each slice of it
  double second_kernel, second_kernel_slice;  ///< to add them with another kernel
  double partial_rate;                        ///< at which they are written and read
  double memory_rate;                         ///< at which A, B and C are, at best
  double latency;                             ///< a block waits so long for 32 of the depth, at least
  double cluster_slowdown;                    ///< of the products in clusters
  double copy;                                ///< of 16 bytes, or of one element where that is what can be copied
  double along_depth_copy;                    ///< of one element, as often, in a tile that is read along the depth
  double few_blocks;                          ///< of a multiprocessor's rate is lost with one block instead of all
};
constexpr Costs kCosts32{.cluster = 1.74,
                         .cluster_slice = 0.0799,
                         .second_kernel = 3.63,
                         .second_kernel_slice = 0.0414,
                         .partial_rate = 17.9e6,
                         .memory_rate = 3.05e6,
                         .latency = 0.779,
                         .cluster_slowdown = 1.031,
                         .copy = 2.32e-5,
                         .along_depth_copy = 2.88,
                         .few_blocks = 0.080};
constexpr Costs kCosts64{.cluster = 1.94,
                         .cluster_slice = 0.102,
                         .second_kernel = 4.02,
                         .second_kernel_slice = 0.0450,
                         .partial_rate = 7.69e6,
                         .memory_rate = 3.02e6,
                         .latency = 0.426,
                         .cluster_slowdown = 1.051,
                         .copy = 0.546e-5,
                         .along_depth_copy = 1.0,
                         .few_blocks = 0.083};

constexpr double kCacheRate = 6.1e6;  ///< bytes a microsecond from the second-level cache to all multiprocessors

/// The splits that are tried.
constexpr std::array<std::int64_t, 17> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

std::uint64_t slice_bytes(const plugin::GemmProblem& p) {
  return std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(multistage_partial_ld(p.n)) *
         plugin::size_of(p.dtype);
}

/// Blocks in clusters of so many that the device holds at once, of which a multiprocessor holds `resident`.
double held_at_once(const MultistageDevice& device, int resident, std::int64_t cluster) {
  if (!device.cluster_room) return double(resident) * device.multiprocessors;
  return double((*device.cluster_room)[std::size_t(resident - 1)][std::size_t(cluster - 1)]);
}

/// Of so many blocks that run at once: those of the busiest multiprocessor, but for a twentieth, for which the first
/// ones that end make room early.
int busiest(const MultistageDevice& device, int resident, std::int64_t cluster, double blocks) {
  constexpr double kBut = 1.05;
  int busy = 1;
  while (busy < resident && kBut * held_at_once(device, busy, cluster) < blocks) ++busy;
  return busy;
}

}  // namespace

std::vector<MultistageTile> multistage_tiles(const plugin::GemmProblem& p, const MultistageDevice& device) {
  constexpr int kNarrow = 16;
  std::vector<MultistageTile> tiles;
  for (const MultistageTile& tile : p.dtype == TESSERA_F64 ? std::span<const MultistageTile>(kTiles64) : kTiles32) {
    const bool narrow = std::min(tile.m, tile.n) <= kNarrow;
    const bool along_depth = narrow && (tile.m > tile.n ? !p.trans_a : p.trans_b);
    if (tile.shared_bytes <= device.shared_per_block && tile.along_depth == along_depth) tiles.push_back(tile);
  }
  return tiles;
}

bool multistage_uses_workspace(const MultistageDevice& device, std::int64_t split) {
  return split > (device.clusters ? kMultistageMostInCluster : 1);
}

std::uint64_t multistage_workspace(const plugin::GemmProblem& p, const MultistageDevice& device, std::int64_t split) {
  return multistage_uses_workspace(device, split) ? std::uint64_t(split) * slice_bytes(p) : 0;
}

std::int64_t most_slices(const plugin::GemmProblem& p, const MultistageDevice& device, std::uint64_t workspace_limit) {
  if (slice_bytes(p) == 0) return 1;  // C is empty
  const auto fit = std::int64_t(std::min(workspace_limit / slice_bytes(p), std::uint64_t(kMultistageMostSplit)));
  return std::max(fit, device.clusters ? kMultistageMostInCluster : 1);
}

bool multistage_wide_a(const plugin::GemmProblem& p) {
  return whole_vectors(p.dtype, {p.lda, p.stride_a, p.trans_a ? p.m : p.k});
}

bool multistage_wide_b(const plugin::GemmProblem& p) {
  return whole_vectors(p.dtype, {p.ldb, p.stride_b, p.trans_b ? p.k : p.n});
}

double multistage_blocks(const plugin::GemmProblem& p, const MultistageTile& tile, std::int64_t split) {
  return double(pieces(p.m, tile.m)) * double(pieces(p.n, tile.n)) * double(p.batch) * double(split);
}

double multistage_time(const plugin::GemmProblem& p, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split) {
  const bool f64 = p.dtype == TESSERA_F64;
  const Costs& costs = f64 ? kCosts64 : kCosts32;
  const double blocks = multistage_blocks(p, tile, split);
  const double depth = double(pieces(pieces(p.k, tile.depth), split) * tile.depth);
  const double products = double(tile.m) * double(tile.n) * depth;
  const bool turns_a = multistage_turns_a(p, tile), turns_b = multistage_turns_b(p, tile);
  const bool wide = (turns_a || multistage_wide_a(p)) && (turns_b || multistage_wide_b(p));
  const double unit = wide ? 16.0 / double(plugin::size_of(p.dtype)) : 1.0;
  const double copies = depth * (tile.m / (turns_a ? 1.0 : unit) + tile.n / (turns_b ? 1.0 : unit)) *
                        (tile.along_depth && !wide ? costs.along_depth_copy : 1.0);
  const bool workspace = multistage_uses_workspace(device, split);
  // The busiest multiprocessor computes `share` blocks, as many at once as it holds.
  const std::int64_t cluster = workspace ? 1 : split;
  const double held = held_at_once(device, tile.resident, cluster);
  const double rounds = std::ceil(blocks / held);
  const double rest = busiest(device, tile.resident, cluster, blocks - (rounds - 1.0) * held);
  const double share = (rounds - 1.0) * tile.resident + rest;
  const double missing = (tile.resident - rest) / std::max(1.0, tile.resident - 1.0);
  const double rest_rate = std::min(tile.rate * (1.0 - costs.few_blocks * missing), tile.rate_of_one * rest);
  const double slowdown = workspace || split == 1 ? 1.0 : costs.cluster_slowdown;
  const double computing =
      slowdown * (products * ((share - rest) / tile.rate + rest / rest_rate) + share * copies * costs.copy);
  const double waiting = rounds * depth / 32.0 * costs.latency;
  const double bytes = double(p.batch) * double(plugin::size_of(p.dtype)) *
                       (double(p.m) * double(p.k) + double(p.k) * double(p.n) + double(p.m) * double(p.n));
  const double tile_bytes = blocks * double(tile.m + tile.n) * depth * double(plugin::size_of(p.dtype));
  double time =
      rounds * tile.fixed_time + std::max({computing, waiting, bytes / costs.memory_rate, tile_bytes / kCacheRate});
  if (workspace)
    time += costs.second_kernel + costs.second_kernel_slice * double(split) +
            2.0 * double(multistage_workspace(p, device, split)) / costs.partial_rate;
  else if (split > 1)
    time += costs.cluster + costs.cluster_slice * double(split);
  return time;
}

std::int64_t multistage_most_turned_columns(const plugin::GemmProblem& p, const MultistageChoice& choice,
                                            std::uint64_t workspace_limit) {
  const MultistageTile& tile = choice.tile;
  if (choice.split > 1 || !multistage_turns_a(p, tile) || !multistage_turns_b(p, tile)) return 0;
  if (p.batch == 0 || p.m == 0 || p.n == 0 || p.k == 0) return 0;
  // In doubles: whole numbers overflow for a depth that no memory holds.
  if (double(p.k) * double(tile.n) * double(plugin::size_of(p.dtype)) > double(workspace_limit)) return 0;
  const std::int64_t fit = std::int64_t(workspace_limit / multistage_turned_bytes(p, tile.n));  // tiles
  const std::int64_t tiles = pieces(p.n, tile.n);
  return pieces(tiles, pieces(tiles, fit)) * tile.n;
}

std::uint64_t multistage_turned_bytes(const plugin::GemmProblem& p, std::int64_t columns) {
  return std::uint64_t(p.k) * std::uint64_t(columns) * plugin::size_of(p.dtype);
}

std::int64_t multistage_turned_columns(const plugin::GemmProblem& p, const MultistageDevice& device,
                                       const MultistageChoice& choice, std::uint64_t workspace_limit) {
  const std::int64_t columns = multistage_most_turned_columns(p, choice, workspace_limit);
  if (columns == 0) return 0;
  // Measured on an H100 at 1536 to 8192.
  constexpr double kGain = 0.105, kRate = 0.386e6;    // of the time; operations a microsecond and multiprocessor
  constexpr double kLaunch = 4.0, kTurnRate = 2.5e6;  // of the second kernel; bytes a microsecond, read and written
  constexpr double kRounds = 2.0;  // of blocks in each piece, whose last round leaves multiprocessors idle
  const double rounds = double(pieces(p.m, choice.tile.m)) * double(columns / choice.tile.n) /
                        (double(choice.tile.resident) * device.multiprocessors);
  const double gain =
      kGain * 2.0 * double(p.m) * double(columns) * double(p.k) / (kRate * double(device.multiprocessors));
  const double cost = kLaunch + 2.0 * double(multistage_turned_bytes(p, columns)) / kTurnRate;
  return gain > cost && (columns >= p.n || rounds > kRounds) ? columns : 0;
}

MultistageChoice choose_multistage(const plugin::GemmProblem& p, const MultistageDevice& device,
                                   std::uint64_t workspace_limit, std::span<const MultistageTile> tiles) {
  MultistageChoice best{tiles.front(), 1};
  double least = multistage_time(p, device, best.tile, best.split);
  for (const MultistageTile& tile : tiles) {
    // With more than two rounds of blocks the device is busy in any case: some begin as others end, which the model
    // does not see.
    const double rounds = multistage_blocks(p, tile, 1) / (double(tile.resident) * device.multiprocessors);
    const std::int64_t most =
        rounds > 2.0 ? 1
                     : std::clamp(pieces(p.k, tile.depth), std::int64_t(1), most_slices(p, device, workspace_limit));
    for (const std::int64_t split : kSplits) {
      if (split > most || multistage_blocks(p, tile, split) > double(kMaxGridX)) break;
      const double time = multistage_time(p, device, tile, split);
      if (time < least) best = {tile, split}, least = time;
    }
  }
  return best;
}

}  // namespace tessera::cuda
