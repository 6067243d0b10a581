// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows that travel from memory and to it while sums go on.
#pragma once

#include "../nontemporal_store.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::cpu {

/// Prefetches rows into the caches and stores others past them, a line at a time. A core has few buffers for either:
/// where many lines come at once, stores and loads that miss the first-level cache wait.
template <class T>
class PrefetchQueue {
 public:
  static constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));
  /// Lines that the sums between two calls of advance() make: eight vectors.
  static constexpr std::int64_t kLinesPerAdvance = 8 * kVectorBytes / kLineBytes;

  /// With room for as many rows of either kind.
  explicit PrefetchQueue(std::size_t rows) : fetches_(rows), stores_(rows), next_stores_(rows) {}

  void prefetch(const T* from, std::int64_t n) { fetches_.push({nullptr, from, n}); }
  /// `to` is the start of a line, n points are whole ones. It leaves after the next drain().
  void store(T* to, const T* from, std::int64_t n) { next_stores_.push({to, from, n}); }

  /// Tells that advance() will be called so often before the next drain().
  void pace(std::int64_t calls) {
    const std::int64_t lines = std::max(fetches_.lines, stores_.lines);
    lines_per_call_ = plugin::ceil_div(lines, std::max<std::int64_t>(calls, 1));
  }
  /// Moves some lines: always as many, so that branch prediction works.
  void advance() {
    for (std::int64_t k = 0; k < lines_per_call_; ++k) move_line();
  }
  /// Finishes what was there before the last drain(), and what was to be prefetched. nontemporal_fence() must follow.
  void drain() {
    while (fetches_.some() || stores_.some()) move_line();
    fetches_.clear();
    std::swap(stores_, next_stores_);
    next_stores_.clear();
  }

 private:
  struct Row {
    T* to;
    const T* from;
    std::int64_t left;
  };
  struct Queue {
    std::vector<Row> row;
    std::size_t next = 0;
    std::int64_t lines = 0;

    explicit Queue(std::size_t rows) { row.reserve(rows); }
    bool some() const { return next < row.size(); }
    void push(const Row& r) {
      if (r.left > 0) row.push_back(r), lines += plugin::ceil_div(r.left, kLine);
    }
    void pop_line() {
      Row& r = row[next];
      r.from += kLine, r.left -= kLine;
      if (r.to != nullptr) r.to += kLine;
      if (r.left <= 0) ++next;
    }
    void clear() { row.clear(), next = 0, lines = 0; }
  };

  void move_line() {
    if (fetches_.some()) {
      __builtin_prefetch(fetches_.row[fetches_.next].from, 0, 2);
      fetches_.pop_line();
    }
    if (stores_.some()) {
      nontemporal_store_line(stores_.row[stores_.next].to, stores_.row[stores_.next].from);
      stores_.pop_line();
    }
  }

  Queue fetches_, stores_, next_stores_;
  std::int64_t lines_per_call_ = 0;
};

}  // namespace tessera::cpu
