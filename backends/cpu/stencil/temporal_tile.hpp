// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A tile of the temporal algorithm on its way through the domain.
#pragma once

#include "../stream_store.hpp"
#include "row_kernel.hpp"
#include "tap_groups.hpp"
#include "temporal_axis.hpp"
#include "temporal_shape.hpp"

#include <tessera/plugin/problem.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace tessera::cpu {

/// The taps of a row as distances in a tile's buffer from the point itself.
template <class T>
struct TileTerms {
  std::vector<std::int64_t> offset, along;  ///< in all, and the part of axis 2
  std::vector<T> coefficient;
  T init = T(-0.0);  ///< sum of the constant terms; -0.0 is the neutral element of addition

  explicit TileTerms(std::size_t capacity) {
    offset.reserve(capacity), along.reserve(capacity), coefficient.reserve(capacity);
  }
  void clear() {
    offset.clear(), along.clear(), coefficient.clear();
    init = T(-0.0);
  }
  void push(std::int64_t row_offset, std::int64_t along_offset, T c) {
    offset.push_back(row_offset + along_offset);
    along.push_back(along_offset);
    coefficient.push_back(c);
  }
  RowTaps<T> taps() const { return {offset.data(), coefficient.data(), std::int64_t(offset.size())}; }
};

/// What a tap finds outside axis 2: a constant, or a point so many elements from there.
template <class T>
struct Replacement {
  bool constant;
  T value;
  std::int64_t shift;
};

/// What the tiles of a plan share.
template <class T>
struct TileRules {
  plugin::Domain domain;  ///< unrolled
  std::array<TileAxis, 3> axes;
  TileLayout layout;
  std::vector<plugin::Tap> taps;       ///< in the order of single sweeps
  std::vector<std::int64_t> inner;     ///< a tap's distance within its plane
  std::vector<Replacement<T>> beyond;  ///< indices [-reach, 0) of axis 2, behind them [extent, extent + reach)

  explicit TileRules(const plugin::StencilProblem& p, const TemporalShape& shape)
      : domain(unrolled(p.domain)), layout(tile_layout(p, shape)), taps(p.taps) {
    for (int axis = 0; axis < 3; ++axis) axes[std::size_t(axis)] = TileAxis(p.domain, axis);
    group_taps(taps);
    for (const auto& tap : taps) inner.push_back(tap.offset[1] * layout.pitch + tap.offset[2]);
    if (p.points() == 0) return;
    for (std::int64_t i = -domain.reach[2][0]; i < 0; ++i) tabulate(i, 0);
    for (std::int64_t i = domain.extents[2]; i < domain.extents[2] + domain.reach[2][1]; ++i) tabulate(i, 1);
  }

 private:
  void tabulate(std::int64_t index, int side) {
    const bool constant = domain.mode[2][side] == TESSERA_BOUNDARY_CONSTANT;
    beyond.push_back({constant, T(domain.value[2][side]), constant ? 0 : domain.mapped(2, index) - index});
  }
};

/// What one thread works with. The buffer is zero at first: what surrounds a row's points is read, though not used.
template <class T>
class Workshop {
 public:
  explicit Workshop(const TileRules<T>& rules) : mapped(rules.taps.size()) {
    constexpr std::size_t kPage = 4096;
    const std::size_t bytes = (std::size_t(rules.layout.elements()) * sizeof(T) + kPage - 1) / kPage * kPage;
    buffer_.reset(static_cast<T*>(std::aligned_alloc(kPage, bytes)));
    if (buffer_ == nullptr) throw std::bad_alloc();
    std::memset(buffer_.get(), 0, bytes);
    TileTerms<T> terms(rules.taps.size());
    for (const auto& tap : rules.taps) terms.push(0, tap.offset[2], T(tap.coefficient));
    plain.assign(std::size_t(rules.layout.group), terms);
  }

  T* buffer() const { return buffer_.get(); }

