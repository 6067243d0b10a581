// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the parameters of `packed` and `direct` mean: how a problem is cut into units and blocks.
#pragma once

#include "../machine.hpp"
#include "blocks.hpp"
#include "grid.hpp"
#include "tile.hpp"

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

/// The product as it is computed: m and n, A and B exchanged where that is `turned`; bias, C and D as they lie. Packed
/// before, op(B) is not transposed.
plugin::GemmProblem as_computed(const plugin::GemmProblem& problem, bool turned);

/// Where the panels of an op(B) lie that was packed before: of a product as computed, whose form says how.
struct PanelsForm {
  std::int64_t block_k;
  bool pairs;
  std::int64_t columns;                     ///< of a matrix, in whole panels
  std::int64_t matrix, matrices;            ///< packed elements of one
  std::int64_t blocks, stretch, stretches;  ///< along k; columns that are packed at a time, and how often in a block

  PanelsForm(const Machine& machine, const plugin::GemmProblem& problem);
  std::int64_t items() const { return matrices * blocks * stretches; }
  std::uint64_t bytes(std::int64_t element) const;
  /// Of matrix number `item` of the batch, from column j on.
  Panels at(const void* form, std::int64_t element, std::int64_t item, std::int64_t j) const;
};

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
