// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "multistage.hpp"

#include "../launch_limits.hpp"
#include "../vector_access.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;

/// What the model knows of a tile. Times are microseconds on an H100, rates multiply-adds a microsecond of one
/// multiprocessor.
struct TileRates {
  int m, n;
  bool k_major;
  double rate;         ///< with all the blocks that a multiprocessor holds
  double rate_of_one;  ///< with one block
  double fixed_time;   ///< before the first product and after the last
};

// Fitted to times on an H100, every tile and up to 128 slices, each weighed by the cube of its nearness to the shape's
// best and by what the choice then loses, the suite's shapes fourfold: f32 on 245 shapes, 180 of them random and 110 of
// these narrow, f64 on 171, 141 of them random; large squares were held to the largest tile (14 % mean error).
template <class T>
constexpr std::array<TileRates, 0> kRates{};
template <>
constexpr std::array kRates<float>{
    TileRates{128, 128, false, 191.2e3, 173.9e3, 6.06}, TileRates{128, 64, false, 187.6e3, 142.0e3, 5.12},
    TileRates{64, 128, false, 189.7e3, 158.5e3, 5.07},  TileRates{64, 64, false, 173.7e3, 153.8e3, 3.82},
    TileRates{32, 64, false, 161.0e3, 148.6e3, 4.33},   TileRates{128, 16, false, 139.3e3, 77.5e3, 3.40},
    TileRates{16, 128, false, 137.4e3, 85.7e3, 4.01},   TileRates{64, 16, true, 132.5e3, 43.1e3, 3.66},
    TileRates{16, 64, true, 116.1e3, 45.0e3, 3.72}};
template <>
constexpr std::array kRates<double>{
    TileRates{128, 128, false, 223.8e3, 223.8e3, 6.09}, TileRates{64, 128, false, 219.2e3, 215.5e3, 4.97},
    TileRates{64, 64, false, 206.1e3, 155.2e3, 4.18}, TileRates{32, 32, false, 103.9e3, 45.7e3, 3.07}};

template <class T>
constexpr const TileRates& rates_of(const MultistageTile& tile) {
  for (const TileRates& r : kRates<T>)
    if (r.m == tile.m && r.n == tile.n && r.k_major == tile.k_major) return r;
  throw "a tile without rates";  // stops the compiler, see below
}

template <class T>
constexpr bool all_have_rates() {
  for (const MultistageTile& tile : kMultistageTiles<T>) rates_of<T>(tile);
  return true;
}
static_assert(all_have_rates<float>() && all_have_rates<double>());

/// Times in microseconds, rates in bytes a microsecond.
struct Costs {
  double cluster, cluster_slice;              ///< to add sums in a cluster, and for each slice of it
  double second_kernel, second_kernel_slice;  ///< to add them with another kernel
  double partial_rate;                        ///< at which they are written and read
  double memory_rate;                         ///< at which A, B and C are, at best
  double latency;                             ///< a block waits so long for 32 of k, at least
  double cluster_slowdown;                    ///< of the products in clusters
  double copy;                                ///< of 16 bytes, or of one element where that is what can be copied
  double k_major_copy;                        ///< of one element, as often, in a narrow K-major tile
  double few_blocks;                          ///< of a multiprocessor's rate is lost with one block instead of all
};
template <class T>
constexpr Costs kCosts{};
template <>
constexpr Costs kCosts<float>{.cluster = 1.74,
                              .cluster_slice = 0.0799,
                              .second_kernel = 3.63,
                              .second_kernel_slice = 0.0414,
                              .partial_rate = 17.9e6,
                              .memory_rate = 3.05e6,
                              .latency = 0.779,
                              .cluster_slowdown = 1.031,
                              .copy = 2.32e-5,
                              .k_major_copy = 2.88,
                              .few_blocks = 0.080};
template <>
constexpr Costs kCosts<double>{.cluster = 1.94,
                               .cluster_slice = 0.102,
                               .second_kernel = 4.02,
                               .second_kernel_slice = 0.0450,
                               .partial_rate = 7.69e6,
                               .memory_rate = 3.02e6,
                               .latency = 0.426,
                               .cluster_slowdown = 1.051,
                               .copy = 0.546e-5,
                               .k_major_copy = 1.0,
                               .few_blocks = 0.083};

constexpr double kCacheRate = 6.1e6;  ///< bytes a microsecond from the second-level cache to all multiprocessors

/// The splits that are tried.
constexpr std::array<std::int64_t, 17> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

bool layout_transposes(const plugin::GemmProblem& p) {
  return plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return MultistageLayout<T>::kTransposes; });
}