  std::vector<TileTerms<T>> plain;  ///< of each plane of a group, away from the boundaries of axes 0 and 1
  TileTerms<T> mapped;              ///< of any other row

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> buffer_;
};

/// What a thread does at a time: `core` of the target, `depth` steps behind the source.
template <class T>
struct Tile {
  const T* in;
  plugin::Index3 in_strides;
  T* out;
  plugin::Index3 out_strides;
  std::int64_t depth;
  std::array<Span, 3> core;
};

/// Level s of the buffer holds what s steps have made of the input: the planes that the next level reads. All levels
/// share one ring of planes.
template <class T>
class TileRun {
 public:
  TileRun(const TileRules<T>& rules, const Tile<T>& tile, Workshop<T>& workshop)
      : r_(rules), d_(rules.domain), layout_(rules.layout), tile_(tile), workshop_(workshop) {
    for (std::size_t axis = 0; axis < 3; ++axis) first_[axis] = span(axis, 0).begin;
    first_[2] -= (first_[2] % kLine + kLine) % kLine + layout_.margin;
  }

  /// Each group of planes that is loaded lets every level advance by as many.
  void run() {
    const std::int64_t lag = r_.axes[0].radius(), group = layout_.group;
    const std::int64_t end = tile_.core[0].end + tile_.depth * lag;
    for (std::int64_t c0 = first_[0]; c0 < end; c0 += group) {
      const Span input = common(span(0, 0), {c0, c0 + group});
      for (std::int64_t plane = input.begin; plane < input.end; ++plane) load(plane);
      for (std::int64_t level = 1; level <= tile_.depth; ++level)
        advance(level, common(span(0, level), {c0 - level * lag, c0 - level * lag + group}), c0 + group);
    }
  }

