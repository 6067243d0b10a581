// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loops for taps that fill a box.
#pragma once

#include "../vector.hpp"

#include <cstdint>

namespace tessera::cpu {

/// Rows that are computed together: a vector that is loaded once serves as many taps, of each row one.
inline constexpr int kDenseRows = 4;
/// Vectors of each row that are summed together: twelve sums fill the multiply-add units for their latency, and leave
/// registers for values where there are sixteen.
inline constexpr int kDenseVectors = 3;
template <class T>
inline constexpr std::int64_t kDensePoints = kDenseVectors* kLanes<T>;

/// kDenseRows rows of results, and the box of taps. Strides in elements.
template <class T>
struct DenseBlock {
  const T* in;                         ///< what the first tap of the first point reads
  std::int64_t in_row, in_plane;       ///< from a row of taps to the next, and from a plane of them
  std::int64_t planes, height, width;  ///< of the box; at least kDenseRows high
  const T* coefficient;                ///< row by row, plane by plane
  T* out;
  std::int64_t out_row;
  std::int64_t n;              ///< points of a row, a register's lanes at least
  std::int64_t next_rows = 0;  ///< from the first row to those that the next block is the first to read
  bool cached_column = false;  ///< the box is one wide, and what it reads is in the first-level cache
};

/// The bits of apply_row() for each row, with taps in the order of the coefficients and init = -0.0.
template <class T>
void apply_dense_block(const DenseBlock<T>& block);

}  // namespace tessera::cpu
