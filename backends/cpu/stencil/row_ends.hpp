// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The points at the ends of rows, of which taps leave the row.
#pragma once

#include "../vector.hpp"
#include "row_kernel.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/boundary.hpp>
#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cpu {

/// One row or two with the same taps, and what these read: `base` is where their offsets count from at the first point
/// of the first row.
template <class T>
struct EndRows {
  const T* row;
  const T* base;
  std::int64_t stride;  ///< of points
  RowTaps<T> taps;
  Scalar<T> init;
  std::int64_t next = 0;  ///< from a row to the other
  int count = 1;

  EndRows second() const { return {row + next, base + next, stride, taps, init}; }
};

/// Where the values of the points at the ends of rows go: point i to low[i], point high + i to high[i], where `high` is
/// the first point of the upper end.
template <class T>
struct EndValues {
  T *low, *high;
  std::int64_t next = 0;  ///< from a row's values to the other's
};

/// Vectors at the ends of rows are no longer than the ends need: those of a whole register mostly lie across two lines.
template <class T>
inline constexpr int kLeastLanes = 16 / int(sizeof(Scalar<T>));

/// The sums of a vector of `lanes` points from `low` on and of one from `high` on, in the order of the taps, for a unit
/// stride. Of the first ones taps leave the row only downwards, and of the others upwards. A null pointer for the
/// results: not wanted, but what taps read there is read. `lanes` is kLeastLanes times 1, 2 or 4, at most what a
/// register has room for.
template <class T>
void apply_row_ends(const EndRows<T>& rows, const Outside<T>& outside, std::int64_t lanes, std::int64_t low,
                    std::int64_t high, const EndValues<T>& sums);

/// The values of points [0, low()) and [high(), extent) of rows.
template <class T>
class RowEnds {
 public:
  explicit RowEnds(const plugin::Domain& d)
      : d_(d),
        outside_(d),
        low_(d.plain_begin(2)),
        high_(d.plain_end(2)),
        lanes_(lanes_for(std::max(low_, d.extents[2] - high_))),
        high_place_(room() - (d.extents[2] - high_)),
        low_sums_(low_ > 0 && d.mode[2][0] != TESSERA_BOUNDARY_FIXED),
        high_sums_(high_ < d.extents[2] && d.mode[2][1] != TESSERA_BOUNDARY_FIXED) {}

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

  /// Points around those that taps read, of all rows, that vectors of the ends read: what leaves a row is loaded from
  /// its other end or from near this one as a vector, which goes past that end, where taps need not reach.
  std::int64_t around() const { return lanes_ + std::max(d_.reach[2][0], d_.reach[2][1]); }
  /// Whether there are sums to do, and rows long enough for vectors at their ends.
  bool worth_vectors() const { return (low_sums_ || high_sums_) && high_ - low_ >= lanes_; }

  /// Room for the values of a row that is summed in vectors, and where they are in it.
  std::int64_t room() const { return round_up(low_) + round_up(d_.extents[2] - high_); }
  EndValues<T> values_in(T* room, std::int64_t next = 0) const { return {room, room + high_place_, next}; }

  /// The values of both ends, or of those that have a place to go to, where the strides of points are 1. With
  /// `in_vectors` plain points next to the ends are written as well: rows must be worth_vectors(), and around() more
  /// points than taps read inside the array.
  void sum(const EndRows<T>& rows, bool in_vectors, const EndValues<T>& to) const {
    const bool low_sums = in_vectors && low_sums_, high_sums = in_vectors && high_sums_;
    for (int r = 0; r < rows.count; ++r) {
      if (!low_sums && to.low != nullptr) sum_points(rows, r, {0, low_}, to.low + r * to.next, 1);
      if (!high_sums && to.high != nullptr) sum_points(rows, r, {high_, d_.extents[2]}, to.high + r * to.next, 1);
    }
    if (in_vectors) sum_vectors(rows, to);
  }

  /// Some points of row r, one by one, to results that start at `to`.
  void sum_points(const EndRows<T>& rows, int r, Span points, T* to, std::int64_t stride) const {
    for (std::int64_t i = points.begin; i < points.end; ++i, to += stride) {
      const std::int64_t at = i * rows.stride + r * rows.next;
      *to =
          d_.frozen_on(2, i) ? rows.row[at] : end_point(rows.base + at, rows.stride, rows.taps, rows.init, outside_, i);
    }
  }

 private:
  static std::int64_t lanes_for(std::int64_t points) {
    std::int64_t lanes = kLeastLanes<T>;
    while (lanes < std::min<std::int64_t>(points, kLanes<Scalar<T>>)) lanes *= 2;
    return lanes;
  }
  std::int64_t round_up(std::int64_t points) const { return plugin::round_up<std::int64_t>(points, lanes_); }

  void sum_vectors(const EndRows<T>& rows, const EndValues<T>& to) const {
    const std::int64_t low_end = low_sums_ && to.low != nullptr ? low_ : 0;
    const std::int64_t high_begin = high_sums_ && to.high != nullptr ? high_ : d_.extents[2];
    for (std::int64_t l = 0, h = d_.extents[2]; l < low_end || h > high_begin; l += lanes_) {
      T* const low_values = l < low_end ? to.low + l : nullptr;
      T* const high_values = h > high_begin ? to.high + (h - lanes_ - high_) : nullptr;
      h -= lanes_;
      // An end that is not wanted may be no part of a tile: plain points next to the other one stand in for it.
      const std::int64_t low = low_values != nullptr ? l : high_ - lanes_, high = high_values != nullptr ? h : low_;
      apply_row_ends(rows, outside_, lanes_, low, high, {low_values, high_values, to.next});
    }
  }

  plugin::Domain d_;
  Outside<T> outside_;
  std::int64_t low_, high_, lanes_, high_place_;
  bool low_sums_, high_sums_;  ///< whether points of the end are sums
};

}  // namespace tessera::cpu