 private:
  static constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));

  /// A plane that a level computes.
  struct Plane {
    std::int64_t c0, copy;  ///< `copy`: where the domain's copy begins
    std::int64_t from, to;  ///< slots: of the level below, and its own
    bool plain, frozen;
    const T* next;  ///< input to fetch meanwhile, or nullptr
  };

  /// What level `level` computes of an axis.
  Span span(std::size_t axis, std::int64_t level) const {
    return r_.axes[axis].around(tile_.core[axis], tile_.depth - level);
  }
  static Span common(Span a, Span b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

  /// The point (c1, coordinate 0) of a slot.
  T* row(std::int64_t slot, std::int64_t c1) const {
    return workshop_.buffer() + (slot * layout_.rows + c1 - first_[1]) * layout_.pitch - first_[2];
  }
  /// A level's plane takes the place of one of the level below that is out of its reach, just read by the plane before.
  std::int64_t slot(std::int64_t level, std::int64_t c0) const {
    return (c0 - first_[0] + (tile_.depth - level) * (r_.axes[0].radius() + 1)) % layout_.planes;
  }

  /// Copies a plane of the pass's input into level 0, with the points that periodic sides repeat.
  void load(std::int64_t c0) const {
    const Span rows = span(1, 0), points = span(2, 0);
    const T* plane = tile_.in + r_.axes[0].index(c0) * tile_.in_strides[0];
    const std::int64_t at = slot(0, c0), stride = tile_.in_strides[2];
    for (std::int64_t c1 = rows.begin; c1 < rows.end; ++c1) {
      const T* from = plane + r_.axes[1].index(c1) * tile_.in_strides[1];
      T* to = row(at, c1);
      for (std::int64_t c = points.begin; c < points.end;) {
        const std::int64_t index = r_.axes[2].index(c), n = std::min(points.end - c, r_.axes[2].extent() - index);
        copy_points(from + index * stride, stride, to + c, 1, n);
        c += n;
      }
    }
  }

  /// A level's share of an input plane's rows that will be loaded next: nullptr where there is none.
  const T* next_input(std::int64_t c0, Span share) const {
    if (!span(0, 0).holds(c0) || tile_.in_strides[2] != 1) return nullptr;
    return tile_.in + r_.axes[0].index(c0) * tile_.in_strides[0] + share.begin;
  }
  Span share_of(std::int64_t level) const {
    const Span all = common(span(2, 0), {0, r_.axes[2].extent()});
    return {all.begin + all.size() * (level - 1) / tile_.depth, all.begin + all.size() * level / tile_.depth};
  }

  static void copy_points(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t n) {
    if (from_stride == 1 && to_stride == 1) {
      std::memcpy(to, from, std::size_t(n) * sizeof(T));
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  }

  /// Computes planes of a level, at the last into the output. A plane follows the one before so closely that it finds
  /// the rows that both read in the first-level cache, and so far behind that it may overwrite what that one has read.
  void advance(std::int64_t level, Span planes, std::int64_t next) {
    if (planes.size() <= 0) return;
    Plane group[kMostPlanes];
    for (std::int64_t p = 0; p < planes.size(); ++p) group[p] = prepare(level, planes.begin + p, p);
    const Span share = share_of(level);
    for (std::int64_t p = 0; p < planes.size(); ++p) group[p].next = next_input(next + p, share);
    const Span rows = span(1, level), points = span(2, level);
    const std::int64_t lag = r_.axes[1].radius() + 1;
    for (std::int64_t front = rows.begin; front < rows.end + (planes.size() - 1) * lag; ++front)
      for (std::int64_t p = 0; p < planes.size(); ++p) {
        const std::int64_t c1 = front - p * lag;
        if (!rows.holds(c1)) continue;
        compute_row(level, group[p], workshop_.plain[std::size_t(p)], c1, points);
        // Asked for while there is work to do meanwhile.
        if (group[p].next == nullptr) continue;
        const T* input = group[p].next + r_.axes[1].index(c1) * tile_.in_strides[1];
        for (std::int64_t i = 0; i < share.size(); i += kLine) __builtin_prefetch(input + i, 0, 2);
      }
  }

  void compute_row(std::int64_t level, const Plane& plane, const TileTerms<T>& plain, std::int64_t c1,
                   Span points) const {
    const std::int64_t i1 = c1 - r_.axes[1].copy_begin(c1);
    const T* from = row(plane.from, c1);
    T* to = row(plane.to, c1);
    if (plane.frozen || d_.frozen_on(1, i1)) {
      copy_points(from + points.begin, 1, to + points.begin, 1, points.size());
    } else if (plane.plain && d_.plain_on(1, i1)) {
      sum_row(from, plain, points, to);
    } else {
      map_terms(plane, c1);
      sum_row(from, workshop_.mapped, points, to);
    }
    if (level == tile_.depth) put_row(to, plane.c0, c1, points);
  }

  /// With the taps of the plane's rows that have no boundary on the outer axes.
  Plane prepare(std::int64_t level, std::int64_t c0, std::int64_t place) const {
    Plane plane{c0, r_.axes[0].copy_begin(c0), slot(level - 1, c0), slot(level, c0), false, false, nullptr};
    plane.plain = d_.plain_on(0, c0 - plane.copy), plane.frozen = d_.frozen_on(0, c0 - plane.copy);
    TileTerms<T>& terms = workshop_.plain[std::size_t(place)];
    if (plane.plain)
      for (std::size_t t = 0; t < r_.taps.size(); ++t)
        terms.offset[t] = plane_offset(plane, c0 + r_.taps[t].offset[0]) + r_.inner[t];
    return plane;
  }

  /// From a plane to another that its level reads.
  std::int64_t plane_offset(const Plane& plane, std::int64_t other) const {
    const std::int64_t to = plane.from + other - plane.c0;
    const std::int64_t wrapped = to < 0 ? to + layout_.planes : to >= layout_.planes ? to - layout_.planes : to;
    return (wrapped - plane.from) * layout_.rows * layout_.pitch;
  }

  /// The taps of row c1: rows that are mapped within the domain's copy, or constant.
  void map_terms(const Plane& plane, std::int64_t c1) const {
    TileTerms<T>& terms = workshop_.mapped;
    terms.clear();
    const std::int64_t copy1 = r_.axes[1].copy_begin(c1);
    for (const plugin::Tap& tap : r_.taps) {
      // Index 0 of axis 2 is inside.
      const auto s = d_.sample(plane.c0 - plane.copy + tap.offset[0], c1 - copy1 + tap.offset[1], 0);
      if (s.constant)
        terms.init += T(tap.coefficient) * T(s.value);
      else
        terms.push(plane_offset(plane, plane.copy + s.index[0]) + (copy1 + s.index[1] - c1) * layout_.pitch,
                   tap.offset[2], T(tap.coefficient));
    }
  }

  /// Sums whole cache lines as if no point had a boundary, then does over those of `points` that have. What lies
  /// around `points` is read and written, but nothing comes of it.
  void sum_row(const T* from, const TileTerms<T>& terms, Span points, T* to) const {
    const std::int64_t head = (points.begin - first_[2]) % kLine, begin = points.begin - head;
    const std::int64_t n = (head + points.size() + kLine - 1) / kLine * kLine;
    apply_row(from + begin, 1, terms.taps(), terms.init, to + begin, 1, n);
    const TileAxis& axis = r_.axes[2];
    if (axis.endless()) return;
    for (std::int64_t copy = axis.copy_begin(points.begin); copy < points.end; copy += axis.extent()) {
      sum_ends(from, terms, common(points, {copy, copy + d_.plain_begin(2)}), copy, to);
      sum_ends(from, terms, common(points, {copy + d_.plain_end(2), copy + axis.extent()}), copy, to);
    }
  }

  void sum_ends(const T* from, const TileTerms<T>& terms, Span ends, std::int64_t copy, T* to) const {
    for (std::int64_t c = ends.begin; c < ends.end; ++c)
      to[c] = d_.frozen_on(2, c - copy) ? from[c] : end_point(from + c, terms, c - copy);
  }

  /// The sum at `point`, which has index i on axis 2.
  T end_point(const T* point, const TileTerms<T>& terms, std::int64_t i) const {
    T sum = terms.init;
    for (std::size_t t = 0; t < terms.along.size(); ++t) {
      const std::int64_t index = i + terms.along[t];
      std::int64_t from = terms.offset[t];
      if (index < 0 || index >= d_.extents[2]) {
        const std::int64_t entry = d_.reach[2][0] + (index < 0 ? index : index - d_.extents[2]);
        const Replacement<T>& instead = r_.beyond[std::size_t(entry)];
        if (instead.constant) {
          sum += terms.coefficient[t] * instead.value;
          continue;
        }
        from += instead.shift;
      }
      sum += terms.coefficient[t] * point[from];
    }
    return sum;
  }

  /// Copies a row of the last level to the output, whole lines past the caches: the next pass reads them much later.
  void put_row(const T* from, std::int64_t c0, std::int64_t c1, Span points) const {
    T* to = tile_.out + c0 * tile_.out_strides[0] + c1 * tile_.out_strides[1];
    const std::int64_t stride = tile_.out_strides[2], n = points.size();
    from += points.begin, to += points.begin * stride;
    if (stride != 1) return copy_points(from, 1, to, stride, n);
    const std::int64_t past = std::int64_t(reinterpret_cast<std::uintptr_t>(to) % kLineBytes / sizeof(T));
    const std::int64_t head = std::min(n, (kLine - past) % kLine), tail = (n - head) % kLine;
    copy_points(from, 1, to, 1, head);
    for (std::int64_t i = head; i < n - tail; i += kLine) stream_line(to + i, from + i);
    copy_points(from + n - tail, 1, to + n - tail, 1, tail);
  }

  const TileRules<T>& r_;
  const plugin::Domain& d_;
  const TileLayout& layout_;
  const Tile<T>& tile_;
  Workshop<T>& workshop_;
  std::array<std::int64_t, 3> first_{};  ///< coordinates of the buffer's first point
};

}  // namespace tessera::cpu
