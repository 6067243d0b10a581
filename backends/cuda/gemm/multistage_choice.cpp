// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "multistage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::cuda {
namespace {

// Fitted to the times of 117 shapes on an H100, 80 of them random, every tile and up to 128 slices, each weighed by the
// cube of its nearness to the shape's best and by what the choice then loses, f32 and f64 apart (13 % mean error).
constexpr std::array kTiles32{MultistageTile{128, 128, 32, 2, 67584, 191.0e3, 191.0e3, 6.86},
                              MultistageTile{128, 64, 16, 4, 38400, 177.8e3, 177.8e3, 5.86},
                              MultistageTile{64, 128, 16, 4, 38400, 179.8e3, 163.4e3, 5.38},
                              MultistageTile{64, 64, 16, 5, 26112, 156.5e3, 134.5e3, 3.73},
                              MultistageTile{32, 64, 16, 8, 19968, 141.0e3, 69.4e3, 3.12},
                              MultistageTile{128, 16, 16, 7, 29184, 95.4e3, 72.8e3, 3.28},
                              MultistageTile{16, 128, 16, 7, 29184, 132.2e3, 79.5e3, 3.60}};
constexpr std::array kTiles64{MultistageTile{128, 128, 16, 1, 131072, 216.5e3, 216.5e3, 5.40},
                              MultistageTile{64, 64, 16, 3, 61440, 207.2e3, 126.4e3, 4.20},
                              MultistageTile{32, 32, 16, 7, 30720, 113.9e3, 45.2e3, 3.16}};

/// Times in microseconds, rates in bytes a microsecond.
struct Costs {
  double cluster, cluster_slice;              ///< to add sums in a cluster, and for each slice of it
  double second_kernel, second_kernel_slice;  ///< to add them with another kernel
  double partial_rate;                        ///< at which they are written and read
  double memory_rate;                         ///< at which A, B and C are, at best
  double latency;                             ///< a block waits so long for 32 of the depth, at least
  double copy;                                ///< of 16 bytes, or of one element where that is what can be copied
  double few_blocks;                          ///< of a multiprocessor's rate is lost with one block instead of all
  /// Share of the multiprocessors that clusters of so many blocks use: one lies within a group of 16 or 18.
  std::array<double, kMultistageMostInCluster + 1> usable;
};
constexpr Costs kCosts32{1.97,   0.135, 4.16,    0.032, 8.7e6,
                         2.87e6, 0.36,  1.32e-5, 0.078, {1.0, 1.0, 1.0, 0.907, 1.0, 0.936, 0.817, 0.936, 1.0}};
constexpr Costs kCosts64{1.94,   0.084, 2.94,    0.048, 6.4e6,
                         3.00e6, 0.07,  0.96e-5, 0.070, {1.0, 1.0, 1.0, 0.989, 0.98, 0.878, 0.955, 0.878, 0.98}};

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
  const std::int64_t unit = 16 / std::int64_t(plugin::size_of(p.dtype));
  const auto whole = [&](std::int64_t ld, std::int64_t stride, std::int64_t extent) {
    return ld % unit == 0 && stride % unit == 0 && extent % unit == 0;
  };
  return (multistage_turns_a(p) || whole(p.lda, p.stride_a, p.trans_a ? p.m : p.k)) &&
         (multistage_turns_b(p) || whole(p.ldb, p.stride_b, p.trans_b ? p.k : p.n));
}

double multistage_time(const plugin::GemmProblem& p, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split) {
  const bool f64 = p.dtype == TESSERA_F64;
  const Costs& costs = f64 ? kCosts64 : kCosts32;
  const double blocks = double(pieces(p.m, tile.m)) * double(pieces(p.n, tile.n)) * double(p.batch) * double(split);
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
  const double computing = products * ((share - rest) / tile.rate + rest / rest_rate) + share * copies * costs.copy;
  const double waiting = rounds * depth / 32.0 * costs.latency;
  const double bytes = double(p.batch) * double(plugin::size_of(p.dtype)) *
                       (double(p.m) * double(p.k) + double(p.k) * double(p.n) + double(p.m) * double(p.n));
  double time = rounds * tile.fixed_time + std::max({computing, waiting, bytes / costs.memory_rate});
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
    const double rounds = double(pieces(p.m, tile.m)) * double(pieces(p.n, tile.n)) * double(p.batch) /
                          (double(tile.resident) * device.multiprocessors);
    const std::int64_t most =
        rounds > 2.0 ? 1
                     : std::clamp(pieces(p.k, tile.depth), std::int64_t(1), most_slices(p, device, workspace_limit));
    for (const std::int64_t split : kSplits) {
      if (split > most) break;
      const double time = multistage_time(p, device, tile, split);
      if (time < least) best = {tile, split}, least = time;
    }
  }
  return best;
}

}  // namespace tessera::cuda
