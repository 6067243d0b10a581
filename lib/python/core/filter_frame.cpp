// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "filter_frame.hpp"

#include <algorithm>
#include <cstdlib>

namespace tessera::python {
namespace {

constexpr std::int64_t kLine = 64;      // bytes of the cache
constexpr std::int64_t kShortRow = 16;  // points, below which a longer axis is better

/// Along which axis rows lie.
std::size_t row_axis(const std::vector<FrameAxis>& axes) {
  std::size_t best = 0;
  const auto stride = [&](std::size_t i) { return std::abs(axes[i].in_stride) + std::abs(axes[i].out_stride); };
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const bool long_enough = axes[i].count >= kShortRow, best_long = axes[best].count >= kShortRow;
    if (long_enough != best_long ? long_enough : stride(i) <= stride(best)) best = i;
  }
  return best;
}

/// Joins axes to the rows that go on where those end.
void join(FrameAxis& row, std::vector<FrameAxis>& free) {
  for (bool joined = row.free(); joined;) {
    joined = false;
    for (std::size_t i = 0; i < free.size() && !joined; ++i)
      if (free[i].in_stride == row.in_stride * row.count && free[i].out_stride == row.out_stride * row.count) {
        row.count *= free[i].count;
        free.erase(free.begin() + std::ptrdiff_t(i));
        joined = true;
      }
  }
}

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// A whole, odd number of lines: rows at a distance of a power of two would take each other's place in the cache.
std::int64_t padded(std::int64_t count, std::int64_t line) { return ((count + line - 1) / line | 1) * line; }

std::int64_t floor_modulo(std::int64_t value, std::int64_t period) {
  const std::int64_t rest = value % period;
  return rest < 0 ? rest + period : rest;
}

}  // namespace

std::int64_t FrameAxis::source(std::int64_t place) const {
  if (place >= 0 && place < count) return place;
  switch (window.beyond) {
    case Beyond::nearest:
      return place < 0 ? 0 : count - 1;
    case Beyond::wrap:
      return floor_modulo(place, count);
    case Beyond::reflect: {
      const std::int64_t rest = floor_modulo(place, 2 * count);
      return rest < count ? rest : 2 * count - 1 - rest;
    }
    case Beyond::mirror: {
      if (count == 1) return 0;
      const std::int64_t rest = floor_modulo(place, 2 * count - 2);
      return rest < count ? rest : 2 * count - 2 - rest;
    }
    case Beyond::constant:
      break;
  }
  return -1;
}

Frame::Frame(const Elements& input, const Elements& output, std::span<const Window> windows, double beyond)
    : in(input.data), out(output.data), in_type(input.type), out_type(output.type), constant(beyond) {
  std::vector<FrameAxis> axes;
  for (std::size_t i = 0; i < std::size_t(input.rank); ++i) {
    const FrameAxis axis{input.shape[i], input.strides[i], output.strides[i], windows[i], int(i)};
    if (axis.count > 1 || !axis.free()) axes.push_back(axis);
  }
  if (axes.empty()) return;
  const std::size_t chosen = row_axis(axes);
  row = axes[chosen];
  axes.erase(axes.begin() + std::ptrdiff_t(chosen));
  for (const FrameAxis& axis : axes)
    if (axis.free()) outer.push_back(axis);
  join(row, outer);
  first_window = outer.size();
  for (const FrameAxis& axis : axes)
    if (!axis.free()) outer.push_back(axis);
}

std::int64_t Frame::outer_rows() const {
  std::int64_t rows = 1;
  for (const FrameAxis& axis : outer) rows *= axis.count;
  return rows;
}

std::int64_t Frame::window_rows() const {
  std::int64_t rows = 1;
  for (const FrameAxis& axis : outer) rows *= axis.window.extent;
  return rows;
}

