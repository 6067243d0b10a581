// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_row() and its kin for one type: included by a file per type.

#include "row_kernel.hpp"

#include "../convert.hpp"
#include "../nontemporal_store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace tessera::cpu {
namespace {

/// Taps that one loop adds up: their pointers and coefficients must stay in registers.
constexpr int kGroup = 9;
/// Vectors that one iteration of a loop computes, so that loads and sums of several overlap.
constexpr int kUnroll = 2;
/// Points of a row that all groups visit before the next points, so that sums stay in the first-level cache.
constexpr std::int64_t kBlock = 512;

/// Where a group's sums go: into the cache, past it, or to a group whose sums go past it.
enum class To { cache, memory, group };

/// On their way past the caches, results of bfloat16 stand in the order of split_pairs(), which saves permutations.
template <class T, To kTo>
constexpr bool kSplit = std::is_same_v<T, bfloat16>&& kTo != To::cache;

/// Two vectors one behind the other.
template <class V, std::size_t... kLane>
[[gnu::always_inline]] inline auto joined(const V& low, const V& high, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(low, high, int(kLane)...);
}

/// Stores sums past the caches: to a multiple of kVectorBytes. Two vectors of float make one of 16-bit elements.
template <class T, int kVectors>
[[gnu::always_inline]] inline void store_past_caches(T* out, const Vector<Scalar<T>> (&sum)[kVectors]) {
  constexpr int kLanes = kVectorBytes / int(sizeof(Scalar<T>));
  if constexpr (sizeof(T) != 2) {
    for (int v = 0; v < kVectors; ++v) nontemporal_store(out + v * kLanes, sum[v]);
  } else if constexpr (kSplit<T, To::memory>) {
    for (int v = 0; v < kVectors; v += 2) nontemporal_store(out + v * kLanes, rounded_pairs(sum[v], sum[v + 1]));
  } else {
    for (int v = 0; v < kVectors; v += 2) {
      Vector<std::uint16_t, kLanes> low, high;
      round_to<T, kLanes>(sum[v], low);
      round_to<T, kLanes>(sum[v + 1], high);
      nontemporal_store(out + v * kLanes, joined(low, high, std::make_index_sequence<2 * kLanes>{}));
    }
  }
}

/// kVectors vectors of kLanes neighbouring points of a row from point i on. With kAdd the sums go on from what
/// `partial` holds, else from `init`. Sums have one shape, sum + factor * value, for every width:
/// contraction to FMA has no choice to make, so a point's bits do not depend on its place in the row.
template <class T, int kLanes, int kVectors, int kTaps, bool kAdd, To kTo, class Out>
inline void add_points(const std::array<const T*, kTaps>& tap, const std::array<Scalar<T>, kTaps>& factor,
                       Scalar<T> init, const Scalar<T>* partial, Out* out, const T* newest, std::int64_t i) {
  using S = Scalar<T>;
  if constexpr (kTo == To::memory)
    for (int v = 0; v < kVectors; v += int(sizeof(S) / sizeof(T))) __builtin_prefetch(newest + i + v * kLanes);
  Vector<S, kLanes> sum[kVectors], value[2];
  for (int v = 0; v < kVectors; ++v) {
    sum[v] = init - Vector<S, kLanes>{};
    if constexpr (kAdd) std::memcpy(&sum[v], partial + i + v * kLanes, sizeof sum[v]);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTaps; ++t)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (!kSplit<T, kTo>)
        load_wide<T, kLanes>(tap[t] + i + v * kLanes, value[v % 2]);
      else if (v % 2 == 0)
        split_pairs(tap[t] + i + v * kLanes, value[0], value[1]);
      sum[v] += factor[t] * value[v % 2];
    }
  if constexpr (kTo == To::memory)
    store_past_caches<T, kVectors>(out + i, sum);
  else
    for (int v = 0; v < kVectors; ++v) store_rounded<Out, kLanes>(out + i + v * kLanes, sum[v]);
}

