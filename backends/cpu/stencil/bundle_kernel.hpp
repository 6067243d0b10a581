// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loops of sweeps that compute several rows together.
#pragma once

#include "../stream_store.hpp"
#include "errands.hpp"
#include "tap_groups.hpp"

#include <algorithm>

namespace tessera::cpu {

/// Planes of a bundle. Two share most of what they read of the planes around, which comes from the second-level cache.
inline constexpr int kBundlePlanes = 2;
/// Rows of each plane in a bundle that has several.
inline constexpr int kSeveralRows = 4 * kVectorBytes / int(kLineBytes);
/// Cache lines' length of points that each row of a bundle must have.
inline constexpr std::int64_t kLeastLines = 4;

/// Whether several rows of a plane load much less for each point than one.
bool several_rows_pay(const std::vector<TapGroup>& groups);

/// A group of taps for rows of certain strides.
template <class T>
struct BundleGroup {
  Pattern pattern;
  std::array<std::int64_t, kBundlePlanes + 2> plane;  ///< offsets of the centre in planes -1 to kBundlePlanes
  const T* coefficient;                               ///< of its taps, in the order of the offsets
};
/// Elements from a point to one that lies `by` indices from it. Where that is no number of 64 bits the taps leave the
/// domain, and nothing is read there: a distance beyond any array stands for it.
template <class Strides>
std::int64_t distance(const plugin::Index3& by, const Strides& strides) {
  constexpr std::int64_t kBeyondAny = std::int64_t(1) << 62;
  std::int64_t total = 0;
  for (std::size_t axis = 0; axis < by.size(); ++axis) {
    std::int64_t part = 0;
    if (__builtin_mul_overflow(by[axis], strides[axis], &part) || __builtin_add_overflow(total, part, &total))
      return kBeyondAny;
  }
  return std::clamp(total, -kBeyondAny, kBeyondAny);
}

/// `strides`: three, of an array or a plugin::Index3.
template <class T, class Strides>
BundleGroup<T> bundle_group(const TapGroup& group, const Strides& strides, const T* coefficient) {
  BundleGroup<T> result{group.pattern, {}, coefficient};
  for (std::size_t k = 0; k < result.plane.size(); ++k)
    result.plane[k] = distance({group.centre[0] + std::int64_t(k) - 1, group.centre[1], group.centre[2]}, strides);
  return result;
}
template <class T>
struct BundleGroups {
  const BundleGroup<T>* first;
  std::int64_t count;
};

/// Rows of kBundlePlanes planes, from the first point of the first row on. Strides in elements.
template <class T>
struct Bundle {
  const T* in;
  std::int64_t in_plane, in_row;
  T* out;
  std::int64_t out_plane, out_row;
  std::int64_t n;  ///< points of a row
  int rows;        ///< of a plane: 1 or kSeveralRows
};

/// Points at the ends of a bundle's rows that are no sums: for each row its first `head` values, then its last `tail`.
template <class T>
struct Edges {
  const T* value;
  std::int64_t head, tail;
};

/// The bits of apply_row() for each row, with the groups' taps and init = -0.0. Beside that goes what `errands` has, if
/// any.
template <class T>
void apply_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups, Errands<T>* errands = nullptr);

/// The same, stored past the caches with the edges in their places: every row starts with a cache line and has whole
/// lines. Rows that are like the bundle's, but start at `newest`, are fetched meanwhile. stream_fence() must follow.
template <class T>
void stream_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups, const Edges<T>& edges, const T* newest);

}  // namespace tessera::cpu
