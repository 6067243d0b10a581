// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a product is cut into the units of work that threads take.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Bytes of a number in the kernels: that of A and B, or f32 where they have 16 bits.
inline std::int64_t scalar_bytes(const plugin::GemmProblem& p) {
  return plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return std::int64_t(sizeof(Scalar<T>)); });
}

/// Whether A and B can be packed as pairs, for dot products.
inline bool has_pairs(const plugin::GemmProblem& p) {
  return plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return std::is_same_v<T, bfloat16>; });
}

/// Whether sums can be kept in D.
inline bool holds_sums(const plugin::GemmProblem& p) {
  return std::int64_t(plugin::size_of(p.dtype_d)) == scalar_bytes(p);
}

/// Units of one product: tiles of D, and slices of k whose partial results are added in order.
struct Grid {
  std::int64_t tile_m, tile_n, slice_k;  ///< elements; the last of each may be smaller
  std::int64_t rows, columns, slices;    ///< how many

  std::int64_t units() const { return rows * columns * slices; }
};

/// What tiles are multiples of.
struct TileAlignment {
  std::int64_t m, n;
};

/// The cut into at most `parts` units, or as many as there are slices, whose largest takes the least time.
Grid choose_grid(const Machine& machine, const plugin::GemmProblem& problem, std::int64_t parts, std::int64_t slices,
                 TileAlignment alignment);

/// Units per product that share a batch evenly among the threads. A long batch needs one.
std::int64_t parts_per_product(std::int64_t batch, int threads);

}  // namespace tessera::cpu