template <class A>
void load_row(const Frame& frame, Load<A> load, const char* base, std::int64_t place, std::int64_t count, A* to) {
  const FrameAxis& row = frame.row;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = place + done, left = count - done;
    if (at >= 0 && at < row.count) {
      const std::int64_t inside = std::min(left, row.count - at);
      load(base + at * row.in_stride, row.in_stride, inside, to + done);
      done += inside;
      continue;
    }
    const std::int64_t source = row.source(at);
    if (source < 0)
      to[done] = A(frame.constant);
    else
      load(base + source * row.in_stride, row.in_stride, 1, to + done);
    ++done;
  }
}

template <class A>
Rows<A>::Rows(const Frame& frame, Load<A> load, std::int64_t longest, bool in_place)
    : frame_(frame),
      load_(load),
      in_place_(in_place),
      width_(padded(longest + frame.row.window.extent - 1, kLine / std::int64_t(sizeof(A)))),
      memory_(in_place ? 0 : std::size_t(frame.window_rows() * width_) + kLine / sizeof(A)),
      index_(frame.outer.size(), -1),
      tags_(std::size_t(frame.window_rows()), -1),
      rows_(std::size_t(frame.window_rows())) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  aligned_ =
      memory_.data() + (rounded_up(std::int64_t(address), kLine) - std::int64_t(address)) / std::int64_t(sizeof(A));
  for (const FrameAxis& axis : frame.outer)
    if (!axis.free() && axis.window.beyond == Beyond::constant)
      beyond_.assign(std::size_t(in_place ? frame.row.count : width_), A(frame.constant));
}

template <class A>
void Rows<A>::move(const std::vector<std::int64_t>& index, std::int64_t first, std::int64_t count) {
  const bool same_rows = first == first_ && count == count_ &&
                         std::equal(index.begin(), index.begin() + std::ptrdiff_t(frame_.first_window), index_.begin());
  if (!same_rows) std::fill(tags_.begin(), tags_.end(), -1);
  first_ = first, count_ = count;
  const std::size_t extent = index.empty() ? 1 : std::size_t(frame_.outer.back().window.extent);
  const std::size_t kept = same_rows && follows(index) ? extent - 1 : 0;
  index_ = index;
  for (std::size_t number = 0; number < rows_.size(); number += extent) {
    std::copy_n(rows_.begin() + std::ptrdiff_t(number + 1), kept, rows_.begin() + std::ptrdiff_t(number));
    for (std::size_t k = kept; k < extent; ++k) rows_[number + k] = row_at(index, std::int64_t(number + k));
  }
}

/// Whether this is the next point of the last axis.
template <class A>
bool Rows<A>::follows(const std::vector<std::int64_t>& index) const {
  return !index.empty() && index.back() == index_.back() + 1 &&
         std::equal(index.begin(), index.end() - 1, index_.begin());
}

/// A row of the window has a place that its coordinates give: the rows of a window never share one, and a window that
/// moves on by a point keeps most of them.
template <class A>
const A* Rows<A>::row_at(const std::vector<std::int64_t>& index, std::int64_t number) {
  const char* base = frame_.in;
  std::int64_t slot = 0, tag = 0, scale = 1, tag_scale = 1;
  for (std::size_t i = frame_.outer.size(); i-- > 0;) {
    const FrameAxis& axis = frame_.outer[i];
    const std::int64_t extent = axis.window.extent;
    const std::int64_t place = index[i] - axis.window.before + number % extent;
    number /= extent;
    const std::int64_t source = axis.source(place);
    if (source < 0) return beyond_.data();
    base += source * axis.in_stride;
    if (i < frame_.first_window) continue;
    slot += floor_modulo(place, extent) * scale;
    scale *= extent;
    tag += (place + extent) * tag_scale;
    tag_scale *= axis.count + 2 * extent;
  }
  if (in_place_) return reinterpret_cast<const A*>(base);
  A* const row = aligned_ + slot * width_;
  if (tags_[std::size_t(slot)] == tag) return row;
  load_row(frame_, load_, base, first_ - frame_.row.window.before, count_ + frame_.row.window.extent - 1, row);
  tags_[std::size_t(slot)] = tag;
  return row;
}

template void load_row(const Frame&, Load<double>, const char*, std::int64_t, std::int64_t, double*);
template class Rows<double>;
template class Rows<float>;

}  // namespace tessera::python
