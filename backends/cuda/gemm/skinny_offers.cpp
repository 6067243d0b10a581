// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../launch_limits.hpp"
#include "model.hpp"
#include "offers.hpp"
#include "skinny.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

constexpr int kBlocksPerSm = 4;  ///< that registers leave room for

/// Blocks of a large operand that a multiprocessor needs at once to read at the rate of memory: four, or eight or
/// sixteen where they hold few sums.
int blocks_wanted(const GemmProblem& p) {
  if (std::min(p.m, p.n) > 2) return 4;
  return skinny_k_major(p) ? 16 : 8;
}

double blocks_of(const GemmProblem& p, std::int64_t split) {
  return double(ceil_div(std::max(p.m, p.n), skinny_block_length(p))) * double(p.batch) * double(split);
}

/// Of k, what a block reads of the small operand at a time, and multiplies whether it exists or not.
std::int64_t chunk_of(const GemmProblem& p) {
  return skinny_k_major(p) ? 2048 / std::int64_t(plugin::size_of(p.dtype)) : 128;
}

/// Slices of k: enough for the blocks that are wanted, none shorter than two of the chunks that a block reads of the
/// small operand.
std::int64_t filling_split(const GemmProblem& p, const Machine& machine) {
  const double fill = blocks_wanted(p) * machine.multiprocessors / std::max(1.0, blocks_of(p, 1));
  const std::int64_t shortest = 2 * chunk_of(p);
  return std::clamp(std::int64_t(std::min(fill, double(p.k / shortest))), std::int64_t(1), kSkinnyMostSplit);
}

/// Few blocks wait for each chunk of the small operand; many for memory, or for the units.
template <class T>
double seconds(const GemmProblem& p, const Machine& machine, std::int64_t split) {
  const SkinnyCosts& costs = costs_of<T>(machine).skinny;
  const bool k_major = skinny_k_major(p);
  const double count = double(std::bit_ceil(std::uint64_t(std::min(p.m, p.n))));
  const double blocks = blocks_of(p, split);
  const double chunks = double(ceil_div(ceil_div(p.k, split), chunk_of(p)));
  const double wave =
      chunks * (k_major ? costs.k_major_chunk + count * costs.k_major_row : costs.chunk + count * costs.row);
  const double products = blocks * double(skinny_block_length(p)) * chunks * double(chunk_of(p)) * count;
  const double rate = k_major ? costs.k_major_rate : costs.rate;
  const double share = std::clamp(blocks / (costs.blocks * machine.multiprocessors), 1e-3, 1.0);
  const double adding =
      split > 1 ? costs.second_kernel + 2.0 * double(skinny_workspace(p, split)) / machine.memory_rate : 0.0;
  return costs.launch + adding +
         std::max({waves(machine, blocks, kBlocksPerSm) * wave,
                   operand_bytes(p) / (share * costs.memory * machine.memory_rate),
                   products / (rate * element_rate<T>(machine) * machine.multiprocessors)});
}

}  // namespace

std::string skinny_why_unsupported(const GemmProblem& p, const Machine&) {
  if (std::min(p.m, p.n) > kSkinnyMostCount)
    return "C has more than " + std::to_string(kSkinnyMostCount) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  // One block for 32 of the larger extent and a slice, at most: what a grid may have, with the most slices.
  const double blocks = std::ceil(double(std::max(p.m, p.n)) / 32.0) * double(p.batch);
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
  const std::array<std::int64_t, 2> splits{1, std::min(most, filling_split(p, machine))};
  for (const std::int64_t split : given.in_range("split", std::span(splits).first(splits[1] > 1 ? 2 : 1), 1, most))
    plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
      offers.add({{{"split", split}}, seconds<T>(p, machine, split), skinny_workspace(p, split)});
    });
}

}  // namespace tessera::cuda