/// One loop over kTaps taps for n points. Results are elements, or sums that others go on from.
template <class T, class Out, int kTaps, bool kAdd, To kTo>
void add_group(const T* in, const std::int64_t* offset, const Scalar<T>* coefficient, Scalar<T> init,
               const Scalar<T>* partial, Out* out, const T* newest, std::int64_t n) {
  std::array<const T*, kTaps> tap;
  std::array<Scalar<T>, kTaps> factor;
  for (int t = 0; t < kTaps; ++t) {
    tap[t] = in + offset[t];
    factor[t] = coefficient[t];
  }
  constexpr int kLanes = kVectorBytes / int(sizeof(Scalar<T>));
  std::int64_t i = 0;
  for (; i + kUnroll * kLanes <= n; i += kUnroll * kLanes)
    add_points<T, kLanes, kUnroll, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  if constexpr (kTo == To::cache || sizeof(T) != 2)  // two vectors of sums are one of 16-bit elements, part of a line
    for (; i + kLanes <= n; i += kLanes)
      add_points<T, kLanes, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  if constexpr (kTo == To::cache) {
    // What is left of a row: its last whole vector, which does some points twice, where that is harmless.
    if (!kAdd && i < n && n >= kLanes)
      return add_points<T, kLanes, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, n - kLanes);
    for (; i < n; ++i) add_points<T, 1, 1, kTaps, kAdd, kTo>(tap, factor, init, partial, out, newest, i);
  }
}

template <class T, class Out>
using Group = void (*)(const T*, const std::int64_t*, const Scalar<T>*, Scalar<T>, const Scalar<T>*, Out*, const T*,
                       std::int64_t);

/// Group loops by their number of taps, 0 to kGroup.
template <class T, class Out, bool kAdd, To kTo, std::size_t... kTaps>
constexpr std::array<Group<T, Out>, sizeof...(kTaps)> make_groups(std::index_sequence<kTaps...>) {
  return {add_group<T, Out, int(kTaps), kAdd, kTo>...};
}
template <class T, class Out, bool kAdd, To kTo>
constexpr auto kGroups = make_groups<T, Out, kAdd, kTo>(std::make_index_sequence<kGroup + 1>{});

/// All groups but the last of n points, at most kBlock, into `sums`; returns the first tap of the last.
template <class T, To kTo>
std::int64_t add_early_groups(const T* in, const RowTaps<T>& taps, Scalar<T> init, Scalar<T>* sums, std::int64_t n) {
  using S = Scalar<T>;
  kGroups<T, S, false, kTo>[kGroup](in, taps.offset, taps.coefficient, init, nullptr, sums, nullptr, n);
  std::int64_t t = kGroup;
  for (; t + kGroup < taps.count; t += kGroup)
    kGroups<T, S, true, kTo>[kGroup](in, taps.offset + t, taps.coefficient + t, init, sums, sums, nullptr, n);
  return t;
}

/// The whole row. Between groups the sums lie in `out` itself, or in a buffer where `out` is not in the cache or has
/// 16 bits.
template <class T, To kTo>
void add_groups(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n, const T* newest) {
  using S = Scalar<T>;
  if (taps.count <= kGroup)
    return kGroups<T, T, false, kTo>[std::size_t(taps.count)](in, taps.offset, taps.coefficient, init, nullptr, out,
                                                              newest, n);
  constexpr To kEarly = kSplit<T, kTo> ? To::group : To::cache;
  constexpr bool kBuffered = kTo == To::memory || sizeof(T) == 2;
  alignas(kLineBytes) S buffer[kBuffered ? kBlock : 1];
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t length = std::min(kBlock, n - i);
    S* sums = buffer;
    if constexpr (!kBuffered) sums = out + i;
    const std::int64_t t = add_early_groups<T, kEarly>(in + i, taps, init, sums, length);
    kGroups<T, T, true, kTo>[std::size_t(taps.count - t)](in + i, taps.offset + t, taps.coefficient + t, init, sums,
                                                          out + i, kTo == To::memory ? newest + i : nullptr, length);
  }
}

template <class T>
void apply_strided(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
                   std::int64_t out_stride, std::int64_t n) {
  using S = Scalar<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    S sum = init;
    for (std::int64_t t = 0; t < taps.count; ++t) sum += taps.coefficient[t] * S(in[taps.offset[t] + i * in_stride]);
    out[i * out_stride] = T(sum);
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
  if (kSplit<T, To::memory> && init != init) init = std::numeric_limits<Scalar<T>>::quiet_NaN();  // of no bits else
  add_groups<T, To::memory>(in, taps, init, out, n, newest);
}

template <class T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out) {
  using S = Scalar<T>;
  constexpr int kLanes = kVectorBytes / int(sizeof(S)), kVectors = int(kLineBytes / sizeof(T)) / kLanes;
  Vector<S> sum[kVectors], value;
  for (int v = 0; v < kVectors; ++v) sum[v] = init - Vector<S>{};
  for (std::int64_t t = 0; t < taps.count; ++t)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      load_wide<T, kLanes>(in + taps.offset[t] + v * kLanes, value);
      sum[v] += taps.coefficient[t] * value;
    }
  for (int v = 0; v < kVectors; ++v) store_rounded<T, kLanes>(out + v * kLanes, sum[v]);
}

}  // namespace tessera::cpu
