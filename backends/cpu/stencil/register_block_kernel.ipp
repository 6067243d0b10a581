// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_row_block() and its kin for one type: included by a file per type.

#include "register_block_kernel.hpp"

#include "../nontemporal_store.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::cpu {
namespace {

/// A group with its coefficients in registers.
template <class T, Pattern kPattern>
struct GroupTaps {
  std::int64_t plane[kBlockPlanes + 2];
  Vector<T> factor[tap_count(kPattern)];

  [[gnu::always_inline]] explicit GroupTaps(const StridedGroup<T>& group) {
    for (int k = 0; k < kBlockPlanes + 2; ++k) plane[k] = group.plane[std::size_t(k)];
    for (int t = 0; t < tap_count(kPattern); ++t) factor[t] = group.coefficient[t] - Vector<T>{};
  }
};

/// What registers hold at a time: sums for vectors at one place of all rows of a block.
template <class T, int kRows, int kVectors>
struct RegisterBlock {
  static constexpr int kLanes = cpu::kLanes<T>;
  static constexpr int kCount = kBlockPlanes * kRows * kVectors;
  static constexpr int kPoints = kVectors * kLanes;

  Vector<T> sum[kBlockPlanes][kRows][kVectors];

  /// Puts edges in their places, if there are any among points from i on of rows of n. Their values come from scalar
  /// loads: a vector of what narrower stores have just written would wait for all stores before.
  void put(const Edges<T>& edges, std::int64_t i, std::int64_t n) {
    const std::int64_t head = std::min(edges.head - i, std::int64_t(kPoints)), tail = n - edges.tail - i;
    if (head <= 0 && tail >= kPoints) return;
#pragma GCC unroll 16
    for (int p = 0; p < kBlockPlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t values = (p * kRows + r) * edges.next;
        for (std::int64_t k = 0; k < head; ++k) put(sum[p][r], k, edges.head_values[values + i + k]);
        for (std::int64_t k = std::max<std::int64_t>(tail, 0); k < kPoints; ++k)
          put(sum[p][r], k, edges.tail_values[values + k - tail]);
      }
  }

  static void put(Vector<T> (&row)[kVectors], std::int64_t place, T value) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      row[v] = lane_numbers<T>(v * kLanes) == LaneNumber<T>(place) ? value - Vector<T>{} : row[v];
  }

  /// Adds the taps of a group; `in` is the first vector of the first row.
  template <Pattern kPattern>
  [[gnu::always_inline]] void add(const T* in, std::int64_t row, const GroupTaps<T, kPattern>& taps) {
    add_rows<kPattern, 0>(in, row, taps);
    if constexpr (kPattern == Pattern::star) {
      add_rows<kPattern, -1>(in, row, taps);
      add_rows<kPattern, 1>(in, row, taps);
    }
  }

  template <Pattern kPattern, int kD2>
  [[gnu::always_inline]] void add_rows(const T* in, std::int64_t row, const GroupTaps<T, kPattern>& taps) {
#pragma GCC unroll 16
    for (int i0 = -1; i0 <= kBlockPlanes; ++i0) {
      const T* plane = in + taps.plane[i0 + 1];
      asm("" : "+r"(plane));  // or loops keep a pointer for each row, which do not fit in registers
#pragma GCC unroll 16
      for (int i1 = -1; i1 <= kRows; ++i1)
        if (reads_row(kPattern, kRows, i0, i1, kD2))
          add_row<kPattern, kD2>(plane + i1 * row + kD2, taps.factor, i0, i1);
    }
  }

  /// Adds what a row gives to the rows around it.
  template <Pattern kPattern, int kD2>
  [[gnu::always_inline]] void add_row(const T* in, const Vector<T>* factor, int i0, int i1) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Vector<T> value = load(in + v * kLanes);
      keep_in_register(value);
#pragma GCC unroll 16
      for (int p = 0; p < kBlockPlanes; ++p)
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r)
          if (has_tap(kPattern, i0 - p, i1 - r, kD2))
            sum[p][r][v] += factor[taps_before(kPattern, i0 - p, i1 - r, kD2)] * value;
    }
  }

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 16
    for (int p = 0; p < kBlockPlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          sum[p][r][v] = T(-0.0) - Vector<T>{};
          // Or compilers that know the value choose which of the first two products to contract.
          keep_in_register(sum[p][r][v]);
        }
  }
};

/// Any number of groups, one after the other.
template <class T>
class GroupList {
 public:
  explicit GroupList(const StridedGroups<T>& groups) : groups_(groups) {}

  template <int kRows, int kVectors, class Then>
  [[gnu::always_inline]] void sum(RegisterBlock<T, kRows, kVectors>& block, const RowBlock<T>& b, std::int64_t i,
                                  Then&& then) const {
    block.clear();
    for (std::int64_t g = 0; g < groups_.count; ++g) {
      add(block, b.in + i, b.in_row, groups_.first[g]);
      then();
    }
  }

