// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The choice of tile and slices of k for the algorithm multistage: pure functions of the problem and
/// the device, without CUDA.
#pragma once

#include "multistage_tiles.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::cuda {

/// Slices that a cluster of blocks adds through its shared memory; more are added by a second kernel.
inline constexpr std::int64_t kMultistageMostInCluster = 8;

/// The most blocks of a tile that a multiprocessor holds at once.
inline constexpr int kMultistageMostBlocksPerSm = 8;

/// Blocks in clusters that a device holds at once: [blocks that a multiprocessor holds - 1][blocks of a cluster - 1]. A
/// cluster lies within one of the device's groups of multiprocessors, whose sizes differ from device to device.
using ClusterRoom = std::array<std::array<int, kMultistageMostInCluster>, kMultistageMostBlocksPerSm>;

struct MultistageDevice {
  int multiprocessors;
  int shared_per_block;
  bool clusters;                              ///< from compute capability 9.0 on
  std::optional<ClusterRoom> cluster_room{};  ///< without it, clusters are taken to lose nothing
};

/// Those for the problem's operands whose shared memory a block of the device has.
std::vector<MultistageTile> multistage_tiles(const plugin::GemmProblem& problem, const MultistageDevice& device);

/// The most slices of k that a plan takes.
inline constexpr std::int64_t kMultistageMostSplit = 256;

struct MultistageChoice {
  MultistageTile tile;
  std::int64_t split;  ///< slices of k, whose sums are added in order
};

/// Elements of a row of the slices' sums: rows stay aligned to 16 bytes.
constexpr std::int64_t multistage_partial_ld(std::int64_t n) { return plugin::round_up(n, 4); }

/// Whether the sums of the slices go through memory, to a second kernel.
bool multistage_uses_workspace(const MultistageDevice& device, std::int64_t split);

/// Bytes that the sums of the slices take there.
std::uint64_t multistage_workspace(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                   std::int64_t split);

/// The most slices whose sums fit into the limit; at least 1.
std::int64_t most_slices(const plugin::GemmProblem& problem, const MultistageDevice& device,
                         std::uint64_t workspace_limit);

/// Whether the tile transposes that operand on its way into shared memory, word by word.
bool multistage_transposes_a(const plugin::GemmProblem& problem, const MultistageTile& tile);
bool multistage_transposes_b(const plugin::GemmProblem& problem, const MultistageTile& tile);

/// Whether that operand's layout allows copies of 16 bytes; its address must, too.
bool multistage_aligned_a(const plugin::GemmProblem& problem);
bool multistage_aligned_b(const plugin::GemmProblem& problem);

/// Blocks of an execution.
double multistage_blocks(const plugin::GemmProblem& problem, const MultistageTile& tile, std::int64_t split);

/// Predicted time of an execution.
double multistage_time(const plugin::GemmProblem& problem, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split);

/// Columns of op(B) that are best transposed at a time, into the workspace, before their products; 0 where B is best
/// taken as it lies. A tile that transposes both operands has no registers to spread their copies over the products,
/// which costs a tenth of its time. A large product has the time to transpose one of them before.
std::int64_t multistage_transposed_columns(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                           const MultistageChoice& choice, std::uint64_t workspace_limit);

/// The most that the limit allows, in equal chunks of whole tiles; 0 where that is no tile, or nothing is to be
/// transposed.
std::int64_t multistage_most_transposed_columns(const plugin::GemmProblem& problem, const MultistageChoice& choice,
                                                std::uint64_t workspace_limit);

/// Bytes that they take.
std::uint64_t multistage_transposed_bytes(const plugin::GemmProblem& problem, std::int64_t columns);

/// The one of `tiles`, at least one, and the split of the least predicted time whose workspace fits into the limit and
/// whose blocks fit into a grid. Those of the first tile without slices must.
MultistageChoice choose_multistage(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                   std::uint64_t workspace_limit, std::span<const MultistageTile> tiles);

}  // namespace tessera::cuda
