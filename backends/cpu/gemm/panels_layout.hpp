// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the parameters of `packed` and `direct` mean: how a problem is cut into units and blocks.
#pragma once

#include "../machine.hpp"
#include "blocks.hpp"
#include "grid.hpp"

#include <tessera/plugin/plugin.hpp>

#include <cstdint>
#include <span>

namespace tessera::cpu {

/// The cut of the batch into units, tiles of C and slices of k, and of a unit into blocks. It does not depend on how
/// many threads OpenMP gives to an execution.
struct PanelsLayout {
  int threads;
  Packing packing;
  Grid grid;
  Blocks blocks;
  std::uint64_t partial_bytes, thread_bytes;  ///< of workspace: results of all slices but the first, a thread's blocks

  std::uint64_t workspace_bytes() const { return partial_bytes + thread_bytes * std::uint64_t(threads); }
};

/// The product as it is computed: m and n, A and B exchanged where that is `turned`; bias, C and D as they lie.
plugin::GemmProblem as_computed(const plugin::GemmProblem& problem, bool turned);

/// Whether columns of op(B) become rows in registers, and sums are chains: see InstructionSet::few_rows(). One row or
/// a k shorter than a vector does that for ordered sums alone: others are faster as dot products, or copied.
bool turns_columns(const Machine& machine, const plugin::GemmProblem& problem, std::int64_t rows);

/// Of the parameters threads, slices, block_m, block_n and block_k. As all functions here: of a product as computed.
PanelsLayout panels_layout(const Machine& machine, const plugin::GemmProblem& problem, Packing packing,
                           const plugin::Parameters& parameters);

/// Whether the plan of a layout is a list of register tiles: small products, each of which is one unit and one block.
bool lists_tiles(const Machine& machine, const plugin::GemmProblem& problem, const PanelsLayout& layout);

/// Offers layouts: for each number of slices that may pay the blocks that the caches like, and where the product is
/// small enough for it the list of tiles. `own`: the algorithm's parameters that say how it packs.
void offer_panels(const Machine& machine, const plugin::GemmProblem& problem, Packing packing,
                  const plugin::GivenParameters& given, std::span<const plugin::Parameters::Entry> own,
                  std::uint64_t workspace_limit, plugin::OfferList& offers);

}  // namespace tessera::cpu
