// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The taps of a row as its loops need them, and its points at the ends of the row.
#pragma once

#include "row_kernel.hpp"

#include <tessera/plugin/boundary.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// The offset of a point that lies so many steps of an axis away. Where it has no 64 bits it wraps around: nothing is
/// read there, and steps back lead to the right place again.
inline std::int64_t steps_away(std::int64_t offset, std::int64_t steps, std::int64_t stride) {
  return std::int64_t(std::uint64_t(offset) + std::uint64_t(steps) * std::uint64_t(stride));
}

/// The taps of one row as distances from a point, in elements: all of it, and the steps along axis 2 that are in it.
template <class T>
struct RowTerms {
  std::vector<std::int64_t> offset, along;
  std::vector<Scalar<T>> coefficient;
  Scalar<T> init = Scalar<T>(-0.0);  ///< sum of the constant terms; -0.0 is the neutral element of addition

  explicit RowTerms(std::size_t capacity = 0) {
    offset.reserve(capacity), along.reserve(capacity), coefficient.reserve(capacity);
  }
  void clear() {
    offset.clear(), along.clear(), coefficient.clear();
    init = Scalar<T>(-0.0);
  }
  void push(std::int64_t row_offset, std::int64_t along_offset, std::int64_t stride, Scalar<T> c) {
    offset.push_back(steps_away(row_offset, along_offset, stride));
    along.push_back(along_offset);
    coefficient.push_back(c);
  }
  RowTaps<T> taps() const { return {offset.data(), along.data(), coefficient.data(), std::int64_t(offset.size())}; }
};

/// Where neighbouring points beyond an end of a row find their values: in a constant, in neighbours in the same order
/// or in the opposite one, or all in one point.
enum class Map { constant, forward, backward, same };

/// What taps find outside axis 2; in a halo it is the point itself.
template <class T>
class Outside {
 public:
  /// A constant, or a point that lies so many steps along axis 2 from the place where the tap looks.
  struct Entry {
    bool constant;
    Scalar<T> value;
    std::int64_t shift;
  };

  explicit Outside(const plugin::Domain& d) : below_(d.reach[2][0]), extent_(d.extents[2]) {
    if (extent_ == 0) return;
    for (int side = 0; side < 2; ++side) map_[side] = map_of(d.mode[2][side]);
    for (std::int64_t i = -below_; i < 0; ++i) add(d, i, 0);
    for (std::int64_t i = extent_; i < extent_ + d.reach[2][1]; ++i) add(d, i, 1);
  }

  Map map(int side) const { return map_[side]; }
  std::int64_t extent() const { return extent_; }
  bool is_inside(std::int64_t index) const { return index >= 0 && index < extent_; }
  /// For an index that is outside.
  const Entry& at(std::int64_t index) const {
    return entries_[std::size_t(below_ + (index < 0 ? index : index - extent_))];
  }

 private:
  static Map map_of(std::int32_t mode) {
    switch (mode) {
      case TESSERA_BOUNDARY_CONSTANT:
        return Map::constant;
      case TESSERA_BOUNDARY_NEAREST:
        return Map::same;
      case TESSERA_BOUNDARY_REFLECT:
      case TESSERA_BOUNDARY_MIRROR:
        return Map::backward;
      default:
        return Map::forward;
    }
  }
  void add(const plugin::Domain& d, std::int64_t index, int side) {
    const bool constant = d.mode[2][side] == TESSERA_BOUNDARY_CONSTANT;
    entries_.push_back({constant, Scalar<T>(d.value[2][side]), constant ? 0 : d.mapped(2, index) - index});
  }

  Map map_[2] = {};
  std::int64_t below_, extent_;
  std::vector<Entry> entries_;  ///< indices [-reach, 0), then [extent, extent + reach)
};

/// The sum at `point`, which has index i on axis 2: where a plain vector loop cannot go, since taps leave the row.
template <class T>
[[gnu::always_inline]] inline T end_point(const T* point, std::int64_t stride, const RowTaps<T>& taps, Scalar<T> init,
                                          const Outside<T>& outside, std::int64_t i) {
  Scalar<T> sum = init;
  for (std::int64_t t = 0; t < taps.count; ++t) {
    const std::int64_t index = i + taps.along[t];
    std::int64_t from = taps.offset[t];
    if (!outside.is_inside(index)) {
      const auto& entry = outside.at(index);
      if (entry.constant) {
        add_product(sum, taps.coefficient[t], entry.value);
        continue;
      }
      from = steps_away(from, entry.shift, stride);
    }
    add_product(sum, taps.coefficient[t], Scalar<T>(point[from]));
  }
  return T(sum);
}

}  // namespace tessera::cpu
