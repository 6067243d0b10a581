// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tessera::core {
namespace {

/// The axes that lead from element to element, by rising stride.
Layout without_repeats(const Layout& layout) {
  Layout l;
  for (int axis = 0; axis < layout.rank; ++axis)
    if (layout.extents[axis] > 1 && layout.strides[axis] > 0) l.add_axis(layout.extents[axis], layout.strides[axis]);
  for (int i = 1; i < l.rank; ++i)
    for (int j = i; j > 0 && l.strides[j] < l.strides[j - 1]; --j) {
      std::swap(l.strides[j], l.strides[j - 1]);
      std::swap(l.extents[j], l.extents[j - 1]);
    }
  return l;
}

/// Holds every distance and reach of addressable boxes, their sums, and the product of two strides.
using Wide = __int128;

/// x with a x = 1 (mod m), in [0, m), for a and m without a common factor. Extended Euclid.
Wide inverse(Wide a, Wide m) {
  Wide x = 1, y = 0, rest = m;
  for (a %= m; rest != 0;) {
    const Wide quotient = a / rest;
    std::swap(a -= quotient * rest, rest);
    std::swap(x -= quotient * y, y);
  }
  return m == 1 ? 0 : (x % m + m) % m;
}

/// Whether a sum of stride * t over all axes, 0 <= t <= last of the axis, can have a given value.
class Sum {
 public:
  /// Axes by rising stride. Axes whose values together are the multiples of one stride become one.
  void add_axis(Wide stride, Wide last) {
    for (int i = 0; i < size_; ++i)
      if (stride % axes_[i].stride == 0 && axes_[i].last >= stride / axes_[i].stride - 1) {
        axes_[i].last += stride / axes_[i].stride * last;
        return;
      }
    axes_[size_++] = {stride, last, 0, 0, 0, 0};
  }

  bool reaches(Wide value, std::int64_t& steps) {
    Wide reach = 0, factor = 0;
    for (int i = 0; i < size_; ++i) {
      Axis& a = axes_[i];
      a.reach_below = reach;
      a.common = factor == 0 ? a.stride : gcd(a.stride, factor);
      a.step = factor / a.common;
      a.inverse = a.step == 0 ? 0 : inverse(a.stride / a.common, a.step);
      reach += a.stride * a.last;
      factor = a.common;
    }
    return value >= 0 && value <= reach && search(size_ - 1, value, steps);
  }

 private:
  struct Axis {
    Wide stride, last;
    Wide reach_below;  ///< of all axes with smaller strides
    Wide common;       ///< factor of this stride and all smaller ones
    Wide step;         ///< distance of the t that leave a value which the smaller strides' factor divides
    Wide inverse;      ///< of stride / common, modulo step
  };

  static Wide gcd(Wide a, Wide b) {
    while (b != 0) std::swap(a %= b, b);
    return a;
  }

  /// With axes up to `i` alone; 0 <= value <= their reach.
  bool search(int i, Wide value, std::int64_t& steps) const {
    ++steps;
    if (i < 0) return value == 0;
    const Axis& a = axes_[i];
    if (value % a.common != 0) return false;
    if (i == 0) return true;
    const Wide low = value <= a.reach_below ? 0 : (value - a.reach_below + a.stride - 1) / a.stride;
    const Wide high = std::min(a.last, value / a.stride);
    const Wide residue = value / a.common % a.step * a.inverse % a.step;
    for (Wide t = low + ((residue - low) % a.step + a.step) % a.step; t <= high; t += a.step)
      if (search(i - 1, value - t * a.stride, steps)) return true;
    return false;
  }

  Axis axes_[2 * Layout::kMaxRank];
  int size_ = 0;
};

}  // namespace

bool Layout::empty() const {
  return std::any_of(extents, extents + rank, [](std::int64_t e) { return e == 0; });
}

std::int64_t Layout::origin() const {
  if (empty()) return 0;
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

Layout Layout::split(std::int64_t parts) const {
  if (parts == 1) return *this;
  Layout result = *this;
  for (int axis = 0; axis < rank; ++axis) result.strides[axis] *= parts;
  result.add_axis(parts, 1);
  return result;
}

bool addressable(const Layout& layout, std::int64_t element_size) {
  const Wide most = std::numeric_limits<std::int64_t>::max() / element_size;
  Wide sum = 1, product = 1;
  for (int axis = 0; axis < layout.rank; ++axis) {
    const Wide extent = std::max<std::int64_t>(layout.extents[axis], 1);
    sum += (extent - 1) * layout.strides[axis];
    product *= extent;
    if (sum > most || product > most) return false;
  }
  return true;
}

bool nested(const Layout& layout) {
  for (int axis = 0; axis < layout.rank; ++axis)
    if (layout.extents[axis] > 1 && layout.strides[axis] == 0) return false;
  const Layout sorted = without_repeats(layout);
  std::int64_t inner = 0;
  for (int axis = 0; axis < sorted.rank; ++axis) {
    if (sorted.strides[axis] <= inner) return false;
    inner += (sorted.extents[axis] - 1) * sorted.strides[axis];
  }
  return true;
}

bool share_element(const Layout& a, const Layout& b, std::int64_t distance, std::int64_t* steps) {
  if (a.empty() || b.empty()) return false;
  // With y counted from the last index of b's axes, "a's element x is b's element y" becomes one sum over all axes:
  // sum of a.stride * x + sum of b.stride * y = distance + reach of b.
  const Layout left = without_repeats(a), right = without_repeats(b);
  Sum sum;
  for (int i = 0, j = 0; i < left.rank || j < right.rank;) {
    const bool from_left = j == right.rank || (i < left.rank && left.strides[i] <= right.strides[j]);
    const Layout& l = from_left ? left : right;
    const int axis = from_left ? i++ : j++;
    sum.add_axis(l.strides[axis], l.extents[axis] - 1);
  }
  std::int64_t unused = 0;
  return sum.reaches(Wide(distance) + b.reach(), steps == nullptr ? unused : *steps);
}

// Element (i, p) of b is element (j, r) of a where distance + i ld + p = j ld + r. With distance = q ld + s, 0 <= s <
// ld, (j - i - q) ld = s + p - r: 0 or ld, since r < ld and s + p < 2 ld.
bool share_element(const Rows& a, const Rows& b, std::int64_t distance) {
  std::int64_t q = distance / a.ld, s = distance % a.ld;
  if (s < 0) --q, s += a.ld;
  const auto rows_meet = [&](std::int64_t j_minus_i) { return -b.rows < j_minus_i && j_minus_i < a.rows; };
  return (s < a.length && rows_meet(q)) || (s + b.length > a.ld && rows_meet(q + 1));
}

}  // namespace tessera::core
