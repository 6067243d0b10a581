// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../launch_limits.hpp"
#include "offers.hpp"
#include "skinny.hpp"
#include "tile_model.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::Scalar;

/// How a block works.
struct Block {
  bool k_major;
  int width;            ///< elements of a read of the large operand
  std::int64_t length;  ///< of its extent
  std::int64_t chunk;   ///< of k, what it multiplies at a time, whether it exists or not
  int count;            ///< rows of the small operand, likewise
};

/// With wide reads, or of one element.
template <class T>
Block block_of(const GemmProblem& p, bool wide) {
  const int count = int(std::bit_ceil(std::uint64_t(std::max(std::int64_t(1), std::min(p.m, p.n)))));
  const int width = wide ? skinny_width<T>(count) : 1;
  return {skinny_k_major(p), width, skinny_block_length(p, width), skinny_chunk<T>(p, width), count};
}

/// Blocks of a large operand with reads of 16 bytes that a multiprocessor may need to read at the rate of memory: four,
/// or eight or sixteen where they hold few sums.
int blocks_wanted(const GemmProblem& p) {
  if (std::min(p.m, p.n) > 2) return 4;
  return skinny_k_major(p) ? 16 : 8;
}

double blocks_in(const GemmProblem& p, const Block& block, std::int64_t split) {
  return double(ceil_div(std::max(p.m, p.n), block.length)) * double(p.batch) * double(split);
}

/// Slices of k: enough for the blocks that are wanted, none shorter than two chunks. With narrower reads there are as
/// many more blocks as each has fewer bytes under way: the same slices.
template <class T>
std::int64_t filling_split(const GemmProblem& p, const Machine& machine) {
  const Block block = block_of<T>(p, true);
  const double fill = blocks_wanted(p) * machine.multiprocessors / std::max(1.0, blocks_in(p, block, 1));
  return std::clamp(std::int64_t(std::min(fill, double(p.k / (2 * block.chunk)))), std::int64_t(1), kSkinnyMostSplit);
}

/// Blocks that the registers of a multiprocessor have room for.
template <class T>
int blocks_per_sm(const Block& block) {
  constexpr double kThreads = 65536.0 / kSkinnyThreads;  // registers of a multiprocessor, for a thread of each block
  if (block.k_major) return sizeof(Scalar<T>) == 4 || block.count == 1 ? 2 : 1;
  // A thread's registers, about, as the compiler reports them: what every kernel needs, eight reads, sums.
  const double words = block.width / 4.0, reads = words * double(sizeof(T)), sums = words * double(sizeof(Scalar<T>));
  return std::clamp(int(kThreads / (22.0 + 8.0 * reads + 1.2 * sums * block.count)), 1, 8);
}

/// Times that a warp waits for reads of the large operand: those of an extent-major chunk are under way together.
double reads_in_turn(const Block& block, double k) {
  const double at_once = !block.k_major    ? double(block.chunk)
                         : block.count > 1 ? 32.0 * block.width
                                           : 64.0 * block.width;
  return std::ceil(k / at_once);
}

/// A block multiplies a chunk of k after the other, and waits for its reads of the large operand, and of the small one.
template <class T>
TileLaunch launch_of(const GemmProblem& p, const Machine& machine, std::int64_t split) {
  const ProductCosts& c = machine.gemm.product;
  const auto& rates = rates_of<T>(machine);
  const Block block = block_of<T>(p, skinny_aligned(p));
  const double k = double(ceil_div(p.k, split)), chunks = std::ceil(k / double(block.chunk));
  const double elements = double(block.count) * double(block.length);
  const double rows = std::max(chunks, block.count * k / kSkinnyThreads);
  const double waits = (block.k_major ? c.k_major_read : c.read) * reads_in_turn(block, k) + c.row * rows;
  return {.blocks = blocks_in(p, block, split),
          .blocks_per_sm = blocks_per_sm<T>(block),
          .steps = chunks,
          .units = element_cycles<T>(elements * double(block.chunk), machine) /
                   (block.k_major ? rates.k_major_skinny : rates.skinny),
          .latency = chunks > 0.0 ? waits / chunks : 0.0,
          .fill = c.element * elements,
          .bytes = operand_bytes(p)};
}

template <class T>
double seconds(const GemmProblem& p, const Machine& machine, std::int64_t split) {
  const double launch = launch_seconds(launch_of<T>(p, machine, split), machine) + finishing_seconds(p, machine);
  if (!skinny_uses_workspace(p, split)) return launch;
  return launch + adding_seconds(double(split), double(skinny_workspace(p, split)), machine);
}

}  // namespace

std::string skinny_why_unsupported(const GemmProblem& p, const Machine&) {
  if (std::min(p.m, p.n) > kSkinnyMostCount)
    return "C has more than " + std::to_string(kSkinnyMostCount) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  // One block for 32 of the larger extent and a slice, at most: what a grid may have, with the most slices.
  const double blocks = std::ceil(double(std::max(p.m, p.n)) / 32.0) * double(p.batch);
  if (p.has_epilogue() && skinny_workspace(p, 1) > kSkinnyMostSums)
    return "the sums that a bias or an activation is applied to take more than " + std::to_string(kSkinnyMostSums) +
           " bytes";
  if (blocks <= double(kMaxGridX) / double(kSkinnyMostSplit)) return {};
  return "the larger extent of C has more than " + std::to_string(kMaxGridX / kSkinnyMostSplit) +
         " segments of 32 in all matrices";
}

void skinny_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                   std::uint64_t workspace_limit, plugin::OfferList& offers) {
  const std::uint64_t slice = skinny_workspace(p, 2) / 2;
  const std::int64_t most =
      slice == 0
          ? 1
          : std::max(std::int64_t(1), std::int64_t(std::min(workspace_limit / slice, std::uint64_t(kSkinnyMostSplit))));
  // Fewer slices are sooner added, and may keep memory busy as well. The limit leaves some of them out and brings no
  // others: a smaller one that has room for the cheapest does not change what that is.
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    const std::int64_t fill = filling_split<T>(p, machine);
    std::vector<std::int64_t> splits{1};
    for (const std::int64_t split : {ceil_div(fill, 4), ceil_div(fill, 2), fill})
      if (split > splits.back() && split <= most) splits.push_back(split);
    for (const std::int64_t split : given.in_range("split", splits, 1, most)) {
      // Sums that get a bias or an activation need a place, whatever the split.
      if (p.has_epilogue() && skinny_workspace(p, split) > workspace_limit) continue;
      offers.add({{{"split", split}}, seconds<T>(p, machine, split), skinny_workspace(p, split)});
    }
  });
}

}  // namespace tessera::cuda
