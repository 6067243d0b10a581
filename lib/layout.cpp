// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::core {
namespace {

/// A box with a start, its axes by falling stride, none with fewer than two elements.
struct Box {
  Layout layout;
  std::int64_t first = 0;
};

Box simplified(const Layout& layout, std::int64_t first) {
  Box box{{}, first};
  for (int axis = 0; axis < layout.rank; ++axis)
    if (layout.extents[axis] > 1 && layout.strides[axis] > 0)
      box.layout.add_axis(layout.extents[axis], layout.strides[axis]);
  Layout& l = box.layout;
  for (int i = 1; i < l.rank; ++i)
    for (int j = i; j > 0 && l.strides[j] > l.strides[j - 1]; --j) {
      std::swap(l.strides[j], l.strides[j - 1]);
      std::swap(l.extents[j], l.extents[j - 1]);
    }
  return box;
}

/// An interval of elements, or one element: cannot be halved to any use.
bool solid(const Layout& l) { return l.rank == 0 || (l.rank == 1 && l.strides[0] == 1); }

bool intersect(const Box& a, const Box& b) {
  if (a.first > b.first + b.layout.reach() || b.first > a.first + a.layout.reach()) return false;
  if (solid(a.layout) && solid(b.layout)) return true;
  // Halve the box with the longer reach along its longest stride.
  const bool halve_a = !solid(a.layout) && (solid(b.layout) || a.layout.reach() >= b.layout.reach());
  const Box& whole = halve_a ? a : b;
  const std::int64_t extent = whole.layout.extents[0];
  Box low = whole, high = whole;
  low.layout.extents[0] = extent / 2;
  high.layout.extents[0] = extent - extent / 2;
  high.first += extent / 2 * whole.layout.strides[0];
  const Box lower = simplified(low.layout, low.first), upper = simplified(high.layout, high.first);
  return halve_a ? intersect(lower, b) || intersect(upper, b) : intersect(a, lower) || intersect(a, upper);
}

}  // namespace

bool Layout::empty() const {
  return std::any_of(extents, extents + rank, [](std::int64_t e) { return e == 0; });
}

std::int64_t Layout::origin() const {
  std::int64_t sum = 0;
  for (int axis = 0; axis < rank; ++axis) sum -= before[axis] * strides[axis];
  return sum;
}

std::int64_t Layout::reach() const {
  if (empty()) return -1;
  std::int64_t sum = 0;
  for (int axis = 0; axis < rank; ++axis) sum += (extents[axis] - 1) * strides[axis];
  return sum;
}

std::int64_t Layout::count() const {
  std::int64_t product = 1;
  for (int axis = 0; axis < rank; ++axis)
    if (strides[axis] != 0 || extents[axis] == 0) product *= extents[axis];
  return product;
}

void Layout::tidy() {
  std::int64_t inner = 0;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (extents[axis] < 2 && strides[axis] > inner + 1) strides[axis] = inner + 1;
    inner += std::max<std::int64_t>(extents[axis] - 1, 0) * strides[axis];
  }
}

Layout Layout::packed() const {
  Layout result = *this;
  std::int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (strides[axis] == 0) continue;
    result.strides[axis] = stride;
    stride *= std::max<std::int64_t>(extents[axis], 1);
  }
  return result;
}

bool addressable(const Layout& layout, std::int64_t element_size) {
  constexpr __int128 most = std::numeric_limits<std::int64_t>::max();
  __int128 sum = 1, product = 1;
  for (int axis = 0; axis < layout.rank; ++axis) {
    const __int128 extent = std::max<std::int64_t>(layout.extents[axis], 1);
    sum += (extent - 1) * layout.strides[axis];
    product *= extent;
    if (sum * element_size > most || product * element_size > most) return false;
  }
  return true;
}

bool nested(const Layout& layout) {
  for (int axis = 0; axis < layout.rank; ++axis)
    if (layout.extents[axis] > 1 && layout.strides[axis] == 0) return false;
  const Layout sorted = simplified(layout, 0).layout;
  std::int64_t inner = 0;
  for (int axis = sorted.rank - 1; axis >= 0; --axis) {
    if (sorted.strides[axis] <= inner) return false;
    inner += (sorted.extents[axis] - 1) * sorted.strides[axis];
  }
  return true;
}

bool share_element(const Layout& a, const Layout& b, std::int64_t distance) {
  if (a.empty() || b.empty()) return false;
  const Box left = simplified(a, 0), right = simplified(b, distance);
  // Interleaved arrays (real and imaginary parts, say): all strides share a factor that the distance lacks.
  std::int64_t factor = 0;
  for (const Layout* l : {&left.layout, &right.layout})
    for (int axis = 0; axis < l->rank; ++axis) factor = std::gcd(factor, l->strides[axis]);
  if (factor > 1 && distance % factor != 0) return false;
  return intersect(left, right);
}

}  // namespace tessera::core
