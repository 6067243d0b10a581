// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "bundle_kernel.hpp"

#include "../stream_store.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tessera::cpu {
namespace {

/// Whether a bundle of `rows` rows reads row (i0, i1) for the taps of a pattern around (0, 0).
constexpr bool reads_row(Pattern pattern, int rows, int i0, int i1) {
  for (int p = 0; p < kBundlePlanes; ++p)
    for (int r = 0; r < rows; ++r)
      if (has_tap(pattern, i0 - p, i1 - r)) return true;
  return false;
}

constexpr int rows_read(Pattern pattern, int rows) {
  int count = 0;
  for (int i0 = -1; i0 <= kBundlePlanes; ++i0)
    for (int i1 = -1; i1 <= rows; ++i1) count += reads_row(pattern, rows, i0, i1);
  return count;
}

/// What a bundle computes at a time: vectors at one place of all its rows.
template <class T, int kRows, int kVectors>
struct Tile {
  static constexpr int kLanes = cpu::kLanes<T>;
  static constexpr int kCount = kBundlePlanes * kRows * kVectors;
  static constexpr int kPoints = kVectors * kLanes;

  Vector<T> sum[kBundlePlanes][kRows][kVectors];

  /// Puts the input back where points from i on keep their value.
  void keep(const Bundle<T>& b, std::int64_t i) {
    using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const auto clamped = [](std::int64_t point) { return Integer(std::clamp<std::int64_t>(point, 0, kPoints)); };
    const Integer head = clamped(b.head - i), end = clamped(b.n - b.tail - i);
    for (int v = 0; v < kVectors; ++v) {
      Vector<Integer> point;
      for (int lane = 0; lane < kLanes; ++lane) point[lane] = Integer(v * kLanes + lane);
      for (int p = 0; p < kBundlePlanes; ++p)
        for (int r = 0; r < kRows; ++r) {
          const Vector<T> in = load(b.in + p * b.in_plane + r * b.in_row + i + v * kLanes);
          sum[p][r][v] = (point < head) | (point >= end) ? in : sum[p][r][v];
        }
    }
  }

  /// Adds the taps of a pattern; `in` is its centre for the first vector.
  template <Pattern kPattern>
  [[gnu::always_inline]] void add(const T* in, std::int64_t plane, std::int64_t row, const T* coefficient) {
    Vector<T> factor[tap_count(kPattern)];
    for (int t = 0; t < tap_count(kPattern); ++t) factor[t] = coefficient[t] - Vector<T>{};
#pragma GCC unroll 16
    for (int i0 = -1; i0 <= kBundlePlanes; ++i0)
#pragma GCC unroll 16
      for (int i1 = -1; i1 <= kRows; ++i1)
        if (reads_row(kPattern, kRows, i0, i1)) add_row<kPattern>(in + i0 * plane + i1 * row, factor, i0, i1);
  }

  /// Adds what a row gives to the rows around it.
  template <Pattern kPattern>
  [[gnu::always_inline]] void add_row(const T* in, const Vector<T>* factor, int i0, int i1) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const Vector<T> value = load(in + v * kLanes);
#pragma GCC unroll 16
      for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r)
          if (has_tap(kPattern, i0 - p, i1 - r)) sum[p][r][v] += factor[taps_before(kPattern, i0 - p, i1 - r)] * value;
    }
  }
};

template <class T, int kRows, int kVectors, class Then>
[[gnu::always_inline]] inline void sum_tile(Tile<T, kRows, kVectors>& tile, const Bundle<T>& b,
                                            const BundleGroups<T>& groups, std::int64_t i, Then&& then) {
#pragma GCC unroll 16
  for (int p = 0; p < kBundlePlanes; ++p)
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) tile.sum[p][r][v] = T(-0.0) - Vector<T>{};
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const BundleGroup<T>& group = groups.first[g];
    const T* in = b.in + group.offset + i;
    switch (group.pattern) {
      case Pattern::point:
        tile.template add<Pattern::point>(in, b.in_plane, b.in_row, group.coefficient);
        break;
      case Pattern::line0:
        tile.template add<Pattern::line0>(in, b.in_plane, b.in_row, group.coefficient);
        break;
      case Pattern::line1:
        tile.template add<Pattern::line1>(in, b.in_plane, b.in_row, group.coefficient);
        break;
      case Pattern::plus:
        tile.template add<Pattern::plus>(in, b.in_plane, b.in_row, group.coefficient);
        break;
      case Pattern::box:
        tile.template add<Pattern::box>(in, b.in_plane, b.in_row, group.coefficient);
        break;
    }
    then();
  }
}

