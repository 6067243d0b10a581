// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_row() and its kin for one type of 32 or 64 bits: included by a file per type.

#include "row_kernel.hpp"

#include "../nontemporal_store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tessera::cpu {
namespace {

/// Taps that one loop adds up: their pointers and coefficients must stay in registers.
constexpr int kGroup = 9;
/// Vectors that one iteration of a loop computes, so that loads and sums of several overlap.
constexpr int kUnroll = 2;
/// Points of a row that all groups visit before the next points, so that sums stay in the first-level cache.
constexpr std::int64_t kBlock = 512;

/// Where sums go: into the cache, or past it.
enum class To { cache, memory };

/// kVectors vectors of kLanes neighbouring points of a row from point i on. With kAdd the sums go on from what
/// `partial` holds, else from `init`. Sums have one shape, sum + factor * value, for every width:
/// contraction to FMA has no choice to make, so a point's bits do not depend on its place in the row.
template <class T, int kLanes, int kVectors, int kTaps, bool kAdd, To kTo>
inline void add_points(const std::array<const T*, kTaps>& tap, const std::array<T, kTaps>& factor, T init,
                       const T* partial, T* out, const T* newest, std::int64_t i) {
  if constexpr (kTo == To::memory)
    for (int v = 0; v < kVectors; ++v) __builtin_prefetch(newest + i + v * kLanes);
  Vector<T, kLanes> sum[kVectors], value;
  for (int v = 0; v < kVectors; ++v) {
    sum[v] = init - Vector<T, kLanes>{};
    if constexpr (kAdd) std::memcpy(&sum[v], partial + i + v * kLanes, sizeof sum[v]);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTaps; ++t)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(&value, tap[t] + i + v * kLanes, sizeof value);
      sum[v] += factor[t] * value;
    }
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (kTo == To::memory)
      nontemporal_store(out + i + v * kLanes, sum[v]);
    else
      std::memcpy(out + i + v * kLanes, &sum[v], sizeof sum[v]);
  }
}

/// One loop over kTaps taps for n points.
template <class T, int kTaps, bool kAdd, To kTo>
void add_group(const T* in, const std::int64_t* offset, const T* coefficient, T init, const T* partial, T* out,
               const T* newest, std::int64_t n) {
  std::array<const T*, kTaps> tap;
  std::array<T, kTaps> factor;
  for (int t = 0; t < kTaps; ++t) {
    tap[t] = in + offset[t];
    factor[t] = coefficient[t];
  }
  constexpr int kLanes = cpu::kLanes<T>;
  std::int64_t i = 0;
  for (; i + kUnroll * kLanes <= n; i += kUnroll * kLanes)
    add_points<T, kLanes, kUnroll, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  for (; i + kLanes <= n; i += kLanes)
    add_points<T, kLanes, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  if constexpr (kTo == To::cache) {
    // What is left of a row: its last whole vector, which does some points twice, where that is harmless.
    if (!kAdd && i < n && n >= kLanes)
      return add_points<T, kLanes, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, n - kLanes);
    for (; i < n; ++i) add_points<T, 1, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  }
}

template <class T>
using Group = void (*)(const T*, const std::int64_t*, const T*, T, const T*, T*, const T*, std::int64_t);

/// Group loops by their number of taps, 0 to kGroup.
template <class T, bool kAdd, To kTo, std::size_t... kTaps>
constexpr std::array<Group<T>, sizeof...(kTaps)> make_groups(std::index_sequence<kTaps...>) {
  return {add_group<T, int(kTaps), kAdd, kTo>...};
}
template <class T, bool kAdd, To kTo>
constexpr auto kGroups = make_groups<T, kAdd, kTo>(std::make_index_sequence<kGroup + 1>{});

/// All groups but the last of n points, at most kBlock, into `sums`; returns the first tap of the last.
template <class T>
std::int64_t add_early_groups(const T* in, const RowTaps<T>& taps, T init, T* sums, std::int64_t n) {
  kGroups<T, false, To::cache>[kGroup](in, taps.offset, taps.coefficient, init, nullptr, sums, nullptr, n);
  std::int64_t t = kGroup;
  for (; t + kGroup < taps.count; t += kGroup)
    kGroups<T, true, To::cache>[kGroup](in, taps.offset + t, taps.coefficient + t, init, sums, sums, nullptr, n);
  return t;
}

/// The whole row. Between groups the sums lie in `out` itself, or in a buffer where `out` is not in the cache.
template <class T, To kTo>
void add_groups(const T* in, const RowTaps<T>& taps, T init, T* out, std::int64_t n, const T* newest) {
  if (taps.count <= kGroup)
    return kGroups<T, false, kTo>[std::size_t(taps.count)](in, taps.offset, taps.coefficient, init, nullptr, out,
                                                           newest, n);
  alignas(kLineBytes) T buffer[kTo == To::memory ? kBlock : 1];
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t length = std::min(kBlock, n - i);
    T* sums = buffer;
    if constexpr (kTo == To::cache) sums = out + i;
    const std::int64_t t = add_early_groups(in + i, taps, init, sums, length);
    kGroups<T, true, kTo>[std::size_t(taps.count - t)](in + i, taps.offset + t, taps.coefficient + t, init, sums,
                                                       out + i, kTo == To::memory ? newest + i : nullptr, length);
  }
}

}  // namespace

template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
               std::int64_t out_stride, std::int64_t n) {
  if (in_stride != 1 || out_stride != 1) return apply_strided(in, in_stride, taps, init, out, out_stride, n);
  add_groups<T, To::cache>(in, taps, init, out, n, nullptr);
}

template <class T>
void apply_row_nontemporal(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n,
                           const T* newest) {
  add_groups<T, To::memory>(in, taps, init, out, n, newest);
}

template <class T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out) {
  constexpr int kLanes = cpu::kLanes<T>, kVectors = int(kLineBytes / sizeof(T)) / kLanes;
  Vector<T> sum[kVectors], value;
  for (int v = 0; v < kVectors; ++v) sum[v] = init - Vector<T>{};
  for (std::int64_t t = 0; t < taps.count; ++t)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(&value, in + taps.offset[t] + v * kLanes, sizeof value);
      sum[v] += taps.coefficient[t] * value;
    }
  for (int v = 0; v < kVectors; ++v) std::memcpy(out + v * kLanes, &sum[v], sizeof sum[v]);
}

}  // namespace tessera::cpu
