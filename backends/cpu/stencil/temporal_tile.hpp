// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A tile of the temporal algorithm on its way through the domain, what tiles share, and what a thread has for its own.
#pragma once

#include "../nontemporal_store.hpp"
#include "model.hpp"
#include "prefetch_queue.hpp"
#include "register_block_kernel.hpp"
#include "row_ends.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/problem.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace tessera::cpu {

/// What the tiles of a plan share.
template <class T>
struct TileRules {
  plugin::Domain domain;  ///< unrolled
  std::array<TileAxis, 3> axes;
  TileLayout layout;
  RowEnds<T> ends;
  std::vector<plugin::Tap> taps;    ///< in the order of single sweeps
  std::vector<TapGroup> groups;     ///< the same taps
  std::vector<T> coefficient;       ///< of the taps
  std::vector<std::int64_t> inner;  ///< a tap's distance within its plane

  TileRules(const StencilWork& work, const TemporalShape& shape)
      : domain(unrolled(work.problem.domain)),
        layout(tile_layout(work.problem, shape, work.block_rows)),
        ends(domain),
        taps(work.problem.taps),
        groups(work.groups) {
    for (int axis = 0; axis < 3; ++axis) axes[std::size_t(axis)] = TileAxis(work.problem.domain, axis);
    for (const auto& tap : taps) {
      inner.push_back(tap.offset[1] * layout.pitch + tap.offset[2]);
      coefficient.push_back(T(tap.coefficient));
    }
  }
};

/// A plane that a level computes.
struct Plane {
  std::int64_t c0;
  std::int64_t from, to;  ///< slots: of the level below, and its own
  bool plain, frozen;
};

/// What a level does while its tile advances by a group of planes.
template <class T>
struct Level {
  Span rows, points;
  std::int64_t count = 0;  ///< of the planes
  std::array<Plane, kMostPlanes> plane;
  std::vector<RowTerms<T>> plain;  ///< of each plane, away from the boundaries of axes 0 and 1
  std::vector<StridedGroup<T>> groups;

  std::int64_t lines() const { return count * rows.size() * points.size() * std::int64_t(sizeof(T)) / kLineBytes; }
};

/// What one thread works with. The buffer is zero at first, since what surrounds a row's points is read, though not
/// used.
template <class T>
class ThreadScratch {
 public:
  ThreadScratch(const TileRules<T>& rules, std::int64_t fused_steps)
      : mapped(rules.taps.size()), queue(std::size_t(rules.layout.group * rules.layout.rows)) {
    const TileLayout& layout = rules.layout;
    if (double(layout.planes) * double(layout.rows) * double(layout.pitch) > kMostElements) throw std::bad_alloc();
    const std::size_t bytes = std::size_t(layout.elements()) * sizeof(T);
    // On large pages lines fall evenly into the sets of the second-level cache.
    const std::size_t page = bytes >= kLargePage / 4 ? kLargePage : kPage, whole = (bytes + page - 1) / page * page;
    buffer_.reset(static_cast<T*>(std::aligned_alloc(page, whole)));
    if (buffer_ == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (page == kLargePage) madvise(buffer_.get(), whole, MADV_HUGEPAGE);
#endif
    std::memset(buffer_.get(), 0, bytes);
    RowTerms<T> terms(rules.taps.size());
    for (const auto& tap : rules.taps) terms.push(0, tap.offset[2], 1, T(tap.coefficient));
    Level<T> level;
    level.plain.assign(std::size_t(rules.layout.group), terms);
    const T* coefficient = rules.coefficient.data();
    for (const TapGroup& group : rules.groups) {
      level.groups.push_back({group.pattern, {}, coefficient});
      coefficient += tap_count(group.pattern);
    }
    levels.assign(std::size_t(fused_steps), level);
  }

  T* buffer() const { return buffer_.get(); }

  std::vector<Level<T>> levels;  ///< the first step's, and so on
  RowTerms<T> mapped;            ///< of a row near a boundary of axis 0 or 1
  PrefetchQueue<T> queue;

 private:
  static constexpr double kMostElements = double(std::int64_t{1} << 48);  ///< no more than can be addressed
  static constexpr std::size_t kPage = 4096, kLargePage = std::size_t{2} << 20;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> buffer_;
};

/// What a thread does at a time: `core` of the target, so many steps after the source.
template <class T>
struct Tile {
  const T* in;
  plugin::Index3 in_strides;
  T* out;
  plugin::Index3 out_strides;
  std::int64_t fused_steps;
  std::array<Span, 3> core;
};

/// Level s of the buffer holds what s steps have made of the input: the planes that the next level reads. All levels
/// share one ring of planes.
template <class T>
class TileRun {
 public:
  TileRun(const TileRules<T>& rules, const Tile<T>& tile, ThreadScratch<T>& scratch)
      : r_(rules), d_(rules.domain), layout_(rules.layout), tile_(tile), scratch_(scratch) {
    first_ = {span(0, 0).begin, span(1, tile.fused_steps).begin - tile.fused_steps * layout_.row_shift,
              span(2, 0).begin};
    first_[2] -= (first_[2] % kLine + kLine) % kLine + layout_.margin;
  }