std::uint64_t slice_bytes(const plugin::GemmProblem& p) {
  return std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(multistage_partial_ld(p.n)) *
         plugin::size_of(p.dtype);
}

/// Blocks in clusters of so many that the device holds at once where a multiprocessor holds `blocks_per_sm`.
double held_at_once(const MultistageDevice& device, int blocks_per_sm, std::int64_t cluster) {
  if (!device.cluster_room) return double(blocks_per_sm) * device.multiprocessors;
  return double((*device.cluster_room)[std::size_t(blocks_per_sm - 1)][std::size_t(cluster - 1)]);
}

/// Of so many blocks that run at once: those on the busiest multiprocessor. 5 % more are tolerated, because early
/// finishers free slots.
int busiest(const MultistageDevice& device, int most, std::int64_t cluster, double blocks) {
  constexpr double kTolerance = 1.05;
  int busy = 1;
  while (busy < most && kTolerance * held_at_once(device, busy, cluster) < blocks) ++busy;
  return busy;
}

template <class T>
double time_of(const plugin::GemmProblem& p, const MultistageDevice& device, const MultistageTile& tile,
               std::int64_t split) {
  constexpr double kElement = sizeof(T);
  constexpr const Costs& costs = kCosts<T>;
  const TileRates& rates = rates_of<T>(tile);
  const double blocks = multistage_blocks(p, tile, split);
  const double depth = double(ceil_div(ceil_div(p.k, tile.k_depth), split) * tile.k_depth);
  const double products = double(tile.m) * double(tile.n) * depth;
  const bool transposes_a = multistage_transposes_a(p, tile), transposes_b = multistage_transposes_b(p, tile);
  const bool aligned = (transposes_a || multistage_aligned_a(p)) && (transposes_b || multistage_aligned_b(p));
  const double unit = aligned ? 16.0 / kElement : 1.0;
  const double copies = depth * (tile.m / (transposes_a ? 1.0 : unit) + tile.n / (transposes_b ? 1.0 : unit)) *
                        (tile.k_major && !aligned ? costs.k_major_copy : 1.0);
  const bool workspace = multistage_uses_workspace(device, split);
  // The busiest multiprocessor computes `share` blocks, as many at once as it holds, the last ones in a wave of `rest`.
  const std::int64_t cluster = workspace ? 1 : split;
  const double held = held_at_once(device, tile.blocks_per_sm, cluster);
  const double waves = std::ceil(blocks / held);
  const double rest = busiest(device, tile.blocks_per_sm, cluster, blocks - (waves - 1.0) * held);
  const double share = (waves - 1.0) * tile.blocks_per_sm + rest;
  const double missing = (tile.blocks_per_sm - rest) / std::max(1.0, tile.blocks_per_sm - 1.0);
  const double rest_rate = std::min(rates.rate * (1.0 - costs.few_blocks * missing), rates.rate_of_one * rest);
  const double slowdown = workspace || split == 1 ? 1.0 : costs.cluster_slowdown;
  const double computing =
      slowdown * (products * ((share - rest) / rates.rate + rest / rest_rate) + share * copies * costs.copy);
  const double waiting = waves * depth / 32.0 * costs.latency;
  const double bytes =
      double(p.batch) * kElement * (double(p.m) * double(p.k) + double(p.k) * double(p.n) + double(p.m) * double(p.n));
  const double tile_bytes = blocks * double(tile.m + tile.n) * depth * kElement;
  const double time =
      waves * rates.fixed_time + std::max({computing, waiting, bytes / costs.memory_rate, tile_bytes / kCacheRate});
  if (workspace)
    return time + costs.second_kernel + costs.second_kernel_slice * double(split) +
           2.0 * double(multistage_workspace(p, device, split)) / costs.partial_rate;
  return split > 1 ? time + costs.cluster + costs.cluster_slice * double(split) : time;
}

}  // namespace

std::vector<MultistageTile> multistage_tiles(const plugin::GemmProblem& p, const MultistageDevice& device) {
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    std::vector<MultistageTile> tiles;
    for (const MultistageTile& tile : kMultistageTiles<T>) {
      const bool long_k_major = tile.long_a() ? !p.trans_a : p.trans_b;
      const bool fits = !tile.narrow() || !MultistageLayout<T>::kTransposes || tile.k_major == long_k_major;
      if (fits && tile.shared_bytes <= device.shared_per_block) tiles.push_back(tile);
    }
    return tiles;
  });
}

bool multistage_transposes_a(const plugin::GemmProblem& p, const MultistageTile& tile) {
  return layout_transposes(p) && !p.trans_a && !(tile.k_major && tile.long_a());
}

