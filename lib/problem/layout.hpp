// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where an operand's elements lie, and whether two operands share one.
#pragma once

#include <cstdint>

namespace tessera::core {

/// A strided box of elements. Axes with stride 0 repeat the same elements (a matrix shared by a batch).
struct Layout {
  static constexpr int kMaxRank = 4;
  int rank = 0;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};  ///< elements, 0 and more
  std::int64_t before[kMaxRank] = {};   ///< elements along the axis before the operand's pointer: a halo

  void add_axis(std::int64_t extent, std::int64_t stride, std::int64_t halo = 0) {
    extents[rank] = extent;
    strides[rank] = stride;
    before[rank] = halo;
    ++rank;
  }
  /// Distance from the operand's pointer to the box's first element, 0 or less; 0 when it is empty.
  std::int64_t origin() const;
  bool empty() const;
  /// Distance from the box's first element to its last one; -1 when it is empty.
  std::int64_t reach() const;
  /// Elements that a packed copy holds (repeated ones once).
  std::int64_t count() const;
  /// Gives axes of one element, whose stride nobody follows, the least that keeps them apart from the axes behind them:
  /// a stride near 2^63 would overflow in arithmetic that goes one element beyond.
  void tidy();
  /// The same box without gaps, the last axis fastest; stride 0 stays 0.
  Layout packed() const;
  /// The same box of parts of elements, `parts` to each.
  Layout split(std::int64_t parts) const;
  /// Where neither is empty: whether each element of the one is at the same place in the other.
  bool operator==(const Layout&) const = default;
};

/// False when reach() or the size in bytes does not fit in 63 bits.
bool addressable(const Layout& layout, std::int64_t element_size);

/// True when no element is reached twice: sufficient and necessary for nested strides (each stride larger than the
/// reach of all smaller ones), which is what matrices, their batches and sub-grids have.
bool nested(const Layout& layout);

/// True when an element of `a` is one of `b`, where the box of `b` begins `distance` elements behind that of `a`.
/// Exact. Blocks of one parent array take a few steps, arrays of different pitch at most about a step for each row.
/// `steps`, where not null, is raised by their number.
bool share_element(const Layout& a, const Layout& b, std::int64_t distance, std::int64_t* steps = nullptr);

/// Rows of a matrix; `ld` is at least `length`.
struct Rows {
  std::int64_t rows, length, ld;

  std::int64_t reach() const { return (rows - 1) * ld + length - 1; }
};
/// The same as share_element for matrices of one `ld`, by one division.
bool share_element(const Rows& a, const Rows& b, std::int64_t distance);

}  // namespace tessera::core
