// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loops of the algorithms that go row by row, and the terms that they sum.
#pragma once

#include "../vector.hpp"

#include <tessera/plugin/boundary.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tessera::cpu {

/// The terms of a row: coefficient[t] * in[offset[t]], in elements from a common base. Elements of 16 bits are summed
/// in f32 and rounded once.
template <class T>
struct RowTaps {
  const std::int64_t* offset;
  const std::int64_t* along;  ///< the steps along axis 2 that are in it
  const Scalar<T>* coefficient;
  std::int64_t count;
};

/// out[i * out_stride] = init + sum over taps of coefficient[t] * in[offset[t] + i * in_stride] for
/// i in [0, n), added in the order of the taps. Fast where both strides are 1.
template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
               std::int64_t out_stride, std::int64_t n);

/// The same bits for unit strides and the points of one cache line, wherever that starts.
template <class T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out);

/// How far ahead of use apply_row_nontemporal() should be told to fetch. The processor's own prefetch stops at
/// 4 KiB pages; 2 to 4 KiB measured alike, 1 KiB and less slower.
inline constexpr std::int64_t kAheadBytes = 4096;

/// Places for the first and the last line of a row that is longer, in place of those in the output; null: none.
template <class T>
struct LinesApart {
  T *first = nullptr, *last = nullptr;
};

/// The same bits for unit strides, by non-temporal stores: `out` is the start of a cache line, and n points fill whole
/// lines. n points from `newest` on are prefetched meanwhile. nontemporal_fence() must follow.
template <class T>
void apply_row_nontemporal(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n, const T* newest,
                           const LinesApart<T>& apart);

/// sum + factor * value by one multiply-add. Compilers that make vectors of such a loop multiply several taps at once
/// and add the rounded products: other bits than those of the loops along rows.
template <class S>
[[gnu::always_inline]] inline void add_product(S& sum, S factor, S value) {
  sum += factor * value;
  keep_in_register(sum);
}

/// The same point by point, for any strides.
template <class T>
void apply_strided(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
                   std::int64_t out_stride, std::int64_t n) {
  using S = Scalar<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    S sum = init;
    for (std::int64_t t = 0; t < taps.count; ++t)
      add_product(sum, taps.coefficient[t], S(in[taps.offset[t] + i * in_stride]));
    out[i * out_stride] = T(sum);
  }
}

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

/// Makes `terms` those of row (i, j), near a boundary of an outer axis: taps in rows that stand for others, at
/// row_offset(i, j) of these, or constants.
template <class T, class RowOffset>
void map_terms(const plugin::Domain& d, const std::vector<plugin::Tap>& taps, std::int64_t i, std::int64_t j,
               std::int64_t stride, const RowOffset& row_offset, RowTerms<T>& terms) {
  terms.clear();
  for (const plugin::Tap& tap : taps) {
    const plugin::Sample s = d.sample(i + tap.offset[0], j + tap.offset[1], 0);  // index 0 of axis 2 is inside
    if (s.constant)
      terms.init += Scalar<T>(tap.coefficient) * Scalar<T>(s.value);
    else
      terms.push(row_offset(s.index[0], s.index[1]), tap.offset[2], stride, Scalar<T>(tap.coefficient));
  }
}

/// Strides in elements.
template <class T>
void copy_points(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t n) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, std::size_t(n) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
}

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