  /// Each group of planes that is loaded lets every level advance by as many.
  void run() {
    const std::int64_t lag = r_.axes[0].radius(), group = layout_.group;
    const std::int64_t end = tile_.core[0].end + tile_.fused_steps * lag;
    for (std::int64_t c0 = first_[0]; c0 < end; c0 += group) {
      load(common(span(0, 0), {c0, c0 + group}));
      prefetch(common(span(0, 0), {c0 + group, c0 + 2 * group}));
      std::int64_t lines = 0;
      for (std::int64_t level = 1; level <= tile_.fused_steps; ++level) {
        prepare(level, common(span(0, level), {c0 - level * lag, c0 - level * lag + group}));
        lines += at(level).lines();
      }
      scratch_.queue.pace(lines / PrefetchQueue<T>::kLinesPerAdvance);
      for (std::int64_t level = 1; level <= tile_.fused_steps; ++level) compute(level);
      scratch_.queue.drain();
    }
    scratch_.queue.drain();
  }

 private:
  static constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));

  /// What level `level` computes of an axis.
  Span span(std::size_t axis, std::int64_t level) const {
    return r_.axes[axis].around(tile_.core[axis], tile_.fused_steps - level);
  }
  static Span common(Span a, Span b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

  /// The point (c1, coordinate 0) of a level's plane.
  T* row(std::int64_t level, std::int64_t slot, std::int64_t c1) const {
    const std::int64_t place = c1 - level * layout_.row_shift - first_[1];
    return scratch_.buffer() + (slot * layout_.rows + place) * layout_.pitch - first_[2];
  }
  /// A level's rows take the places of those of the level below that are out of its reach, just read before.
  std::int64_t slot(std::int64_t level, std::int64_t c0) const {
    return (c0 - first_[0] + (tile_.fused_steps - level) * layout_.plane_shift) % layout_.planes;
  }
  Level<T>& at(std::int64_t level) const { return scratch_.levels[std::size_t(level - 1)]; }

  /// With the taps of the planes' rows that have no boundary on the outer axes.
  void prepare(std::int64_t level, Span planes) const {
    Level<T>& l = at(level);
    l.rows = span(1, level), l.points = span(2, level), l.count = std::max<std::int64_t>(planes.size(), 0);
    for (std::int64_t p = 0; p < l.count; ++p) {
      const std::int64_t c0 = planes.begin + p;
      Plane& plane = l.plane[std::size_t(p)];
      plane = {c0, slot(level - 1, c0), slot(level, c0), d_.plain_on(0, c0), d_.frozen_on(0, c0)};
      if (!plane.plain) continue;
      RowTerms<T>& terms = l.plain[std::size_t(p)];
      for (std::size_t t = 0; t < r_.taps.size(); ++t)
        terms.offset[t] = plane_offset(plane, c0 + r_.taps[t].offset[0]) + r_.inner[t];
    }
    if (!in_blocks(l)) return;
    for (std::size_t g = 0; g < r_.groups.size(); ++g) {
      const auto& centre = r_.groups[g].centre;
      for (std::size_t k = 0; k < l.groups[g].plane.size(); ++k)
        l.groups[g].plane[k] = plane_offset(l.plane[0], planes.begin + centre[0] + std::int64_t(k) - 1) +
                               centre[1] * layout_.pitch + centre[2];
    }
  }

  /// Whether a level computes blocks of rows where axis 1 has no boundary.
  bool in_blocks(const Level<T>& l) const {
    return layout_.blocks && l.count == kBlockPlanes && l.plane[0].plain && l.plane[kBlockPlanes - 1].plain &&
           l.points.size() >= kLeastLines * kLine;
  }

  /// From a plane to another that its level reads.
  std::int64_t plane_offset(const Plane& plane, std::int64_t other) const {
    const std::int64_t to = plane.from + other - plane.c0;
    const std::int64_t wrapped = to < 0 ? to + layout_.planes : to >= layout_.planes ? to - layout_.planes : to;
    return (wrapped - plane.from) * layout_.rows * layout_.pitch;
  }

  /// Copies planes of the pass's input into level 0, with the points that periodic sides repeat.
  void load(Span planes) const {
    const Span rows = span(1, 0), points = span(2, 0);
    const std::int64_t stride = tile_.in_strides[2];
    for (std::int64_t c0 = planes.begin; c0 < planes.end; ++c0)
      for (std::int64_t c1 = rows.begin; c1 < rows.end; ++c1) {
        const T* from = input(c0, c1);
        T* to = row(0, slot(0, c0), c1);
        for (std::int64_t c = points.begin; c < points.end;) {
          const std::int64_t index = r_.axes[2].index(c), n = std::min(points.end - c, r_.axes[2].extent() - index);
          copy_points(from + index * stride, stride, to + c, 1, n);
          c += n;
        }
      }
  }
  const T* input(std::int64_t c0, std::int64_t c1) const {
    return tile_.in + r_.axes[0].index(c0) * tile_.in_strides[0] + r_.axes[1].index(c1) * tile_.in_strides[1];
  }

  /// Has the input that will be loaded next prefetched while there is work to do.
  void prefetch(Span planes) const {
    if (tile_.in_strides[2] != 1) return;
    const Span rows = span(1, 0), points = common(span(2, 0), {0, r_.axes[2].extent()});
    for (std::int64_t c0 = planes.begin; c0 < planes.end; ++c0)
      for (std::int64_t c1 = rows.begin; c1 < rows.end; ++c1)
        scratch_.queue.prefetch(input(c0, c1) + points.begin, points.size());
  }

  /// A level's planes; the last level's go to the output. The planes advance row by row, so that a plane finds in the
  /// first-level cache what the one before has read.
  void compute(std::int64_t level) const {
    const Level<T>& l = at(level);
    const bool blocks = in_blocks(l);
    for (std::int64_t c1 = l.rows.begin; l.count > 0 && c1 < l.rows.end;) {
      const bool block = blocks && d_.plain_on(1, c1);
      const bool several =
          block && c1 + layout_.block_rows <= l.rows.end && d_.plain_on(1, c1 + layout_.block_rows - 1);
      const std::int64_t count = several ? layout_.block_rows : 1;
      if (block)
        sum_block(level, l, c1, int(count));
      else
        for (std::int64_t p = 0; p < l.count; ++p) compute_row(level, l, p, c1);
      c1 += count;
    }
    if (level < tile_.fused_steps) return;
    for (std::int64_t p = 0; p < l.count; ++p)
      for (std::int64_t c1 = l.rows.begin; c1 < l.rows.end; ++c1) {
        const Plane& plane = l.plane[std::size_t(p)];
        put_row(row(level, plane.to, c1), plane.c0, c1, l.points);
      }
  }

  void sum_block(std::int64_t level, const Level<T>& l, std::int64_t c1, int rows) const {
    const Plane &plane = l.plane[0], &last = l.plane[kBlockPlanes - 1];
    const Span lines = whole_lines(l.points);
    const std::int64_t size = layout_.rows * layout_.pitch;
    RowBlock<T> b{};
    b.in = row(level - 1, plane.from, c1) + lines.begin, b.out = row(level, plane.to, c1) + lines.begin;
    b.in_plane = (last.from - plane.from) * size, b.out_plane = (last.to - plane.to) * size;
    b.in_row = b.out_row = layout_.pitch;
    b.n = lines.size(), b.rows = rows;
    apply_row_block(b, {l.groups.data(), std::int64_t(l.groups.size())}, &scratch_.queue);
    for (std::size_t p = 0; p < kBlockPlanes; ++p)
      for (int r = 0; r < rows; r += 2)
        sum_ends(row(level - 1, l.plane[p].from, c1 + r), l.plain[p], l.points, row(level, l.plane[p].to, c1 + r),
                 std::min(rows - r, 2));
  }

  void compute_row(std::int64_t level, const Level<T>& l, std::int64_t p, std::int64_t c1) const {
    const Plane& plane = l.plane[std::size_t(p)];
    const T* from = row(level - 1, plane.from, c1);
    T* to = row(level, plane.to, c1);
    if (plane.frozen || d_.frozen_on(1, c1)) {
      copy_points(from + l.points.begin, 1, to + l.points.begin, 1, l.points.size());
    } else if (plane.plain && d_.plain_on(1, c1)) {
      sum_row(from, l.plain[std::size_t(p)], l.points, to);
    } else {
      const auto row_offset = [&](std::int64_t mapped0, std::int64_t mapped1) {
        return plane_offset(plane, mapped0) + (mapped1 - c1) * layout_.pitch;
      };
      map_terms(d_, r_.taps, plane.c0, c1, 1, row_offset, scratch_.mapped);
      sum_row(from, scratch_.mapped, l.points, to);
    }
    for (std::int64_t t = 0; t < l.points.size() / kLine / PrefetchQueue<T>::kLinesPerAdvance; ++t)
      scratch_.queue.advance();
  }

  /// What lies around a row's points is read and written, but nothing comes of it.
  Span whole_lines(Span points) const {
    const std::int64_t head = (points.begin - first_[2]) % kLine, begin = points.begin - head;
    return {begin, begin + (head + points.size() + kLine - 1) / kLine * kLine};
  }

  void sum_row(const T* from, const RowTerms<T>& terms, Span points, T* to) const {
    const Span lines = whole_lines(points);
    apply_row(from + lines.begin, 1, terms.taps(), terms.init, to + lines.begin, 1, lines.size());
    sum_ends(from, terms, points, to);
  }

  /// Computes those points of one row or two again that have a boundary on axis 2.
  void sum_ends(const T* from, const RowTerms<T>& terms, Span points, T* to, int count = 1) const {
    const RowEnds<T>& ends = r_.ends;
    const Span low = common(points, {0, ends.low()}), high = common(points, {ends.high(), d_.extents[2]});
    if (low.size() <= 0 && high.size() <= 0) return;
    const EndRows<T> rows{from, from, 1, terms.taps(), terms.init, layout_.pitch, count};
    // Vectors take ends as a whole. What they read around is in the buffer, and what they write around is not used.
    const bool in_vectors = ends.worth_vectors() && points.size() >= ends.around();
    const bool low_whole = in_vectors && low.size() == ends.low();
    const bool high_whole = in_vectors && high.size() == d_.extents[2] - ends.high();
    ends.sum(rows, in_vectors, {low_whole ? to : nullptr, high_whole ? to + ends.high() : nullptr, layout_.pitch});
    for (int r = 0; r < count; ++r) {
      if (!low_whole) ends.sum_points(rows, r, low, to + r * layout_.pitch + low.begin, 1);
      if (!high_whole) ends.sum_points(rows, r, high, to + r * layout_.pitch + high.begin, 1);
    }
  }

  /// Sends a row of the last level to the output. Whole lines go past the caches: the next pass reads them much later.
  void put_row(const T* from, std::int64_t c0, std::int64_t c1, Span points) const {
    T* to = tile_.out + c0 * tile_.out_strides[0] + c1 * tile_.out_strides[1];
    const std::int64_t stride = tile_.out_strides[2], n = points.size();
    from += points.begin, to += points.begin * stride;
    if (stride != 1) return copy_points(from, 1, to, stride, n);
    const std::int64_t past = std::int64_t(reinterpret_cast<std::uintptr_t>(to) % kLineBytes / sizeof(T));
    const std::int64_t head = std::min(n, (kLine - past) % kLine), tail = (n - head) % kLine;
    copy_points(from, 1, to, 1, head);
    scratch_.queue.store(to + head, from + head, n - tail - head);
    copy_points(from + n - tail, 1, to + n - tail, 1, tail);
  }

  const TileRules<T>& r_;
  const plugin::Domain& d_;
  const TileLayout& layout_;
  const Tile<T>& tile_;
  ThreadScratch<T>& scratch_;
  std::array<std::int64_t, 3> first_{};  ///< coordinates of the buffer's first point, axis 1 at level 0
};

}  // namespace tessera::cpu
