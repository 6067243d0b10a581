// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The single-threaded product by blocks and panels that `packed` and `direct` are made of.
#pragma once

#include "tile.hpp"

#include <cstdint>

namespace tessera::cpu {

/// Blocks of op(A) are m x k, of op(B) k x n; their packed copies take so many elements, or 0 where they are not
/// packed.
struct Blocks {
  std::int64_t m, n, k;
  std::int64_t packed_a, packed_b;
};

/// Bytes of packed blocks that multiply_panels keeps on its stack: there it needs no workspace.
inline constexpr std::uint64_t kStackBytes = 16384;

/// Blocks for a product of m x n x k whose copies take `bytes` at most, or live on the stack.
template <class T>
Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool pack_a, bool pack_b, std::uint64_t bytes);

/// C <- alpha * op(A) * op(B) + beta * C. `workspace` holds the packed copies; null where they live on the stack.
template <class T>
void multiply_panels(const TileProduct<T>& product, const Blocks& blocks, T* workspace);

}  // namespace tessera::cpu
