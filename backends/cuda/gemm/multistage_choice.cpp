// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "multistage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::cuda {
namespace {

// Fitted to the times of 29 shapes on an H100, every tile and up to 128 slices, each weighed by the cube
// of its nearness to the shape's best, f32 and f64 apart (10 % mean error), then adjusted on 15 thin ones.
constexpr std::array kTiles32{MultistageTile{128, 16, 2, 65536, 175.6e3, 175.6e3, 5.04},
                              MultistageTile{64, 16, 5, 26112, 156.0e3, 100.2e3, 4.62},
                              MultistageTile{32, 16, 12, 13824, 98.9e3, 60.8e3, 2.14}};
constexpr std::array kTiles64{MultistageTile{128, 16, 1, 131072, 244.2e3, 223.5e3, 6.89},
                              MultistageTile{64, 16, 3, 61440, 197.2e3, 145.6e3, 4.58},
                              MultistageTile{32, 16, 7, 30720, 103.1e3, 44.0e3, 2.91}};

constexpr double kClusterTime = 1.0;  ///< to add sums in a cluster, and for each slice of it
constexpr double kClusterSliceTime = 0.15;
constexpr double kSecondKernelTime = 3.5;   ///< to add them with another kernel, beside
constexpr double kPartialBytesATime = 1e7;  ///< writing and reading them
/// A cluster's blocks share a group of multiprocessors, and not every group is a multiple of them.
constexpr double kUsableByClusters = 0.9;
/// A block waits so long for two tiles of its depth, the copies that it has under way.
constexpr double kLatency = 0.8;
constexpr double kClusterSlowdown = 1.06;  ///< of the products, whose kernels have fewer registers to spare

std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

std::uint64_t slice_bytes(const plugin::GemmProblem& p) {
  return std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(multistage_partial_ld(p.n)) *
         plugin::size_of(p.dtype);
}

}  // namespace

std::span<const MultistageTile> multistage_tiles(tessera_dtype dtype) {
  if (dtype == TESSERA_F64) return kTiles64;
  return kTiles32;
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

double multistage_time(const plugin::GemmProblem& p, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split) {
  const double blocks =
      double(pieces(p.m, tile.size)) * double(pieces(p.n, tile.size)) * double(p.batch) * double(split);
  const double depth = double(pieces(pieces(p.k, tile.depth), split) * tile.depth);
  const double products = double(tile.size) * double(tile.size) * depth;
  const bool workspace = multistage_uses_workspace(device, split);
  const double usable = split > 2 && !workspace ? kUsableByClusters : 1.0;
  // The busiest multiprocessor computes `share` blocks, as many at once as it holds.
  const double share = std::ceil(blocks / (usable * device.multiprocessors));
  const double rounds = std::ceil(share / tile.resident);
  const double rest = share - (rounds - 1.0) * tile.resident;
  const double slowdown = split > 1 && !workspace ? kClusterSlowdown : 1.0;
  const double computing =
      slowdown * products * ((share - rest) / tile.rate + rest / std::min(tile.rate, tile.rate_of_one * rest));
  const double waiting = rounds * depth / (2.0 * tile.depth) * kLatency;
  double time = rounds * tile.fixed_time + std::max(computing, waiting);
  if (workspace)
    time += kSecondKernelTime + 2.0 * double(multistage_workspace(p, device, split)) / kPartialBytesATime;
  else if (split > 1)
    time += kClusterTime + kClusterSliceTime * double(split);
  return time;
}

MultistageChoice choose_multistage(const plugin::GemmProblem& p, const MultistageDevice& device,
                                   std::uint64_t workspace_limit, int wanted_tile, std::int64_t wanted_split) {
  MultistageChoice best{0, 1};
  double least = 0.0;
  for (const MultistageTile& tile : multistage_tiles(p.dtype)) {
    if (tile.shared_bytes > device.shared_per_block || (wanted_tile != 0 && tile.size != wanted_tile)) continue;
    const std::int64_t most =
        std::clamp(pieces(p.k, tile.depth), std::int64_t(1), most_slices(p, device, workspace_limit));
    const std::int64_t first = wanted_split != 0 ? wanted_split : 1, last = wanted_split != 0 ? wanted_split : most;
    for (std::int64_t split = first; split <= last; ++split) {
      const double time = multistage_time(p, device, tile, split);
      if (best.tile == 0 || time < least) best = {tile.size, split}, least = time;
    }
  }
  return best;
}

}  // namespace tessera::cuda
