// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Rows on their way from memory and to it, while sums go on.
#pragma once

#include "../stream_store.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::cpu {

/// Fetches rows into the caches and stores others past them, a line at a time: a core has few buffers for both, and
/// loads that miss the first-level cache, and stores, wait where many come at once.
template <class T>
class Errands {
 public:
  static constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));
  /// Lines of a tile, the sums between two calls of beside(): eight vectors.
  static constexpr std::int64_t kTileLines = 8 * kVectorBytes / kLineBytes;

  /// With room for as many rows of either kind.
  explicit Errands(std::size_t rows) : fetches_(rows), stores_(rows), later_(rows) {}

  void fetch(const T* from, std::int64_t n) { fetches_.push({nullptr, from, n}); }
  /// `to` is the start of a line, n points are whole ones. Its turn is the next.
  void store(T* to, const T* from, std::int64_t n) { later_.push({to, from, n}); }

  /// Shall be done beside `tiles` tiles.
  void spread(std::int64_t tiles) {
    const std::int64_t lines = std::max(fetches_.lines, stores_.lines);
    share_ = (lines + tiles - 1) / std::max<std::int64_t>(tiles, 1);
  }
  /// What may be done beside a tile: always as much, so that the processor foresees it.
  void beside() {
    for (std::int64_t k = 0; k < share_; ++k) move();
  }
  /// Finishes what was there before the turn. stream_fence() must follow.
  void turn() {
    while (fetches_.some() || stores_.some()) move();
    fetches_.clear();
    std::swap(stores_, later_);
    later_.clear();
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
      if (r.left > 0) row.push_back(r), lines += (r.left + kLine - 1) / kLine;
    }
    void advance() {
      Row& r = row[next];
      r.from += kLine, r.left -= kLine;
      if (r.to != nullptr) r.to += kLine;
      if (r.left <= 0) ++next;
    }
    void clear() { row.clear(), next = 0, lines = 0; }
  };

  void move() {
    if (fetches_.some()) {
      __builtin_prefetch(fetches_.row[fetches_.next].from, 0, 2);
      fetches_.advance();
    }
    if (stores_.some()) {
      stream_line(stores_.row[stores_.next].to, stores_.row[stores_.next].from);
      stores_.advance();
    }
  }

  Queue fetches_, stores_, later_;
  std::int64_t share_ = 0;
};

}  // namespace tessera::cpu
