// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "blocks.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;

/// B is packed again for every block of A: so many of its rows repay that.
constexpr std::int64_t kMostBlockRows = 2048;
/// Panels of B that a longer block of k leaves room for.
constexpr std::int64_t kLeastPanels = 11;

/// k of a block whose panel of A fills a third of the first-level cache; the rest is for what passes through.
std::int64_t third_of_k(const Machine& machine, std::int64_t element, Packing packing) {
  const std::int64_t bytes = packing.pairs ? element / 2 : element;
  return std::max<std::int64_t>(64, machine.caches.level1 / 3 / (machine.instructions.tile_rows * bytes));
}

/// So many of k as make blocks of equal length, none of which is longer than `most`.
std::int64_t equal_blocks(std::int64_t k, std::int64_t most) { return round_up(ceil_div(k, ceil_div(k, most)), 8); }

/// Most k of a block.
std::int64_t most_k(const Machine& machine, std::int64_t element, std::int64_t m, std::int64_t n, std::int64_t k,
                    Packing packing) {
  const std::int64_t level2 = machine.caches.level2;
  const std::int64_t rows = machine.instructions.tile_rows, width = panel_width(machine.instructions, element);
  const std::int64_t third = third_of_k(machine, element, packing);
  if (packing.pairs) element /= 2;
  // With few columns A is read once: long parts of its rows, while the one panel of B stays in the second-level cache.
  if (!packing.a && n <= width) return level2 / 4 / (width * element);
  // With few rows B is read once, from memory: as many of its rows at a time as hardware prefetchers follow.
  if (!packing.b && m <= 2 * rows && n * k * element > level2 / 4) return 16;
  // In place up to two thirds of the first-level cache, while half of the second has enough panels of B.
  return packing.a ? third : std::clamp(level2 / 2 / (kLeastPanels * width * element), third, 2 * third);
}

}  // namespace

std::int64_t panel_width(const InstructionSet& instructions, std::int64_t element) {
  return instructions.tile_vectors * instructions.vector_bytes / element;
}

Blocks make_blocks(const InstructionSet& instructions, std::int64_t element, UnitSize unit, std::int64_t m,
                   std::int64_t n, std::int64_t k, Packing packing) {
  Blocks blocks{m, n, k, 0, 0, 0, unit.n};
  if (packing.a) blocks.packed_a = round_up(m, instructions.tile_rows) * packing.count(k);
  if (packing.copies_b()) blocks.packed_b = round_up(n, panel_width(instructions, element)) * packing.count(k);
  if (packing.sums && k < unit.k) {
    // As many columns as let the sums take twice the room of op(A).
    blocks.span = std::min(round_up(unit.n, n), std::max<std::int64_t>(1, 2 * packing.count(k) / n) * n);
    blocks.sums = m * blocks.span;
  }
  return blocks;
}

std::int64_t packed_block_k(const Machine& machine, std::int64_t element, std::int64_t k, Packing packing) {
  return equal_blocks(k, third_of_k(machine, element, packing));
}

Blocks choose_blocks(const Machine& machine, std::int64_t element, std::int64_t m, std::int64_t n, std::int64_t k,
                     Packing packing, std::int64_t bytes) {
  const std::int64_t rows = machine.instructions.tile_rows, width = panel_width(machine.instructions, element);
  std::int64_t block_k =
      packing.panels_k > 0 ? packing.panels_k : equal_blocks(k, most_k(machine, element, m, n, k, packing));
  // A block of B gets half of the second-level cache.
  const std::int64_t most_n =
      std::max(width, machine.caches.level2 / 2 / (packing.count(block_k) * element) / width * width);
  std::int64_t block_n = round_up(ceil_div(n, ceil_div(n, most_n)), width);
  std::int64_t block_m = std::min(round_up(m, rows), kMostBlockRows);
  for (;;) {
    const Blocks b = make_blocks(machine.instructions, element, {n, k}, block_m, block_n, block_k, packing);
    if (b.elements() * element <= std::max(bytes, kStackBytes)) return b;
    if (block_m > rows && (packing.a ? b.packed_a : b.sums) >= b.packed_b)
      block_m = round_up(block_m / 2, rows);
    else if (block_n > width)
      block_n = round_up(block_n / 2, width);
    else if (packing.panels_k > 0)
      return b;  // no room
    else
      block_k = ceil_div(block_k, 2);
  }
}

}  // namespace tessera::cpu
