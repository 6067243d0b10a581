// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the unit of work of a thread is cut into blocks that caches hold.
#pragma once

#include "../machine.hpp"

#include <cstdint>

namespace tessera::cpu {

/// Which operands are copied block by block, in the order in which the kernels read them, and whether the sums of a
/// block of D are kept beside it, because D has 16 bits or lies the other way.
struct Packing {
  bool a, b;
  bool sums = false;
  bool pairs = false;         ///< two elements of bf16 in the place of one: for dot products
  bool turned = false;        ///< D^T = op(B)^T op(A)^T is computed: A and B, m and n have changed places
  bool chained = false;       ///< a sum is one chain of multiply-adds over all k, however k is cut; `sums` holds, too
  std::int64_t panels_k = 0;  ///< k of the blocks in which op(B) was packed before; 0: each execution packs it

  /// Whether executions copy op(B).
  constexpr bool copies_b() const { return b && panels_k == 0; }
  /// Packed elements of so many along k.
  constexpr std::int64_t count(std::int64_t k) const { return pairs ? (k + 1) / 2 : k; }
};

/// Blocks of op(A) are m x k, of op(B) k x n, of D m x n; their packed copies and the sums take so many elements, or 0
/// where there are none.
struct Blocks {
  std::int64_t m, n, k;
  std::int64_t packed_a, packed_b;
  std::int64_t sums = 0, span = 0;  ///< the sums are of so many columns, while op(A) is packed once

  std::int64_t elements() const { return packed_a + packed_b + sums; }
};

/// Bytes of blocks that are kept on the stack: there they need no workspace.
inline constexpr std::int64_t kStackBytes = 16384;

/// Columns of a panel of op(B), whose packed elements have so many bytes.
std::int64_t panel_width(const InstructionSet& instructions, std::int64_t element);

/// What blocks are made for: n and k of a unit.
struct UnitSize {
  std::int64_t n, k;
};

/// Blocks of these sizes.
Blocks make_blocks(const InstructionSet& instructions, std::int64_t element, UnitSize unit, std::int64_t m,
                   std::int64_t n, std::int64_t k, Packing packing);

/// k of a block of packed elements, where copies have room.
std::int64_t packed_block_k(const Machine& machine, std::int64_t element, std::int64_t k, Packing packing);

/// Blocks for a unit of m x n x k whose copies take `bytes` at most, or live on the stack.
Blocks choose_blocks(const Machine& machine, std::int64_t element, std::int64_t m, std::int64_t n, std::int64_t k,
                     Packing packing, std::int64_t bytes);

}  // namespace tessera::cpu
