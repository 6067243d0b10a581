// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "row_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tessera::cpu {
namespace {

/// Taps that one loop adds up: their pointers and coefficients must stay in registers.
constexpr int kGroup = 9;
/// Points of a row that all groups visit in turn, so that sums wait in the first-level cache.
constexpr std::int64_t kBlock = 512;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

/// kWidth neighbouring points of a row from point i on. With kAdd the sums go on from what `out`
/// holds, else from `init`. Sums have one shape, sum + factor * value, for every width: contraction
/// to FMA has no choice to make, so a point's bits do not depend on its place in the row.
template <class T, int kWidth, int kTaps, bool kAdd>
inline void add_points(const std::array<const T*, kTaps>& tap, const std::array<T, kTaps>& factor, T init, T* out,
                       std::int64_t i) {
  using Vector [[gnu::vector_size(kWidth * sizeof(T))]] = T;
  Vector sum = init - Vector{}, value;
  if constexpr (kAdd) std::memcpy(&sum, out + i, sizeof sum);
  for (int t = 0; t < kTaps; ++t) {
    std::memcpy(&value, tap[t] + i, sizeof value);
    sum += factor[t] * value;
  }
  std::memcpy(out + i, &sum, sizeof sum);
}

/// One loop over kTaps taps for n points.
template <class T, int kTaps, bool kAdd>
void add_group(const T* in, const std::int64_t* offset, const T* coefficient, T init, T* out, std::int64_t n) {
  std::array<const T*, kTaps> tap;
  std::array<T, kTaps> factor;
  for (int t = 0; t < kTaps; ++t) {
    tap[t] = in + offset[t];
    factor[t] = coefficient[t];
  }
  constexpr int kLanes = kVectorBytes / int(sizeof(T));
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) add_points<T, kLanes, kTaps, kAdd>(tap, factor, init, out, i);
  // What is left of a row: its last whole vector, which does some points twice, where that is harmless.
  if (!kAdd && i < n && n >= kLanes) return add_points<T, kLanes, kTaps, kAdd>(tap, factor, init, out, n - kLanes);
  for (; i < n; ++i) add_points<T, 1, kTaps, kAdd>(tap, factor, init, out, i);
}

template <class T>
using Group = void (*)(const T*, const std::int64_t*, const T*, T, T*, std::int64_t);

/// Group loops by their number of taps, 0 to kGroup.
template <class T, bool kAdd, std::size_t... kTaps>
constexpr std::array<Group<T>, sizeof...(kTaps)> make_groups(std::index_sequence<kTaps...>) {
  return {add_group<T, int(kTaps), kAdd>...};
}
template <class T, bool kAdd>
constexpr auto kGroups = make_groups<T, kAdd>(std::make_index_sequence<kGroup + 1>{});

template <class T>
void apply_strided(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, T init, T* out, std::int64_t out_stride,
                   std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    T sum = init;
    for (std::int64_t t = 0; t < taps.count; ++t) sum += taps.coefficient[t] * in[taps.offset[t] + i * in_stride];
    out[i * out_stride] = sum;
  }
}

}  // namespace

template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, T init, T* out, std::int64_t out_stride,
               std::int64_t n) {
  if (in_stride != 1 || out_stride != 1) return apply_strided(in, in_stride, taps, init, out, out_stride, n);
  const std::int64_t first = std::min<std::int64_t>(taps.count, kGroup);
  if (first == taps.count) return kGroups<T, false>[first](in, taps.offset, taps.coefficient, init, out, n);
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t length = std::min(kBlock, n - i);
    kGroups<T, false>[first](in + i, taps.offset, taps.coefficient, init, out + i, length);
    for (std::int64_t t = first; t < taps.count; t += kGroup)
      kGroups<T, true>[std::min<std::int64_t>(kGroup, taps.count - t)](in + i, taps.offset + t, taps.coefficient + t,
                                                                       init, out + i, length);
  }
}

template void apply_row(const float*, std::int64_t, const RowTaps<float>&, float, float*, std::int64_t, std::int64_t);
template void apply_row(const double*, std::int64_t, const RowTaps<double>&, double, double*, std::int64_t,
                        std::int64_t);

}  // namespace tessera::cpu
