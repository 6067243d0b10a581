// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What single sweeps read and write, and the taps as they need them.
#pragma once

#include "bundle_kernel.hpp"
#include "row_kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::cpu {

/// The taps of one row as distances from a base, outer axes apart: offset = row + along * stride.
template <class T>
struct RowTerms {
  std::vector<std::int64_t> offset, row, along;
  std::vector<T> coefficient;
  T init = T(-0.0);  ///< sum of the constant terms; -0.0 is the neutral element of addition

  explicit RowTerms(std::size_t capacity = 0) {
    offset.reserve(capacity), row.reserve(capacity), along.reserve(capacity), coefficient.reserve(capacity);
  }
  void clear() {
    offset.clear(), row.clear(), along.clear(), coefficient.clear();
    init = T(-0.0);
  }
  void push(std::int64_t row_offset, std::int64_t along_offset, std::int64_t stride, T c) {
    offset.push_back(distance({row_offset, along_offset, 0}, plugin::Index3{1, stride, 0}));
    row.push_back(row_offset);
    along.push_back(along_offset);
    coefficient.push_back(c);
  }
  RowTaps<T> taps() const { return {offset.data(), coefficient.data(), std::int64_t(offset.size())}; }
};

/// What a tap finds at an index outside axis 2: a constant, or the point that stands for it.
template <class T>
struct Beyond {
  bool constant;
  T value;
  std::int64_t index;
};

/// An array that sweeps read, with the taps of a row away from the outer boundaries.
template <class T>
struct Source {
  plugin::Index3 strides;
  RowTerms<T> terms;
  std::vector<BundleGroup<T>> groups;    ///< the same taps
  std::int64_t newest;                   ///< from a point to what its taps read that no row before has read
  std::int64_t lowest = 0, highest = 0;  ///< from a point to the first and the last that its taps read
  std::int64_t last = 0;                 ///< element of the array

  /// `groups` are those of the problem's taps, in that order.
  Source(const plugin::StencilProblem& p, const std::vector<TapGroup>& tap_groups, const plugin::Index3& s)
      : strides(s), terms(p.taps.size()), newest(distance({p.domain.reach[0][1], p.domain.reach[1][1], 0}, s)) {
    for (const auto& [offset, coefficient] : p.taps) {
      terms.push(distance({offset[0], offset[1], 0}, s), offset[2], s[2], T(coefficient));
      lowest = std::min(lowest, terms.offset.back());
      highest = std::max(highest, terms.offset.back());
    }
    const T* coefficient = terms.coefficient.data();
    for (const TapGroup& group : tap_groups) {
      groups.push_back(bundle_group(group, s, coefficient));
      coefficient += tap_count(group.pattern);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) last += (p.domain.extents[axis] - 1) * s[axis];
  }
};

/// What a sweep reads and writes.
template <class T>
struct Sweep {
  const Source<T>& source;
  const T* in;
  T* out;
  plugin::Index3 out_strides;
};

}  // namespace tessera::cpu
