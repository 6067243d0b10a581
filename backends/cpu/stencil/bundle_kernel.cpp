// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "bundle_kernel.hpp"

#include "../stream_store.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tessera::cpu {
namespace {

/// Whether a bundle of `rows` rows reads row (i0, i1), so many points along, for the taps of a pattern around (0, 0).
constexpr bool reads_row(Pattern pattern, int rows, int i0, int i1, std::int64_t along) {
  for (int p = 0; p < kBundlePlanes; ++p)
    for (int r = 0; r < rows; ++r)
      if (has_tap(pattern, i0 - p, i1 - r, along)) return true;
  return false;
}

constexpr int rows_read(Pattern pattern, int rows) {
  int count = 0;
  for (const std::int64_t along : kAlong)
    for (int i0 = -1; i0 <= kBundlePlanes; ++i0)
      for (int i1 = -1; i1 <= rows; ++i1) count += reads_row(pattern, rows, i0, i1, along);
  return count;
}

/// A group with its coefficients in registers.
template <class T, Pattern kPattern>
struct GroupTaps {
  std::int64_t plane[kBundlePlanes + 2];
  Vector<T> factor[tap_count(kPattern)];

  [[gnu::always_inline]] explicit GroupTaps(const BundleGroup<T>& group) {
    for (int k = 0; k < kBundlePlanes + 2; ++k) plane[k] = group.plane[std::size_t(k)];
    for (int t = 0; t < tap_count(kPattern); ++t) factor[t] = group.coefficient[t] - Vector<T>{};
  }
};

/// What a bundle computes at a time: vectors at one place of all its rows.
template <class T, int kRows, int kVectors>
struct Tile {
  static constexpr int kLanes = cpu::kLanes<T>;
  static constexpr int kCount = kBundlePlanes * kRows * kVectors;
  static constexpr int kPoints = kVectors * kLanes;

  Vector<T> sum[kBundlePlanes][kRows][kVectors];

  /// Puts edges in their places, if there are any among points from i on of rows of n. Their values come from scalar
  /// loads: a vector of what narrower stores have just written would wait for all stores before.
  void put(const Edges<T>& edges, std::int64_t i, std::int64_t n) {
    const std::int64_t head = std::min(edges.head - i, std::int64_t(kPoints)), tail = n - edges.tail - i;
    if (head <= 0 && tail >= kPoints) return;
#pragma GCC unroll 16
    for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const T* const value = edges.value + (p * kRows + r) * (edges.head + edges.tail);
        for (std::int64_t k = 0; k < head; ++k) put(sum[p][r], k, value[i + k]);
        for (std::int64_t k = std::max<std::int64_t>(tail, 0); k < kPoints; ++k)
          put(sum[p][r], k, value[edges.head + k - tail]);
      }
  }

  static void put(Vector<T> (&row)[kVectors], std::int64_t place, T value) {
    using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Vector<Integer> point;
      for (int lane = 0; lane < kLanes; ++lane) point[lane] = Integer(v * kLanes + lane);
      row[v] = point == Integer(place) ? value - Vector<T>{} : row[v];
    }
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
    for (int i0 = -1; i0 <= kBundlePlanes; ++i0) {
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
      for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r)
          if (has_tap(kPattern, i0 - p, i1 - r, kD2))
            sum[p][r][v] += factor[taps_before(kPattern, i0 - p, i1 - r, kD2)] * value;
    }
  }

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 16
    for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sum[p][r][v] = T(-0.0) - Vector<T>{};
  }
};

/// Any groups, one after the other.
template <class T>
class Listed {
 public:
  explicit Listed(const BundleGroups<T>& groups) : groups_(groups) {}

  template <int kRows, int kVectors, class Then>
  [[gnu::always_inline]] void sum(Tile<T, kRows, kVectors>& tile, const Bundle<T>& b, std::int64_t i,
                                  Then&& then) const {
    tile.clear();
    for (std::int64_t g = 0; g < groups_.count; ++g) {
      add(tile, b.in + i, b.in_row, groups_.first[g]);
      then();
    }
  }

 private:
  template <int kRows, int kVectors>
  [[gnu::always_inline]] static void add(Tile<T, kRows, kVectors>& tile, const T* in, std::int64_t row,
                                         const BundleGroup<T>& group) {
    switch (group.pattern) {
      case Pattern::point:
        return tile.add(in, row, GroupTaps<T, Pattern::point>(group));
      case Pattern::line0:
        return tile.add(in, row, GroupTaps<T, Pattern::line0>(group));
      case Pattern::line1:
        return tile.add(in, row, GroupTaps<T, Pattern::line1>(group));
      case Pattern::plus:
        return tile.add(in, row, GroupTaps<T, Pattern::plus>(group));
      case Pattern::box:
        return tile.add(in, row, GroupTaps<T, Pattern::box>(group));
      case Pattern::star:
        return tile.add(in, row, GroupTaps<T, Pattern::star>(group));
    }
  }

  const BundleGroups<T>& groups_;
};

/// One group, whose coefficients and offsets stay in registers.
template <class T, Pattern kPattern>
class Alone {
 public:
  explicit Alone(const BundleGroups<T>& groups) : taps_(*groups.first) {}

