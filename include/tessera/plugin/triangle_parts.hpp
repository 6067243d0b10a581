// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A triangle of D in blocks that plain products compute.
///
///     diagonal blocks   x        those of one distance from the diagonal and of one size follow one another at equal
///     of `block` rows   1 x      distances, so that a batch has them:
///                       2 2 x      1: blocks of `block` rows, 2: of twice as many ...
///                       2 2 1 x  what is left below has a rectangle, and a triangle of its own
///
/// Diagonal blocks are computed whole beside D, but for those of one element.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// Blocks of D that are one product, of a batch of them.
struct TrianglePart {
  GemmProblem problem;
  std::int64_t row, column;  ///< of the first one's first element
  bool diagonal;  ///< more than one element: D is the memory beside, packed, which gets the next one's behind it
};

namespace detail {

/// `count` blocks of rows x columns from an element on, each `apart` further along the diagonal than the one before.
inline TrianglePart triangle_part(const GemmProblem& whole, std::int64_t row, std::int64_t column, std::int64_t rows,
                                  std::int64_t columns, std::int64_t count, std::int64_t apart) {
  GemmProblem p = whole;
  if (p.ordered) p.whole_n = whole.fixed_extent();
  p.triangle = TESSERA_TRIANGLE_NONE, p.m = rows, p.n = columns;
  if (whole.batch == 1) {
    p.batch = count;
    p.stride_a = apart * (p.trans_a ? 1 : p.lda), p.stride_b = apart * (p.trans_b ? p.ldb : 1);
    p.stride_c = apart * (p.ldc + 1), p.stride_d = apart * (p.ldd + 1), p.stride_aux = apart * (p.ldaux + 1);
    p.bias_stride = apart * p.bias_increment;
  }
  return {p, row, column, row == column && rows > 1};
}

/// `count` blocks of a lower triangle, or of an upper one the same with rows and columns exchanged.
inline void add_blocks(const GemmProblem& p, std::int64_t row, std::int64_t column, std::int64_t rows,
                       std::int64_t columns, std::int64_t count, std::int64_t apart, std::vector<TrianglePart>& parts) {
  if (p.triangle == TESSERA_TRIANGLE_UPPER) std::swap(row, column), std::swap(rows, columns);
  const std::int64_t batches = p.batch == 1 ? 1 : count, each = p.batch == 1 ? count : 1;
  for (std::int64_t i = 0; i < batches; ++i)
    parts.push_back(triangle_part(p, row + i * apart, column + i * apart, rows, columns, each, apart));
}

/// The triangle of `extent` rows that begins on the diagonal, by products of blocks.
inline void add_triangle(const GemmProblem& p, std::int64_t first, std::int64_t extent, std::int64_t block,
                         std::vector<TrianglePart>& parts) {
  std::int64_t count = 1;  // of diagonal blocks, a power of two
  while (2 * count * block <= extent) count *= 2;
  const std::int64_t diagonal = count == 1 ? (std::min)(extent, block) : block;
  add_blocks(p, first, first, diagonal, diagonal, count, diagonal, parts);
  for (std::int64_t size = block; size < count * block; size *= 2)
    add_blocks(p, first + size, first, size, size, count * block / (2 * size), 2 * size, parts);
  const std::int64_t done = count == 1 ? diagonal : count * block, rest = extent - done;
  if (rest == 0) return;
  add_blocks(p, first + done, first, rest, done, 1, 0, parts);
  add_triangle(p, first + done, rest, block, parts);
}

}  // namespace detail

/// Those of a product of a triangle, with diagonal blocks of so many rows at most.
inline std::vector<TrianglePart> triangle_parts(const GemmProblem& p, std::int64_t block) {
  std::vector<TrianglePart> parts;
  if (p.n == 0 || p.batch == 0) return parts;
  detail::add_triangle(p, 0, p.n, block, parts);
  for (TrianglePart& part : parts)
    if (part.diagonal) {
      GemmProblem& q = part.problem;
      q.ldd = q.n, q.stride_d = q.n * q.n;
    }
  return parts;
}

}  // namespace tessera::plugin
