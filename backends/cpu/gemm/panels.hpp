// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product on one thread, by blocks and panels, that `packed` and `direct` are made of.
#pragma once

#include "../caches.hpp"
#include "micro_kernel.hpp"
#include "tile.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// Blocks of op(A) are m x k, of op(B) k x n; their packed copies take so many elements, or 0 where they are not
/// packed.
struct Blocks {
  std::int64_t m, n, k;
  std::int64_t packed_a, packed_b;
};

/// With so few rows of C at most, packing B never pays.
inline constexpr std::int64_t kFewRows = 2 * kRows;

/// Most k of a block: its panel of A fills a third of the first-level cache, the rest is for what passes through.
inline std::int64_t most_block_k(std::int64_t element) {
  return std::max<std::int64_t>(64, caches().level1 / 3 / (kRows * element));
}

/// Bytes of packed blocks that multiply_panels keeps on its stack: there it needs no workspace.
inline constexpr std::uint64_t kStackBytes = 16384;

/// Blocks for a product of m x n x k whose copies take `bytes` at most, or live on the stack.
template <class T>
Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool pack_a, bool pack_b, std::uint64_t bytes);

/// C <- alpha * op(A) * op(B) + beta * C. `workspace` holds the packed copies; null where they live on the stack.
template <class T>
void multiply_panels(const TileProduct<T>& product, const Blocks& blocks, T* workspace);

template <class T>
using TileKernel = void (*)(std::int64_t k, const TileOperands<T>&, const Epilogue<T>&, int last_lanes);

/// A tile of a product, and where its operands begin, in elements from those of the product.
template <class T>
struct TileStep {
  TileKernel<T> kernel;
  std::int64_t a, b, c;
  int last_lanes;
};

/// All tiles of a product whose operands are read where they lie; B is not transposed.
template <class T>
std::vector<TileStep<T>> tile_steps(const plugin::GemmProblem& problem);

}  // namespace tessera::cpu
