// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Cache lines of the output that are put together from several pieces before they are streamed.
#pragma once

#include "../stream_store.hpp"

#include <cstdint>
#include <cstring>

namespace tessera::cpu {

/// A load of what narrower stores have just written waits until all stores before have left the core, streamed ones
/// among them. So lines rest here until that many others have come that their points are long in the cache.
template <class T>
class LateLines {
 public:
  static constexpr std::int64_t kPoints = kLineBytes / std::int64_t(sizeof(T));

  /// Room for points [begin, end) of the line of `out` that starts at `line`: the result is where its point 0 goes.
  /// Whoever fills it may spoil a line's length before `begin`, but no points that were given before, and behind `end`.
  T* open(T* line, std::int64_t begin, std::int64_t end) {
    Entry* entry = &entries_[newest_];
    if (entry->line == line && entry->end == begin) {
      entry->end = end;
    } else {
      newest_ = (newest_ + 1) % kEntries;
      entry = &entries_[newest_];
      close(*entry);
      entry->line = line, entry->begin = begin, entry->end = end;
    }
    return entry->points + kPoints;
  }

  /// Stores all lines; stream_fence() must follow.
  void flush() {
    for (Entry& entry : entries_) close(entry);
  }

 private:
  /// More stores than a core holds back come with that many lines: a row of a few lines has two of them.
  static constexpr unsigned kEntries = 32;

  struct alignas(kLineBytes) Entry {
    T points[3 * kPoints];
    T* line = nullptr;
    std::int64_t begin = 0, end = 0;
  };

  static void close(Entry& entry) {
    if (entry.line == nullptr) return;
    const T* points = entry.points + kPoints;
    if (entry.begin == 0 && entry.end == kPoints)
      stream_line(entry.line, points);
    else
      std::memcpy(entry.line + entry.begin, points + entry.begin, std::size_t(entry.end - entry.begin) * sizeof(T));
    entry.line = nullptr;
  }

  Entry entries_[kEntries];
  unsigned newest_ = 0;
};

}  // namespace tessera::cpu
