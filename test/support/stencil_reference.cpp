// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tessera::test {

namespace {

using Index = std::array<std::int64_t, TESSERA_MAX_RANK>;

/// A packed array in C order.
template <class W>
struct Grid {
  Index extents{};
  std::vector<W> values;

  explicit Grid(const Index& e) : extents(e), values(std::size_t(e[0] * e[1] * e[2])) {}
  std::int64_t at(const Index& p) const { return (p[0] * extents[1] + p[1]) * extents[2] + p[2]; }
};

template <class Body>
void for_each_point(const Index& extents, Body&& body) {
  Index p;
  for (p[0] = 0; p[0] < extents[0]; ++p[0])
    for (p[1] = 0; p[1] < extents[1]; ++p[1])
      for (p[2] = 0; p[2] < extents[2]; ++p[2]) body(p);
}

/// The points that stand for those at distance 1, 2, ... outside a side of an axis of `extent` points. The axis is the
/// first part of a cell, whose copies side by side make the endless axis.
std::vector<std::int64_t> outwards(Boundary mode, int side, std::int64_t extent, std::int64_t distance) {
  const std::int64_t edge = side == 0 ? 0 : extent - 1;
  if (mode != Boundary::periodic && mode != Boundary::reflect && mode != Boundary::mirror)
    return std::vector<std::int64_t>(std::size_t(distance), edge);
  std::vector<std::int64_t> cell;  // a b c d, a b c d d c b a or a b c d c b
  for (std::int64_t i = 0; i < extent; ++i) cell.push_back(i);
  if (mode == Boundary::reflect)
    for (std::int64_t i = extent - 1; i >= 0; --i) cell.push_back(i);
  if (mode == Boundary::mirror)
    for (std::int64_t i = extent - 2; i > 0; --i) cell.push_back(i);
  std::vector<std::int64_t> points;
  std::size_t at = std::size_t(edge);
  for (std::int64_t step = 0; step < distance; ++step) {
    if (side == 0)
      at = at == 0 ? cell.size() - 1 : at - 1;
    else
      at = at + 1 == cell.size() ? 0 : at + 1;
    points.push_back(cell[at]);
  }
  return points;
}

/// The array with the ghost points of one axis added. A side that is a halo has them already: the modes of the other
/// side see the domain alone, whose first point is `first`.
template <class W>
Grid<W> padded(const Grid<W>& grid, std::size_t axis, const BoundaryAxis& boundary, std::int64_t low, std::int64_t high,
               const W (&constants)[2], std::int64_t domain, std::int64_t first) {
  const std::int64_t n = grid.extents[axis];
  const auto below = outwards(boundary.low.mode, 0, domain, low), above = outwards(boundary.high.mode, 1, domain, high);
  Index extents = grid.extents;
  extents[axis] += low + high;
  Grid<W> result(extents);
  for_each_point(extents, [&](const Index& p) {
    const std::int64_t i = p[axis] - low;
    const int side = i < 0 ? 0 : 1;
    W& target = result.values[std::size_t(result.at(p))];
    if ((i < 0 || i >= n) && (side == 0 ? boundary.low : boundary.high).mode == Boundary::constant) {
      target = constants[side];
      return;
    }
    Index source = p;
    source[axis] = i < 0 ? first + below[std::size_t(-1 - i)] : i >= n ? first + above[std::size_t(i - n)] : i;
    target = grid.values[std::size_t(grid.at(source))];
  });
  return result;
}

/// Pads all axes, the last one first: so constants of an earlier axis win in the corners, and index maps copy
/// constants.
template <class T, class W>
Grid<W> padded(Grid<W> grid, const StencilDesc& desc, const StencilLayout& layout, bool with_values) {
  for (std::size_t axis = desc.extents.size(); axis-- > 0;) {
    const BoundaryAxis& boundary = desc.boundary[axis];
    const W constants[2] = {with_values ? W(Scalar<T>(boundary.low.value)) : W(0),
                            with_values ? W(Scalar<T>(boundary.high.value)) : W(0)};
    grid = padded(grid, axis, boundary, layout.reach[axis][0] - layout.halo[axis][0],
                  layout.reach[axis][1] - layout.halo[axis][1], constants, layout.extents[axis],
                  grid.extents[axis] == layout.extents[axis] ? 0 : layout.halo[axis][0]);
  }
  return grid;
}

bool keeps_value(const StencilDesc& desc, const StencilLayout& layout, const Index& p) {
  for (std::size_t axis = 0; axis < desc.extents.size(); ++axis) {
    const BoundaryAxis& boundary = desc.boundary[axis];
    if (boundary.low.mode == Boundary::fixed && p[axis] - layout.reach[axis][0] < 0) return true;
    if (boundary.high.mode == Boundary::fixed && p[axis] + layout.reach[axis][1] >= layout.extents[axis]) return true;
  }
  return false;
}

/// sum of c x over the taps, or of |c| |x|.
template <class T, class W>
Grid<W> applied(const Grid<W>& source, const StencilDesc& desc, const StencilLayout& layout, bool magnitudes) {
  Grid<W> result(layout.extents);
  for (const Tap& tap : desc.taps) {
    const W coefficient = magnitudes ? std::abs(W(Scalar<T>(tap.coefficient))) : W(Scalar<T>(tap.coefficient));
    Index p{};
    for (p[0] = 0; p[0] < layout.extents[0]; ++p[0])
      for (p[1] = 0; p[1] < layout.extents[1]; ++p[1]) {
        p[2] = 0;
        Index q;
        for (std::size_t axis = 0; axis < q.size(); ++axis)
          q[axis] = p[axis] + layout.reach[axis][0] + tap.offset[axis];
        const W* const from = source.values.data() + source.at(q);
        W* const to = result.values.data() + result.at(p);
        if (magnitudes)
          for (std::int64_t i = 0; i < layout.extents[2]; ++i) to[i] += coefficient * std::abs(from[i]);
        else
          for (std::int64_t i = 0; i < layout.extents[2]; ++i) to[i] += coefficient * from[i];
      }
  }
  return result;
}

/// The caller's array with its halos as a packed one.
template <class W, class T>
Grid<W> gathered(const StencilLayout& layout, const T* in) {
  Index extents;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    extents[axis] = layout.extents[axis] + layout.halo[axis][0] + layout.halo[axis][1];
  Grid<W> grid(extents);
  for_each_point(extents, [&](const Index& p) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < p.size(); ++axis)
      at += (p[axis] - layout.halo[axis][0]) * layout.in_strides[axis];
    grid.values[std::size_t(grid.at(p))] = W(wide(in[at]));
  });
  return grid;
}

