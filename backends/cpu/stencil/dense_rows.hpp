// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows whose taps fill a box, by blocks of kDenseRows. Where taps leave the domain, what they read is copied, with
/// what the boundary modes say, so that these points are summed as others are.
#pragma once

#include "../vector.hpp"
#include "dense_kernel.hpp"
#include "row_cells.hpp"
#include "row_kernel.hpp"
#include "sweep_source.hpp"
#include "tap_groups.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::cpu {

/// Of rows that have a vector of points, at least, whose taps stay inside.
template <class T>
class DenseRows {
 public:
  DenseRows(const plugin::Domain& d, const DenseBox& box)
      : d_(d), box_(box), axis_(std::size_t(box.row_axis)), between_{d.plain_begin(2), d.plain_end(2)} {
    const Span plain = between_;
    const std::int64_t n = d.extents[2], lanes = kLanes<T>;
    Span summed = plain;
    // Ends are whole vectors, with points next to those whose taps leave the row.
    if (plain.begin > 0 && d.mode[2][0] != TESSERA_BOUNDARY_FIXED) {
      between_.begin = plugin::ceil_div(plain.begin, lanes) * lanes, summed.begin = 0;
      set(kLow, {0, between_.begin});
    }
    if (plain.end < n && d.mode[2][1] != TESSERA_BOUNDARY_FIXED) {
      between_.end = n - plugin::ceil_div(n - plain.end, lanes) * lanes, summed.end = n;
      set(kHigh, {between_.end, n});
    }
    kept_[0] = {0, summed.begin}, kept_[1] = {summed.end, n};
    if (rows_are_mapped(d) && (summed.size() + box.count[2]) * rows_read(kMostRows) <= kMostValues) set(kWhole, summed);
    if (between_.size() <= 0 || between_.size() >= lanes) return;
    between_.begin = std::min(between_.begin, plain.end - lanes);
    between_.end = between_.begin + lanes;
  }

  /// Values that run() needs a place for.
  std::size_t room() const {
    std::int64_t most = 0;
    for (const RowCells<T>& cells : parts_) most = std::max(most, cells.count());
    return std::size_t(most * rows_read(kMostRows));
  }

  /// Rows along the box's axis, from row (i, j) on, that run() takes together, of `most` at most. 0: it takes none.
  std::int64_t together(std::int64_t i, std::int64_t j, std::int64_t most) const {
    const std::int64_t row = axis_ == 0 ? i : j, other = axis_ == 0 ? j : i;
    const bool copies = parts_[kWhole].count() > 0;
    const auto blocks = [&](std::int64_t rows) {
      return std::min({rows, most, d_.extents[axis_] - row, kMostRows}) / kDenseRows * kDenseRows;
    };
    if (!d_.plain_on(int(1 - axis_), other)) return copies ? blocks(kMostRows) : 0;
    const std::int64_t plain = d_.plain_on(int(axis_), row) ? blocks(d_.plain_end(int(axis_)) - row) : 0;
    return plain > 0 || !copies ? plain : blocks(kDenseRows);
  }

  /// `count` rows, as together() says.
  void run(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, std::int64_t count, T* room) const {
    const Source<T>& source = sweep.source;
    const std::size_t other = 1 - axis_;
    const auto row_of = [&](std::int64_t k, std::int64_t l) {
      return sweep.in + k * source.strides[0] + l * source.strides[1];
    };
    DenseBlock<T> rows{row_of(i, j) + source.first_tap - box_.first[2],  // of column 0
                       source.strides[axis_],
                       source.strides[other],
                       box_.count[other],
                       box_.count[axis_],
                       box_.count[2],
                       source.terms.coefficient.data(),
                       sweep.out + i * sweep.out_strides[0] + j * sweep.out_strides[1],
                       sweep.out_strides[axis_],
                       0};
    if (d_.plain_on(0, i) && d_.plain_on(1, j) && d_.plain_on(int(axis_), (axis_ == 0 ? i : j) + count - 1)) {
      DenseBlock<T> inner = rows;
      inner.in += between_.begin + box_.first[2], inner.out += between_.begin, inner.n = between_.size();
      inner.next_rows = (box_.count[axis_] - 1 + kDenseRows) * inner.in_row + (box_.count[other] - 1) * inner.in_plane +
                        box_.count[2] - 1;
      if (inner.n > 0) sum_rows(inner, count);
      const auto row = [&](auto plane, auto r) { return rows.in + plane * rows.in_plane + r * rows.in_row; };
      for (const auto end : {kLow, kHigh}) sum(end, rows, count, room, row);
    } else {
      sum(kWhole, rows, count, room, [&](auto plane, auto r) {
        plugin::Index3 at{i, j, 0};
        at[axis_] += box_.first[axis_] + r, at[other] += box_.first[other] + plane;
        const plugin::Sample s = d_.sample(at[0], at[1], 0);
        return row_of(s.index[0], s.index[1]);
      });
    }
    for (const Span& kept : kept_)
      for (std::int64_t r = 0; r < count && kept.size() > 0; ++r)
        copy_points(row_of(i, j) + r * rows.in_row + kept.begin, 1, rows.out + r * rows.out_row + kept.begin, 1,
                    kept.size());
  }

 private:
  enum Part { kLow, kHigh, kWhole };
  /// Rows of results that share a copy, at most, and values of one of whole rows.
  static constexpr std::int64_t kMostRows = 4 * kDenseRows, kMostValues = std::int64_t{1} << 18;

  void set(Part part, Span columns) { parts_[part].set(d_, columns, box_.first[2], box_.count[2]); }

  /// Rows that taps of so many rows of results read.
  std::int64_t rows_read(std::int64_t count) const { return box_.count[1 - axis_] * (box_.count[axis_] + count - 1); }

  static void sum_rows(DenseBlock<T> block, std::int64_t count) {
    for (; count > 0; count -= kDenseRows) {
      apply_dense_block(block);
      block.in += kDenseRows * block.in_row, block.out += kDenseRows * block.out_row;
    }
  }

  /// A part of the rows, if it has sums of its own: row(plane, r) is the first point of what the r-th row of taps in a
  /// plane of them reads.
  template <class Row>
  void sum(Part part, const DenseBlock<T>& rows, std::int64_t count, T* room, Row&& row) const {
    const RowCells<T>& cells = parts_[part];
    const std::int64_t pitch = cells.count(), height = rows.height + count - 1;
    if (pitch == 0) return;
    T* to = room;
    for (std::int64_t plane = 0; plane < rows.planes; ++plane)
      for (std::int64_t r = 0; r < height; ++r, to += pitch) cells.copy(row(plane, r), 1, {0, pitch}, to);
    DenseBlock<T> block = rows;
    block.in = room, block.in_row = pitch, block.in_plane = height * pitch;
    block.out += cells.columns().begin, block.n = cells.columns().size();
    sum_rows(block, count);
  }

  plugin::Domain d_;
  DenseBox box_;
  std::size_t axis_;
  std::array<RowCells<T>, 3> parts_;
  Span between_;  ///< points that are summed where they lie: none, or a vector of them at least
  Span kept_[2];  ///< those that keep their values
};

}  // namespace tessera::cpu
