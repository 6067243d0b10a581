// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product on one thread, by blocks and panels, that `packed` and `direct` are made of.
#pragma once

#include "blocks.hpp"
#include "dot_product.hpp"
#include "micro_kernel.hpp"
#include "tile.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// D <- finish(alpha * op(A) * op(B) + beta * C). `workspace` holds the packed copies; null where they live on the
/// stack. A and B of 16 bits are packed both, as float.
template <class T>
void multiply_panels(const TileProduct<T>& product, const Blocks& blocks, Scalar<T>* workspace);

/// Whether it takes columns of op(B), which lie along k, to registers alone: see InstructionSet::few_rows(). Of chained
/// products with a target.
template <class T>
constexpr bool takes_columns(const TileProduct<T>& p) {
  return sizeof(T) != 2 && p.trans_b && p.m <= kInstructionSet.few_rows(sizeof(T));
}

/// D <- alpha * op(A) * op(B) + beta * C by the kernels alone, for operands that caches hold. A transposed B is copied
/// to the stack, as many panels of so many of k at a time as fit there.
template <class T>
void multiply_small(const TileProduct<T>& product);

/// Packs columns of a block of op(B), from `column` on, the first of a panel, and row `l`; the panels of `target` are
/// of k rows. Returns the least exponent, of pairs.
template <class T>
int pack_columns(const TileProduct<T>& product, std::int64_t l, std::int64_t column, std::int64_t columns,
                 std::int64_t k, Scalar<T>* target);
/// The same as pairs.
int pack_pair_columns(const TileProduct<bfloat16>& product, std::int64_t l, std::int64_t column, std::int64_t columns,
                      std::int64_t k, Scalar<bfloat16>* target);

/// multiply_panels with A and B packed as pairs, by dot products. This and pack_pair_columns: where kHasDotProducts.
void multiply_pairs(const TileProduct<bfloat16>& product, const Blocks& blocks, Scalar<bfloat16>* workspace);

/// A tile of T whose operands are packed as P.
template <class T, class P = T>
using TileKernel = void (*)(std::int64_t k, const TileOperands<T, P>&, const Epilogue<T>&, int last_lanes);

/// A tile of a product, and where its operands begin, in elements from those of the product.
template <class T>
struct TileStep {
  TileKernel<T> kernel;
  std::int64_t a, b, c, d;
  int last_lanes;
};

/// All tiles of a product whose operands are read where they lie; B is not transposed.
template <class T>
std::vector<TileStep<T>> tile_steps(const plugin::GemmProblem& problem);

}  // namespace tessera::cpu