template <class T, int kRows, int kVectors>
void apply_tiles(const Bundle<T>& b, const BundleGroups<T>& groups) {
  using Tile = cpu::Tile<T, kRows, kVectors>;
  Tile tile;
  // The last tile does some points twice, where that is harmless.
  for (std::int64_t done = 0; done < b.n; done += Tile::kPoints) {
    const std::int64_t i = std::min(done, b.n - Tile::kPoints);
    sum_tile(tile, b, groups, i, [] {});
    if (b.keeps(i, Tile::kPoints)) tile.keep(b, i);
    for (int p = 0; p < kBundlePlanes; ++p)
      for (int r = 0; r < kRows; ++r)
        std::memcpy(b.out + p * b.out_plane + r * b.out_row + i, tile.sum[p][r], sizeof tile.sum[p][r]);
  }
}

/// As many whole tiles as the rows have from point i on; returns the first point behind them. While a tile is summed,
/// the one before leaves for memory: stores past the caches and fetches share few buffers with loads that miss the
/// first-level cache, which wait where many of them come at once.
template <class T, int kRows, int kVectors>
std::int64_t stream_tiles(const Bundle<T>& b, const BundleGroups<T>& groups, const T* newest, std::int64_t i) {
  using Tile = cpu::Tile<T, kRows, kVectors>;
  std::int64_t from[Tile::kCount], to[Tile::kCount];
  for (int k = 0; k < Tile::kCount; ++k) {
    const int p = k / kVectors / kRows, r = k / kVectors % kRows, v = k % kVectors;
    from[k] = p * b.in_plane + r * b.in_row + v * Tile::kLanes;
    to[k] = p * b.out_plane + r * b.out_row + (v - kVectors) * Tile::kLanes;
  }
  Tile tile;
  alignas(kLineBytes) T waiting[Tile::kCount * Tile::kLanes];
  bool some = false;
  for (; i + Tile::kPoints <= b.n; i += Tile::kPoints) {
    int k = 0;
    std::int64_t due = 0;
    sum_tile(tile, b, groups, i, [&] {
      for (due += Tile::kCount; due >= groups.count; due -= groups.count, ++k) {
        __builtin_prefetch(newest + from[k] + i);
        if (some) stream_store(b.out + to[k] + i, load(waiting + k * Tile::kLanes));
      }
    });
    if (b.keeps(i, Tile::kPoints)) tile.keep(b, i);
    std::memcpy(waiting, tile.sum, sizeof waiting);
    some = true;
  }
  for (int k = 0; some && k < Tile::kCount; ++k) stream_store(b.out + to[k] + i, load(waiting + k * Tile::kLanes));
  return i;
}

constexpr int kLineVectors = int(kLineBytes) / kVectorBytes;
/// Lines are streamed whole, and eight vectors fill the multiply-add units for the length of their latency.
static_assert(kBundlePlanes * kSeveralRows * kLineVectors == 8);
constexpr int kLongVectors = std::max(2, kLineVectors);

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
void apply_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups) {
  if (bundle.rows == 1)
    apply_tiles<T, 1, kLongVectors>(bundle, groups);
  else
    apply_tiles<T, kSeveralRows, kLineVectors>(bundle, groups);
}

template <class T>
void stream_bundle(const Bundle<T>& bundle, const BundleGroups<T>& groups, const T* newest) {
  if (bundle.rows == 1) {
    const std::int64_t i = stream_tiles<T, 1, kLongVectors>(bundle, groups, newest, 0);
    if (i < bundle.n) stream_tiles<T, 1, kLineVectors>(bundle, groups, newest, i);
  } else {
    stream_tiles<T, kSeveralRows, kLineVectors>(bundle, groups, newest, 0);
  }
}

template void apply_bundle(const Bundle<float>&, const BundleGroups<float>&);
template void apply_bundle(const Bundle<double>&, const BundleGroups<double>&);
template void stream_bundle(const Bundle<float>&, const BundleGroups<float>&, const float*);
template void stream_bundle(const Bundle<double>&, const BundleGroups<double>&, const double*);

}  // namespace tessera::cpu
