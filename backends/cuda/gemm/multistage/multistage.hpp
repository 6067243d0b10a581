// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm multistage cuts a product, and how long that takes: pure functions of the problem and the machine,
/// without CUDA.
#pragma once

#include "../../machine.hpp"
#include "../triangle_tiles.hpp"

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::cuda {

/// The most slices of k that a plan takes.
inline constexpr std::int64_t kMultistageMostSplit = 256;

/// Calls body(std::type_identity<A>{}) for the arithmetic of a tile of that type's.
template <class Body>
decltype(auto) with_arithmetic(tessera_dtype dtype, const MultistageTile& tile, Body&& body) {
  if (tile.tf32) return body(std::type_identity<Tf32>{});
  return plugin::with_types(dtype, std::forward<Body>(body));
}

/// One way to run a product.
struct MultistageConfig {
  MultistageTile tile;
  std::int64_t split = 1;      ///< slices of k, whose sums are added in order
  std::int64_t transpose = 0;  ///< columns of op(B) that are transposed at a time, before their products; 0: none
};

/// The tiles of each permitted arithmetic for the problem's operands whose shared memory a block of the machine has.
std::vector<MultistageTile> multistage_tiles(const plugin::GemmProblem& problem, const Machine& machine);

/// Whether the tile transposes that operand on its way into shared memory, word by word.
bool multistage_transposes_a(const plugin::GemmProblem& problem, const MultistageTile& tile);
bool multistage_transposes_b(const plugin::GemmProblem& problem, const MultistageTile& tile);

/// Bytes of the widest copies that the operand's layout allows, 16 at most; its address must, too.
int multistage_alignment_a(const plugin::GemmProblem& problem);
int multistage_alignment_b(const plugin::GemmProblem& problem);

/// Whether the sums of the slices go through memory, to a second kernel, instead of a cluster's shared memory.
bool multistage_uses_workspace(const Machine& machine, std::int64_t split);

/// Bytes that the sums of the slices, or the transposed columns, take there.
std::uint64_t multistage_workspace(const plugin::GemmProblem& problem, const Machine& machine,
                                   const MultistageConfig& config);

/// The most slices whose sums fit into the limit; at least 1.
std::int64_t multistage_most_slices(const plugin::GemmProblem& problem, const Machine& machine,
                                    std::uint64_t workspace_limit);

/// The most columns that fit into the limit, in equal chunks of whole tiles; 0 where that is no tile, or where nothing
/// is to be gained. A tile that transposes both operands has no registers to spread their copies over the products,
/// which costs a tenth of its time. A large product has the time to transpose one of them before.
std::int64_t multistage_most_transposed(const plugin::GemmProblem& problem, const MultistageTile& tile,
                                        std::uint64_t workspace_limit);

/// A triangle of D by such tiles.
TriangleTiles multistage_triangle(const plugin::GemmProblem& problem, const MultistageTile& tile);

/// Blocks of a launch.
double multistage_blocks(const plugin::GemmProblem& problem, const MultistageConfig& config);

/// Predicted time of an execution.
double multistage_seconds(const plugin::GemmProblem& problem, const Machine& machine, const MultistageConfig& config);

/// "tile_m", "tile_n", "split", "transpose": a configuration as parameters, and back. "compute", too, where the problem
/// permits several kinds of arithmetic.
plugin::Parameters multistage_parameters(const plugin::GemmProblem& problem, const MultistageConfig& config);
MultistageConfig multistage_config(const plugin::GemmProblem& problem, const Machine& machine,
                                   const plugin::Parameters& parameters);

}  // namespace tessera::cuda