 private:
  template <int kRows, int kVectors>
  [[gnu::always_inline]] static void add(RegisterBlock<T, kRows, kVectors>& block, const T* in, std::int64_t row,
                                         const StridedGroup<T>& group) {
    switch (group.pattern) {
      case Pattern::point:
        return block.add(in, row, GroupTaps<T, Pattern::point>(group));
      case Pattern::line0:
        return block.add(in, row, GroupTaps<T, Pattern::line0>(group));
      case Pattern::line1:
        return block.add(in, row, GroupTaps<T, Pattern::line1>(group));
      case Pattern::plus:
        return block.add(in, row, GroupTaps<T, Pattern::plus>(group));
      case Pattern::box:
        return block.add(in, row, GroupTaps<T, Pattern::box>(group));
      case Pattern::star:
        return block.add(in, row, GroupTaps<T, Pattern::star>(group));
    }
  }

  const StridedGroups<T>& groups_;
};

/// A single group, whose coefficients and offsets stay in registers.
template <class T, Pattern kPattern>
class SingleGroup {
 public:
  explicit SingleGroup(const StridedGroups<T>& groups) : taps_(*groups.first) {}

  template <int kRows, int kVectors, class Then>
  [[gnu::always_inline]] void sum(RegisterBlock<T, kRows, kVectors>& block, const RowBlock<T>& b, std::int64_t i,
                                  Then&& then) const {
    block.clear();
    block.add(b.in + i, b.in_row, taps_);
    then();
  }

 private:
  GroupTaps<T, kPattern> taps_;
};

template <int kRows, int kVectors, class Taps, class T>
void apply_blocks(const RowBlock<T>& b, const StridedGroups<T>& groups, PrefetchQueue<T>* queue) {
  const Taps taps(groups);
  using Block = RegisterBlock<T, kRows, kVectors>;
  // The last register block computes some points twice, which is harmless here.
  for (std::int64_t done = 0; done < b.n; done += Block::kPoints) {
    const std::int64_t i = std::min(done, b.n - Block::kPoints);
    Block block;
    taps.sum(block, b, i, [] {});
#pragma GCC unroll 16
    for (int p = 0; p < kBlockPlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v)
          store(b.out + p * b.out_plane + r * b.out_row + i + v * kLanes<T>, block.sum[p][r][v]);
    if (queue != nullptr) queue->advance();
  }
}

/// As many whole register blocks as the rows have from point i on; returns the first point behind them. While one is
/// summed, the one before leaves for memory: non-temporal stores and prefetches share few buffers with loads that miss
/// the first-level cache, and these wait where many of them come at once.
template <class T, int kRows, int kVectors>
std::int64_t apply_blocks_nontemporal(const RowBlock<T>& b, const StridedGroups<T>& groups, const Edges<T>& edges,
                                      const T* newest, std::int64_t i) {
  using Block = RegisterBlock<T, kRows, kVectors>;
  std::int64_t from[Block::kCount], to[Block::kCount];
  for (int k = 0; k < Block::kCount; ++k) {
    const int p = k / kVectors / kRows, r = k / kVectors % kRows, v = k % kVectors;
    from[k] = p * b.in_plane + r * b.in_row + v * Block::kLanes;
    to[k] = p * b.out_plane + r * b.out_row + (v - kVectors) * Block::kLanes;
  }
  const GroupList<T> taps(groups);
  alignas(kLineBytes) T previous[Block::kCount * Block::kLanes];
  bool some = false;
  for (; i + Block::kPoints <= b.n; i += Block::kPoints) {
    int k = 0;
    std::int64_t due = 0;
    Block block;
    taps.sum(block, b, i, [&] {
      for (due += Block::kCount; due >= groups.count; due -= groups.count, ++k) {
        __builtin_prefetch(newest + from[k] + i);
        if (some) nontemporal_store(b.out + to[k] + i, load(previous + k * Block::kLanes));
      }
    });
    block.put(edges, i, b.n);
    std::memcpy(previous, block.sum, sizeof previous);
    some = true;
  }
  for (int k = 0; some && k < Block::kCount; ++k)
    nontemporal_store(b.out + to[k] + i, load(previous + k * Block::kLanes));
  return i;
}

constexpr int kLineVectors = int(kLineBytes) / kVectorBytes;
/// Lines are stored whole, and eight vectors fill the multiply-add units for the length of their latency.
static_assert(kBlockPlanes * kBlockRows * kLineVectors == 8);
constexpr int kLongVectors = 4;
static_assert(kLongVectors >= kLineVectors && kBlockPlanes * kLongVectors == 8);

}  // namespace

template <class T>
void apply_row_block(const RowBlock<T>& rows, const StridedGroups<T>& groups, PrefetchQueue<T>* queue) {
  if (rows.rows > 1)
    apply_blocks<kBlockRows, kLineVectors, GroupList<T>>(rows, groups, queue);
  else if (groups.count == 1 && groups.first->pattern == Pattern::star)
    apply_blocks<1, kLongVectors, SingleGroup<T, Pattern::star>>(rows, groups, queue);
  else
    apply_blocks<1, kLongVectors, GroupList<T>>(rows, groups, queue);
}

template <class T>
void apply_row_block_nontemporal(const RowBlock<T>& rows, const StridedGroups<T>& groups, const Edges<T>& edges,
                                 const T* newest) {
  if (rows.rows == 1) {
    const std::int64_t i = apply_blocks_nontemporal<T, 1, kLongVectors>(rows, groups, edges, newest, 0);
    if (i < rows.n) apply_blocks_nontemporal<T, 1, kLineVectors>(rows, groups, edges, newest, i);
  } else {
    apply_blocks_nontemporal<T, kBlockRows, kLineVectors>(rows, groups, edges, newest, 0);
  }
}

}  // namespace tessera::cpu
