// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The single-threaded product by blocks and panels that `packed` and `direct` are made of.
#pragma once

#include "micro_kernel.hpp"
#include "tile.hpp"

#include <cstdint>

namespace tessera::cpu {

/// Blocks of op(A) are m x k, of op(B) k x n; their packed copies take so many elements, or 0 where they are not
/// packed.
struct Blocks {
  std::int64_t m, n, k;
  std::int64_t packed_a, packed_b;
};

/// Rows of C up to which B is worth reading only where it lies.
inline constexpr std::int64_t kFewRows = 2 * kRows;

/// Bytes of packed blocks that multiply_panels keeps on its stack: there it needs no workspace.
inline constexpr std::uint64_t kStackBytes = 16384;

/// Blocks for a product of m x n x k whose copies take `bytes` at most, or live on the stack.
template <class T>
Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool pack_a, bool pack_b, std::uint64_t bytes);

/// Products of a batch that go together; more than one only where nothing is packed.
struct Items {
  std::int64_t count = 1, stride_a = 0, stride_b = 0, stride_c = 0;
};

/// C <- alpha * op(A) * op(B) + beta * C. `workspace` holds the packed copies; null where they live on the stack.
template <class T>
void multiply_panels(const TileProduct<T>& product, const Blocks& blocks, T* workspace, const Items& items);

}  // namespace tessera::cpu
