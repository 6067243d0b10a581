// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loops of sweeps that compute blocks of rows.
#pragma once

#include "prefetch_queue.hpp"
#include "tap_groups.hpp"

namespace tessera::cpu {

/// A group of taps for rows of certain strides.
template <class T>
struct StridedGroup {
  Pattern pattern;
  std::array<std::int64_t, kBlockPlanes + 2> plane;  ///< offsets of the centre in planes -1 to kBlockPlanes
  const T* coefficient;                              ///< of its taps, in the order of the offsets
};
/// `strides`: three, of an array or a plugin::Index3.
template <class T, class Strides>
StridedGroup<T> strided_group(const TapGroup& group, const Strides& strides, const T* coefficient) {
  StridedGroup<T> result{group.pattern, {}, coefficient};
  for (std::size_t k = 0; k < result.plane.size(); ++k)
    result.plane[k] = distance({group.centre[0] + std::int64_t(k) - 1, group.centre[1], group.centre[2]}, strides);
  return result;
}
template <class T>
struct StridedGroups {
  const StridedGroup<T>* first;
  std::int64_t count;
};

/// A block of rows, from the first point of the first row on. Strides in elements.
template <class T>
struct RowBlock {
  const T* in;
  std::int64_t in_plane, in_row;
  T* out;
  std::int64_t out_plane, out_row;
  std::int64_t n;  ///< points of a row
  int rows;        ///< of each of its kBlockPlanes planes: 1 or kBlockRows
};

/// Points at the ends of a block's rows that are no sums: the first `head` points of each row, and its last `tail`.
template <class T>
struct Edges {
  const T *head_values, *tail_values;  ///< of the first row
  std::int64_t head, tail;
  std::int64_t next;  ///< from a row's values to the next row's
};

/// The bits of apply_row() for each row, with the groups' taps and init = -0.0. Lines of `queue`, if there is one, move
/// between the sums.
template <class T>
void apply_row_block(const RowBlock<T>& rows, const StridedGroups<T>& groups, PrefetchQueue<T>* queue = nullptr);

/// The same by non-temporal stores, with the edges in their places: every row starts with a cache line and has whole
/// lines. Rows that are like the block's, but start at `newest`, are prefetched meanwhile. nontemporal_fence() must
/// follow.
template <class T>
void apply_row_block_nontemporal(const RowBlock<T>& rows, const StridedGroups<T>& groups, const Edges<T>& edges,
                                 const T* newest);

}  // namespace tessera::cpu