bool multistage_transposes_b(const plugin::GemmProblem& p, const MultistageTile& tile) {
  return layout_transposes(p) && p.trans_b && !(tile.k_major && !tile.long_a());
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

bool multistage_aligned_a(const plugin::GemmProblem& p) {
  return whole_vectors(p.dtype, {p.lda, p.stride_a, p.trans_a ? p.m : p.k});
}

bool multistage_aligned_b(const plugin::GemmProblem& p) {
  return whole_vectors(p.dtype, {p.ldb, p.stride_b, p.trans_b ? p.k : p.n});
}

double multistage_blocks(const plugin::GemmProblem& p, const MultistageTile& tile, std::int64_t split) {
  return double(ceil_div(p.m, tile.m)) * double(ceil_div(p.n, tile.n)) * double(p.batch) * double(split);
}

double multistage_time(const plugin::GemmProblem& p, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split) {
  return plugin::with_types(p.dtype,
                            [&]<class T>(std::type_identity<T>) { return time_of<T>(p, device, tile, split); });
}

std::int64_t multistage_most_transposed_columns(const plugin::GemmProblem& p, const MultistageChoice& choice,
                                                std::uint64_t workspace_limit) {
  const MultistageTile& tile = choice.tile;
  if (choice.split > 1 || !multistage_transposes_a(p, tile) || !multistage_transposes_b(p, tile)) return 0;
  if (p.batch == 0 || p.m == 0 || p.n == 0 || p.k == 0) return 0;
  // In doubles: whole numbers overflow for a depth that no memory holds.
  if (double(p.k) * double(tile.n) * double(plugin::size_of(p.dtype)) > double(workspace_limit)) return 0;
  const std::int64_t fit = std::int64_t(workspace_limit / multistage_transposed_bytes(p, tile.n));  // tiles
  const std::int64_t tiles = ceil_div(p.n, tile.n);
  return ceil_div(tiles, ceil_div(tiles, fit)) * tile.n;
}

std::uint64_t multistage_transposed_bytes(const plugin::GemmProblem& p, std::int64_t columns) {
  return std::uint64_t(p.k) * std::uint64_t(columns) * plugin::size_of(p.dtype);
}

std::int64_t multistage_transposed_columns(const plugin::GemmProblem& p, const MultistageDevice& device,
                                           const MultistageChoice& choice, std::uint64_t workspace_limit) {
  const std::int64_t columns = multistage_most_transposed_columns(p, choice, workspace_limit);
  if (columns == 0) return 0;
  // Measured on an H100 at 1536 to 8192.
  constexpr double kGain = 0.105, kRate = 0.386e6;  // of the time; operations a microsecond and multiprocessor
  constexpr double kLaunch = 4.0,
                   kTransposeRate = 2.5e6;  // of the second kernel; bytes a microsecond, read and written
  constexpr double kWaves = 2.0;            // of blocks in each chunk, the last of which leaves multiprocessors idle
  const double waves = double(ceil_div(p.m, choice.tile.m)) * double(columns / choice.tile.n) /
                       (double(choice.tile.blocks_per_sm) * device.multiprocessors);
  const double gain =
      kGain * 2.0 * double(p.m) * double(columns) * double(p.k) / (kRate * double(device.multiprocessors));
  const double cost = kLaunch + 2.0 * double(multistage_transposed_bytes(p, columns)) / kTransposeRate;
  return gain > cost && (columns >= p.n || waves > kWaves) ? columns : 0;
}

MultistageChoice choose_multistage(const plugin::GemmProblem& p, const MultistageDevice& device,
                                   std::uint64_t workspace_limit, std::span<const MultistageTile> tiles) {
  MultistageChoice best{tiles.front(), 1};
  double least = multistage_time(p, device, best.tile, best.split);
  for (const MultistageTile& tile : tiles) {
    // With more than two waves of blocks the device is busy in any case: some begin as others end, which the model
    // does not see.
    const double waves = multistage_blocks(p, tile, 1) / (double(tile.blocks_per_sm) * device.multiprocessors);
    const std::int64_t most =
        waves > 2.0 ? 1
                    : std::clamp(ceil_div(p.k, tile.k_depth), std::int64_t(1), most_slices(p, device, workspace_limit));
    for (const std::int64_t split : kSplits) {
      if (split > most || multistage_blocks(p, tile, split) > double(kMaxGridX)) break;
      const double time = multistage_time(p, device, tile, split);
      if (time < least) best = {tile, split}, least = time;
    }
  }
  return best;
}

}  // namespace tessera::cuda
