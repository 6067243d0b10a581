// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The choice of tile and slices of k for the algorithm multistage: pure functions of the problem and
/// the device, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::cuda {

/// What the choice knows of a tile size. Times are microseconds on an H100, rates multiply-adds a
/// microsecond of one multiprocessor.
struct MultistageTile {
  int m, n;            ///< a block computes m x n elements of C
  int depth;           ///< k goes by in pieces of it
  int resident;        ///< blocks that a multiprocessor holds at once
  int shared_bytes;    ///< what one of them needs
  double rate;         ///< with `resident` blocks
  double rate_of_one;  ///< with one
  double fixed_time;   ///< before the first product and after the last
  /// A narrow tile: whether it is for a long operand whose depth is contiguous, or for one whose extent is.
  bool along_depth = false;
};

/// Slices that a cluster of blocks adds through its shared memory; more are added by a second kernel.
inline constexpr std::int64_t kMultistageMostInCluster = 8;

/// The most blocks of a tile that a multiprocessor holds at once.
inline constexpr int kMultistageMostResident = 8;

/// Blocks in clusters that a device holds at once: [blocks that a multiprocessor holds - 1][blocks of a cluster - 1]. A
/// cluster lies within one of the device's groups of multiprocessors, whose sizes differ from device to device.
using ClusterRoom = std::array<std::array<int, kMultistageMostInCluster>, kMultistageMostResident>;

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
constexpr std::int64_t multistage_partial_ld(std::int64_t n) { return (n + 3) / 4 * 4; }

/// Whether the sums of the slices go through memory, to a second kernel.
bool multistage_uses_workspace(const MultistageDevice& device, std::int64_t split);

/// Bytes that the sums of the slices take there.
std::uint64_t multistage_workspace(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                   std::int64_t split);

/// The most slices whose sums fit into the limit; at least 1.
std::int64_t most_slices(const plugin::GemmProblem& problem, const MultistageDevice& device,
                         std::uint64_t workspace_limit);

/// Whether the tile turns that operand on its way into shared memory, word by word: in f32 where its depth is
/// contiguous, unless the tile is a narrow one made for it.
inline bool multistage_turns_a(const plugin::GemmProblem& p, const MultistageTile& tile) {
  return p.dtype == TESSERA_F32 && !p.trans_a && !(tile.along_depth && tile.m > tile.n);
}
inline bool multistage_turns_b(const plugin::GemmProblem& p, const MultistageTile& tile) {
  return p.dtype == TESSERA_F32 && p.trans_b && !(tile.along_depth && tile.m < tile.n);
}

/// Whether that operand's layout allows copies of 16 bytes; its address must, too.
bool multistage_wide_a(const plugin::GemmProblem& problem);
bool multistage_wide_b(const plugin::GemmProblem& problem);

/// Blocks of an execution.
double multistage_blocks(const plugin::GemmProblem& problem, const MultistageTile& tile, std::int64_t split);

/// Predicted time of an execution.
double multistage_time(const plugin::GemmProblem& problem, const MultistageDevice& device, const MultistageTile& tile,
                       std::int64_t split);

/// Columns of op(B) that are best turned in memory at a time, in the workspace, before their products; 0 where B is
/// best taken as it lies. Where the tile turns both operands, its loop has no registers to spread their copies over the
/// products, which costs a tenth of its time; a large product has the time to turn one of them before.
std::int64_t multistage_turned_columns(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                       const MultistageChoice& choice, std::uint64_t workspace_limit);

/// The most that the limit allows, in equal pieces of whole tiles; 0 where that is no tile, or nothing is to be turned.
std::int64_t multistage_most_turned_columns(const plugin::GemmProblem& problem, const MultistageChoice& choice,
                                            std::uint64_t workspace_limit);

/// Bytes that they take.
std::uint64_t multistage_turned_bytes(const plugin::GemmProblem& problem, std::int64_t columns);

/// The one of `tiles`, at least one, and the split of the least predicted time whose workspace fits into the limit and
/// whose blocks fit into a grid. Those of the first tile without slices must.
MultistageChoice choose_multistage(const plugin::GemmProblem& problem, const MultistageDevice& device,
                                   std::uint64_t workspace_limit, std::span<const MultistageTile> tiles);

}  // namespace tessera::cuda
