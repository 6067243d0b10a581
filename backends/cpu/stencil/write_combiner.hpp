// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Puts cache lines of the output together before they are stored past the caches.
#pragma once

#include "../nontemporal_store.hpp"

#include <cstdint>
#include <cstring>

namespace tessera::cpu {

/// Collects lines whose points come in several parts. A load of what narrower stores have just written waits until all
/// earlier stores have left the core, non-temporal ones among them. So a line rests here until so many others have come
/// that its points have reached the cache.
template <class T>
class WriteCombiner {
 public:
  static constexpr std::int64_t kPoints = kLineBytes / std::int64_t(sizeof(T));

  /// Room for points [begin, end) of the line of `out` that starts at `line`: the result is where its point 0 goes.
  /// Whoever fills it may overwrite a line's length before `begin`, unless these points were asked for before, and what
  /// lies behind `end`.
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

  /// Stores all lines; nontemporal_fence() must follow.
  void flush() {
    for (Entry& entry : entries_) close(entry);
  }

 private:
  /// With so many lines come more stores than a core holds back: a row of a few lines has two of them.
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
      nontemporal_store_line(entry.line, points);
    else
      std::memcpy(entry.line + entry.begin, points + entry.begin, std::size_t(entry.end - entry.begin) * sizeof(T));
    entry.line = nullptr;
  }

  Entry entries_[kEntries];
  unsigned newest_ = 0;
};

}  // namespace tessera::cpu
