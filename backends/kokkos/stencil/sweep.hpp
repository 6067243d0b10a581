// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What every stencil kernel gets, and the value of a single point anywhere in the domain.
#pragma once

#include "../context.hpp"
#include "../convert.hpp"

#include <vector>

namespace tessera::kokkos {

template <class S>
struct PointTap {
  std::int64_t offset[plugin::kAxes];
  S coefficient;
};

/// A plan's taps where kernels can read them.
template <class S>
Table make_point_taps(Context& context, const plugin::StencilProblem& problem) {
  std::vector<PointTap<S>> taps;
  for (const auto& tap : problem.taps)
    taps.push_back({{tap.offset[0], tap.offset[1], tap.offset[2]}, S(tap.coefficient)});
  return Table(context, taps.data(), taps.size() * sizeof taps[0]);
}

/// One sweep. Trivially copyable: kernels take it by value.
template <class T>
struct Sweep {
  using S = Scalar<T>;
  plugin::Domain domain;
  std::int64_t source_strides[plugin::kAxes], target_strides[plugin::kAxes];
  const T* source;
  T* target;
  const PointTap<S>* taps;
  int tap_count;

  Sweep(const plugin::StencilProblem& problem, const PointTap<S>* point_taps)
      : domain(problem.domain), taps(point_taps), tap_count(int(problem.taps.size())) {}

  void set_arrays(const T* from, const plugin::Index3& from_strides, T* to, const plugin::Index3& to_strides) {
    source = from, target = to;
    for (std::size_t axis = 0; axis < plugin::kAxes; ++axis) {
      source_strides[axis] = from_strides[axis];
      target_strides[axis] = to_strides[axis];
    }
  }

  KOKKOS_INLINE_FUNCTION const T* source_at(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return source + i0 * source_strides[0] + i1 * source_strides[1] + i2 * source_strides[2];
  }
  KOKKOS_INLINE_FUNCTION T* target_at(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    return target + i0 * target_strides[0] + i1 * target_strides[1] + i2 * target_strides[2];
  }

  /// The new value of a point whose taps may leave the domain.
  KOKKOS_INLINE_FUNCTION T boundary_value(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    if (domain.frozen(i0, i1, i2)) return *source_at(i0, i1, i2);
    S sum = 0;
    for (int t = 0; t < tap_count; ++t) {
      const auto& offset = taps[t].offset;
      const plugin::Sample s = domain.sample(i0 + offset[0], i1 + offset[1], i2 + offset[2]);
      sum += taps[t].coefficient * (s.constant ? S(s.value) : widened(*source_at(s.index[0], s.index[1], s.index[2])));
    }
    return rounded<T>(sum);
  }

  /// The new value of a point no tap of which leaves the domain.
  KOKKOS_INLINE_FUNCTION T inner_value(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
    S sum = 0;
    for (int t = 0; t < tap_count; ++t) {
      const auto& offset = taps[t].offset;
      sum += taps[t].coefficient * widened(*source_at(i0 + offset[0], i1 + offset[1], i2 + offset[2]));
    }
    return rounded<T>(sum);
  }
};

/// A box of points.
struct Box {
  plugin::Index3 begin, end;
  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

/// The points no tap of which leaves the domain.
inline Box inner_box(const plugin::Domain& domain) {
  Box box{};
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    box.begin[std::size_t(axis)] = domain.plain_begin(axis);
    box.end[std::size_t(axis)] = domain.plain_end(axis);
  }
  return box;
}

/// The rest of the domain: slabs below and above the inner box, axis by axis.
inline std::vector<Box> boundary_boxes(const plugin::Domain& domain) {
  std::vector<Box> boxes;
  const Box inner = inner_box(domain);
  Box left{{0, 0, 0}, {domain.extents[0], domain.extents[1], domain.extents[2]}};
  for (std::size_t axis = 0; axis < plugin::kAxes; ++axis) {
    Box low = left, high = left;
    low.end[axis] = inner.begin[axis];
    high.begin[axis] = inner.end[axis];
    for (const Box& box : {low, high})
      if (!box.empty()) boxes.push_back(box);
    left.begin[axis] = inner.begin[axis];
    left.end[axis] = inner.end[axis];
  }
  return boxes;
}

}  // namespace tessera::kokkos
