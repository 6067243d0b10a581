// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Cells that points of a row and their neighbours along it read, copied side by side.
#pragma once

#include "../convert.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/boundary.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// Some columns, and what their taps along a row read: cell c is `first` + c columns behind the first one.
template <class T>
class RowCells {
  using S = Scalar<T>;

 public:
  /// Room for cells outside of the domain, so that set() throws nothing for so many cells.
  void reserve(std::int64_t cells) { outside_.reserve(std::size_t(cells)); }

  void set(const plugin::Domain& d, Span columns, std::int64_t first, std::int64_t taps) {
    columns_ = columns, begin_ = columns.begin + first, count_ = columns.size() + taps - 1;
    inside_.begin = std::clamp<std::int64_t>(-begin_, 0, count_);
    inside_.end = std::clamp<std::int64_t>(d.extents[2] - begin_, inside_.begin, count_);
    outside_.clear();
    for (std::int64_t cell = 0; cell < count_; ++cell) {
      if (inside_.holds(cell)) continue;
      const plugin::Sample s = d.sample(0, 0, begin_ + cell);  // of a row in the domain
      outside_.push_back({cell, s.index[2], s.constant, S(s.value)});
    }
  }

  const Span& columns() const { return columns_; }
  std::int64_t count() const { return count_; }
  /// Those in the domain.
  const Span& inside() const { return inside_; }
  /// Where cell 0 is in a row.
  const T* in(const T* row, std::int64_t stride) const { return row + begin_ * stride; }

  /// Copies cells of a row whose points lie `stride` apart: those of `part`, and all outside of the domain.
  void copy(const T* row, std::int64_t stride, Span part, S* to) const {
    const Span plain{std::max(part.begin, inside_.begin), std::min(part.end, inside_.end)};
    const T* const cells = in(row, stride);
    if (stride == 1)
      copy_wide<T>(cells + plain.begin, plain.size(), to + plain.begin);
    else
      for (std::int64_t cell = plain.begin; cell < plain.end; ++cell) to[cell] = S(cells[cell * stride]);
    for (const Outside& o : outside_) to[o.cell] = o.constant ? o.value : S(row[o.column * stride]);
  }

 private:
  /// A cell that stands for a column of the domain, or has a value.
  struct Outside {
    std::int64_t cell, column;
    bool constant;
    S value;
  };
  Span columns_{}, inside_{};
  std::int64_t begin_ = 0, count_ = 0;
  std::vector<Outside> outside_;
};

}  // namespace tessera::cpu
