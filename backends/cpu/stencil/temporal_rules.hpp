// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What tiles of the temporal algorithm share, and what a thread has for its own.
#pragma once

#include "model.hpp"
#include "prefetch_queue.hpp"
#include "register_block_kernel.hpp"
#include "row_ends.hpp"
#include "tap_groups.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/problem.hpp>

#include <sys/mman.h>

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
  std::int64_t c0, copy;  ///< `copy`: where the domain's copy begins
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

}  // namespace tessera::cpu
