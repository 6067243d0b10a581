// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the passes of filters walk over arrays: rows along one axis, and windows along any.
#pragma once

#include "arrays.hpp"
#include "row_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::python {

/// An array on the host. Strides are bytes and have any sign.
struct Elements {
  char* data = nullptr;
  Element type = Element::f64;
  int rank = 0;
  Axes shape{}, strides{};
};

/// What is read beyond an axis.
enum class Beyond { nearest, wrap, reflect, mirror, constant };

/// The points p - before, ..., p - before + extent - 1 of an axis, for each p.
struct Window {
  std::int64_t extent = 1, before = 0;
  Beyond beyond = Beyond::nearest;
  bool kept = false;  ///< where it has one point: the pass goes along this axis all the same
};

/// An axis of an input and of its output.
struct FrameAxis {
  std::int64_t count = 1, in_stride = 0, out_stride = 0;
  Window window;
  int axis = 0;  ///< of the arrays

  bool free() const { return window.extent == 1 && !window.kept; }
  /// The point that stands at `place`, which may be beyond the axis; -1: the constant.
  std::int64_t source(std::int64_t place) const;
};

/// The axes of a pass in the order of its loops: those without a window, those with one, and the one of the rows.
struct Frame {
  char* in = nullptr;
  char* out = nullptr;
  Element in_type = Element::f64, out_type = Element::f64;
  std::vector<FrameAxis> outer;
  std::size_t first_window = 0;  ///< the first of `outer` that has one
  FrameAxis row;
  double constant = 0.0;

  /// Windows: one for each axis of the arrays, which have the same shape. The rows lie along the axis of the smallest
  /// stride, but for short ones; axes without a window are joined to it where they can be.
  Frame(const Elements& in, const Elements& out, std::span<const Window> windows, double constant);

  std::int64_t outer_rows() const;
  /// Rows of the input that one row of the output needs.
  std::int64_t window_rows() const;
};

/// Rows of the input as numbers of A, with what lies beyond their ends. Those of the last window are kept.
template <class A>
class Rows {
 public:
  /// `longest`: points of a row that are asked for at once. `in_place`: the input's elements are of A and lie close.
  /// Rows are where they are, whole, and what lies beyond their ends is the caller's affair.
  Rows(const Frame& frame, Load<A> load, std::int64_t longest, bool in_place = false);

  /// Moves to the output's row at `index` along the outer axes, from point `first` on.
  void move(const std::vector<std::int64_t>& index, std::int64_t first, std::int64_t count);
  /// The rows of the window there, in the order of the windows' points. Each begins `row.window.before` points early.
  const A* const* rows() const { return rows_.data(); }
  /// Elements that each of them has, whole vectors: those behind the last point have any value.
  std::int64_t width() const { return width_; }

 private:
  const A* row_at(const std::vector<std::int64_t>& index, std::int64_t number);
  bool follows(const std::vector<std::int64_t>& index) const;

  const Frame& frame_;
  Load<A> load_;
  bool in_place_;
  std::int64_t width_, first_ = -1, count_ = 0;
  std::vector<A> memory_, beyond_;
  A* aligned_ = nullptr;
  std::vector<std::int64_t> index_;  ///< of the last move
  std::vector<std::int64_t> tags_;
  std::vector<const A*> rows_;
};

/// Loads `count` points along the frame's row axis from `place` on, which may be beyond it.
template <class A>
void load_row(const Frame& frame, Load<A> load, const char* base, std::int64_t place, std::int64_t count, A* to);

/// Calls work(index along the outer axes, number of the part) for rows [begin, end) of parts * frame.outer_rows().
template <class Work>
void for_rows(const Frame& frame, std::int64_t begin, std::int64_t end, Work&& work) {
  const std::int64_t rows = frame.outer_rows();
  std::vector<std::int64_t> index(frame.outer.size());
  std::int64_t left = begin % rows;
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = left % frame.outer[axis].count;
    left /= frame.outer[axis].count;
  }
  for (std::int64_t at = begin; at < end; ++at) {
    work(index, at / rows);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < frame.outer[axis].count) break;
      index[axis] = 0;
    }
  }
}

}  // namespace tessera::python