template <class W>
Grid<W> without_halo(const Grid<W>& grid, const StencilLayout& layout) {
  Grid<W> result(layout.extents);
  for_each_point(layout.extents, [&](const Index& p) {
    Index q = p;
    for (std::size_t axis = 0; axis < q.size(); ++axis) q[axis] += layout.halo[axis][0];
    result.values[std::size_t(result.at(p))] = grid.values[std::size_t(grid.at(q))];
  });
  return result;
}

/// The computed field's error after one more step, from that before it: see stencil_reference().
template <class T, class W>
Grid<double> next_error(const Grid<double>& error, const Grid<W>& around, const StencilDesc& desc,
                        const StencilLayout& layout) {
  const double terms = double(desc.taps.size() + 2);
  const double relative = terms * double(kUnitRoundoff<Scalar<T>> + std::numeric_limits<W>::epsilon());
  const double underflow = terms * Numbers<Scalar<T>>::kLeast;
  const Grid<double> error_around = padded<T>(error, desc, layout, false);
  Grid<double> largest(around.extents);  // |x| + e
  for (std::size_t i = 0; i < largest.values.size(); ++i)
    largest.values[i] = std::abs(double(around.values[i])) + error_around.values[i];
  Grid<double> result = applied<T>(error_around, desc, layout, true);
  const Grid<double> magnitude = applied<T>(largest, desc, layout, true);
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += relative * magnitude.values[i] + underflow;
  return result;
}

/// What rounding to a T of 16 bits between two steps does: to the values where sums are exact, else to their error.
template <class T, class W>
void round_between_steps(Grid<W>& field, Grid<double>& error, bool exact) {
  if constexpr (kNarrow<T>)
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      if (exact)
        field.values[i] = stored<T>(field.values[i]);
      else
        error.values[i] += kUnitRoundoff<T> * (std::abs(field.values[i]) + error.values[i]) + Numbers<T>::kLeast / 2;
    }
}

/// The reference in arithmetic of type W; without bounds when every sum is exact.
template <class T, class W>
Expected<T> reference_in(const StencilDesc& desc, const T* in, bool exact) {
  const StencilLayout layout = layout_of(desc);
  Expected<T> expected;
  if (layout.points() == 0) return expected;
  for_each_point(layout.extents, [&](const Index& p) {
    // No steps copy values, not bits: StencilDesc::steps.
    expected.untouched.push_back(desc.steps > 0 && keeps_value(desc, layout, p));
  });
  Grid<W> field = gathered<W>(layout, in);
  Grid<double> error(field.extents);  // zero: the input is exact
  for (std::int64_t step = 0; step < desc.steps; ++step) {
    const Grid<W> around = padded<T>(field, desc, layout, true);
    Grid<W> next = applied<T>(around, desc, layout, false);
    error = exact ? Grid<double>(layout.extents) : next_error<T>(error, around, desc, layout);
    if (step + 1 < desc.steps) round_between_steps<T>(next, error, exact);
    if (step == 0) field = without_halo(field, layout);
    for (std::size_t i = 0; i < expected.untouched.size(); ++i) {
      if (!expected.untouched[i]) continue;
      next.values[i] = field.values[i];
      error.values[i] = 0.0;
    }
    field = std::move(next);
  }
  if (desc.steps == 0) field = without_halo(field, layout), error = Grid<double>(layout.extents);
  expected.value.assign(field.values.begin(), field.values.end());
  if (!exact) expected.bound.assign(error.values.begin(), error.values.end());
  return expected;
}

}  // namespace

/// A step errs by (taps + 2) u sum |c| |x| (coefficient, product and sums of each tap) on top of sum |c| e, where e are
/// the errors of the step before; |x| of the computed field is at most |x| + e. Added: the reference's own error, and a
/// denormal number for each product that may underflow. u is that of f32 for a T of 16 bits, which rounds between
/// steps.
template <class T>
Expected<T> stencil_reference(const StencilDesc& desc, const T* in, bool exact) {
  if (exact) return reference_in<T, double>(desc, in, exact);  // fast, and exact in any type
  return reference_in<T, Wide<T>>(desc, in, exact);
}

template Expected<float> stencil_reference(const StencilDesc&, const float*, bool);
template Expected<double> stencil_reference(const StencilDesc&, const double*, bool);
template Expected<float16> stencil_reference(const StencilDesc&, const float16*, bool);
template Expected<bfloat16> stencil_reference(const StencilDesc&, const bfloat16*, bool);

}  // namespace tessera::test