  template <int kRows, int kVectors, class Then>
  [[gnu::always_inline]] void sum(Tile<T, kRows, kVectors>& tile, const Bundle<T>& b, std::int64_t i,
                                  Then&& then) const {
    tile.clear();
    tile.add(b.in + i, b.in_row, taps_);
    then();
  }

 private:
  GroupTaps<T, kPattern> taps_;
};

template <int kRows, int kVectors, class Taps, class T>
void apply_tiles(const Bundle<T>& b, const BundleGroups<T>& groups, Errands<T>* errands) {
  const Taps taps(groups);
  using Tile = cpu::Tile<T, kRows, kVectors>;
  // The last tile does some points twice, where that is harmless.
  for (std::int64_t done = 0; done < b.n; done += Tile::kPoints) {
    const std::int64_t i = std::min(done, b.n - Tile::kPoints);
    Tile tile;
    taps.sum(tile, b, i, [] {});
#pragma GCC unroll 16
    for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v)
          store(b.out + p * b.out_plane + r * b.out_row + i + v * kLanes<T>, tile.sum[p][r][v]);
    if (errands != nullptr) errands->beside();
  }
}

/// As many whole tiles as the rows have from point i on; returns the first point behind them. While a tile is summed,
/// the one before leaves for memory: stores past the caches and fetches share few buffers with loads that miss the
/// first-level cache, which wait where many of them come at once.
template <class T, int kRows, int kVectors>
std::int64_t stream_tiles(const Bundle<T>& b, const BundleGroups<T>& groups, const Edges<T>& edges, const T* newest,
                          std::int64_t i) {
  using Tile = cpu::Tile<T, kRows, kVectors>;
  std::int64_t from[Tile::kCount], to[Tile::kCount];
  for (int k = 0; k < Tile::kCount; ++k) {
    const int p = k / kVectors / kRows, r = k / kVectors % kRows, v = k % kVectors;
    from[k] = p * b.in_plane + r * b.in_row + v * Tile::kLanes;
    to[k] = p * b.out_plane + r * b.out_row + (v - kVectors) * Tile::kLanes;
  }
  const Listed<T> taps(groups);
  alignas(kLineBytes) T waiting[Tile::kCount * Tile::kLanes];
  bool some = false;
  for (; i + Tile::kPoints <= b.n; i += Tile::kPoints) {
    int k = 0;
    std::int64_t due = 0;
    Tile tile;
    taps.sum(tile, b, i, [&] {
      for (due += Tile::kCount; due >= groups.count; due -= groups.count, ++k) {
        __builtin_prefetch(newest + from[k] + i);
        if (some) stream_store(b.out + to[k] + i, load(waiting + k * Tile::kLanes));
      }
    });
    tile.put(edges, i, b.n);
    std::memcpy(waiting, tile.sum, sizeof waiting);
    some = true;
  }
  for (int k = 0; some && k < Tile::kCount; ++k) stream_store(b.out + to[k] + i, load(waiting + k * Tile::kLanes));
  return i;
}

constexpr int kLineVectors = int(kLineBytes) / kVectorBytes;
/// Lines are streamed whole, and eight vectors fill the multiply-add units for the length of their latency.
static_assert(kBundlePlanes * kSeveralRows * kLineVectors == 8);
constexpr int kLongVectors = 4;
static_assert(kLongVectors >= kLineVectors && kBundlePlanes * kLongVectors == 8);

}  // namespace

bool several_rows_pay(const std::vector<TapGroup>& groups) {
  int one = 0, several = 0;
  for (const TapGroup& group : groups) {
    one += rows_read(group.pattern, 1);
    several += rows_read(group.pattern, kSeveralRows);
  }
  return 3 * several <= 2 * one * kSeveralRows;
}

template <class T>
void apply_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups, Errands<T>* errands) {
  if (bundle.rows > 1)
    apply_tiles<kSeveralRows, kLineVectors, Listed<T>>(bundle, groups, errands);
  else if (groups.count == 1 && groups.first->pattern == Pattern::star)
    apply_tiles<1, kLongVectors, Alone<T, Pattern::star>>(bundle, groups, errands);
  else
    apply_tiles<1, kLongVectors, Listed<T>>(bundle, groups, errands);
}

template <class T>
void stream_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups, const Edges<T>& edges, const T* newest) {
  if (bundle.rows == 1) {
    const std::int64_t i = stream_tiles<T, 1, kLongVectors>(bundle, groups, edges, newest, 0);
    if (i < bundle.n) stream_tiles<T, 1, kLineVectors>(bundle, groups, edges, newest, i);
  } else {
    stream_tiles<T, kSeveralRows, kLineVectors>(bundle, groups, edges, newest, 0);
  }
}

template void apply_bundle(const Bundle<float>&, const BundleGroups<float>&, Errands<float>*);
template void apply_bundle(const Bundle<double>&, const BundleGroups<double>&, Errands<double>*);
template void stream_bundle(const Bundle<float>&, const BundleGroups<float>&, const Edges<float>&, const float*);
template void stream_bundle(const Bundle<double>&, const BundleGroups<double>&, const Edges<double>&, const double*);

}  // namespace tessera::cpu
