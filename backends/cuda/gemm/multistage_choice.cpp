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

// Fitted to the times of 117 shapes on an H100, 80 of them random, every tile and up to 128 slices, each weighed by the
// cube of its nearness to the shape's best and by what the choice then loses, f32 and f64 apart (13 % mean error).
constexpr std::array kTiles32{MultistageTile{128, 128, 32, 2, 67584, 191.0e3, 191.0e3, 7.09},
                              MultistageTile{128, 64, 16, 4, 38400, 181.2e3, 156.9e3, 5.25},
                              MultistageTile{64, 128, 16, 4, 38400, 180.7e3, 160.0e3, 5.22},
                              MultistageTile{64, 64, 16, 5, 26112, 166.5e3, 133.3e3, 3.93},
                              MultistageTile{32, 64, 16, 8, 19968, 148.3e3, 72.1e3, 3.21},
                              MultistageTile{128, 16, 16, 7, 29184, 85.4e3, 69.6e3, 3.13},
                              MultistageTile{16, 128, 16, 7, 29184, 141.0e3, 83.4e3, 3.80}};
constexpr std::array kTiles64{MultistageTile{128, 128, 16, 1, 131072, 217.4e3, 217.4e3, 5.59},
                              MultistageTile{64, 64, 16, 3, 61440, 213.2e3, 134.8e3, 4.35},
                              MultistageTile{32, 32, 16, 7, 30720, 114.1e3, 46.5e3, 3.10}};

/// Times in microseconds, rates in bytes a microsecond.
struct Costs {
  double cluster, cluster_slice;              ///< to add sums in a cluster, and for each slice of it
  double second_kernel, second_kernel_slice;  ///< to add them with another kernel
  double partial_rate;                        ///< at which they are written and read
  double memory_rate;                         ///< at which A, B and C are, at best
  double latency;                             ///< a block waits so long for 32 of the depth, at least
  double cluster_slowdown;                    ///< of the products in clusters
  double copy;                                ///< of 16 bytes, or of one element where that is what can be copied
  double few_blocks;                          ///< of a multiprocessor's rate is lost with one block instead of all
  /// Share of the multiprocessors that clusters of so many blocks use: one lies within a group of 16 or 18. Hardly
  /// less than 1: all but a grid that would fill the device exactly.
  std::array<double, kMultistageMostInCluster + 1> usable;
};
constexpr Costs kCosts32{.cluster = 1.84,
                         .cluster_slice = 0.142,
                         .second_kernel = 4.23,
                         .second_kernel_slice = 0.028,
                         .partial_rate = 15.1e6,
                         .memory_rate = 3.03e6,
                         .latency = 0.69,
                         .cluster_slowdown = 1.00,
                         .copy = 1.95e-5,
                         .few_blocks = 0.065,
                         .usable = {1.0, 1.0, 1.0, 0.908, 0.9995, 0.936, 0.859, 0.936, 0.9995}};
constexpr Costs kCosts64{.cluster = 1.74,
                         .cluster_slice = 0.123,
                         .second_kernel = 3.28,
                         .second_kernel_slice = 0.037,
                         .partial_rate = 7.7e6,
                         .memory_rate = 2.99e6,
                         .latency = 0.25,
                         .cluster_slowdown = 1.045,
                         .copy = 0.92e-5,
                         .few_blocks = 0.054,
                         .usable = {1.0, 1.0, 1.0, 0.989, 0.979, 0.878, 0.791, 0.878, 0.979}};

constexpr double kCacheRate = 6.1e6;  ///< bytes a microsecond from the second-level cache to all multiprocessors

/// The splits that are tried.
constexpr std::array<std::int64_t, 17> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

std::uint64_t slice_bytes(const plugin::GemmProblem& p) {
  return std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(multistage_partial_ld(p.n)) *
         plugin::size_of(p.dtype);
}

}  // namespace

std::vector<MultistageTile> multistage_tiles(tessera_dtype dtype, const MultistageDevice& device) {
  std::vector<MultistageTile> tiles;
  for (const MultistageTile& tile : dtype == TESSERA_F64 ? std::span<const MultistageTile>(kTiles64) : kTiles32)
    if (tile.shared_bytes <= device.shared_per_block) tiles.push_back(tile);
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

bool multistage_wide(const plugin::GemmProblem& p) {
  return (multistage_turns_a(p) || whole_vectors(p.dtype, {p.lda, p.stride_a, p.trans_a ? p.m : p.k})) &&
         (multistage_turns_b(p) || whole_vectors(p.dtype, {p.ldb, p.stride_b, p.trans_b ? p.k : p.n}));
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
  const double unit = multistage_wide(p) ? 16.0 / double(plugin::size_of(p.dtype)) : 1.0;
  const double copies =
      depth * (tile.m / (multistage_turns_a(p) ? 1.0 : unit) + tile.n / (multistage_turns_b(p) ? 1.0 : unit));
  const bool workspace = multistage_uses_workspace(device, split);
  const double usable = workspace ? 1.0 : costs.usable[std::size_t(split)];
  // The busiest multiprocessor computes `share` blocks, as many at once as it holds.
  const double share = std::ceil(blocks / (usable * device.multiprocessors));
  const double rounds = std::ceil(share / tile.resident);
  const double rest = share - (rounds - 1.0) * tile.resident;
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
