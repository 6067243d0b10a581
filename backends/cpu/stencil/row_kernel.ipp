// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_row() and its kin for one type: included by a file per type. Where elements of 32 bits wait for memory, those
// of 16 wait for the core: conversions come on top of the sums, and the sums of a line have half the time.

#include "row_kernel.hpp"

#include "../convert.hpp"
#include "../nontemporal_store.hpp"
#include "tap_groups.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace tessera::cpu {
namespace {

/// Most taps of a loop that is made for their number; kAny stands for the loop for any number, which takes some at a
/// time, and kShared for one that looks for neighbours among them.
constexpr int kMostTaps = 9, kAny = kMostTaps + 1, kShared = kAny + 1, kTapsAtATime = 4;

template <class T>
constexpr bool kNarrow = sizeof(T) == 2;
template <class T>
constexpr int kSums = kLanes<Scalar<T>>;  ///< of a vector
template <class T>
constexpr int kVectorsOfLine = int(kLineBytes / sizeof(T)) / kSums<T>;  ///< vectors of sums for a line of results
/// Vectors of sums that an iteration of a loop has: as many as fill the multiply-add units for their latency, or two,
/// which leave registers for the coefficients.
template <class T, int kTaps>
constexpr int kVectorsAtATime = kNarrow<T> || kTaps >= kAny ? 8 : std::max(2, kVectorsOfLine<T>);

using Sum = Scalar<bfloat16>;

/// Where results go.
enum class To { cache, memory };

/// Vectors of sums of bfloat16 stand in the order of split_pairs() where there are two, which saves permutations.
template <class T, int kVectors>
constexpr bool kSplit = std::is_same_v<T, bfloat16>&& kVectors % 2 == 0;

/// Adds taps that read from `tap` on. In sums of pairs, elements at odd places take one instruction. Those at even
/// places are at odd ones from the element before on; at the start of a row, where nothing may be read there, they are
/// shifted.
template <class T, std::size_t kTaps, bool kStart, int kLanes, int kVectors>
[[gnu::always_inline]] inline void add_taps(const std::array<const T*, kMostTaps>& tap, const Scalar<T>* factor,
                                            std::int64_t i, Vector<Scalar<T>, kLanes> (&sum)[kVectors]) {
#pragma GCC unroll 16
  for (std::size_t t = 0; t < kTaps; ++t)
    if constexpr (kSplit<T, kVectors>) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; v += 2) {
        Vector<Sum> even, odd;
        load_pairs<kStart>(tap[t] + i + v * kLanes, even, odd);
        sum[v] += factor[t] * even;
        sum[v + 1] += factor[t] * odd;
      }
    } else {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        Vector<Scalar<T>, kLanes> value;
        load_wide<T, kLanes>(tap[t] + i + v * kLanes, value);
        sum[v] += factor[t] * value;
      }
    }
}

template <class T>
constexpr int kNeighbours = neighbours_at_a_time(kInstructionSet, sizeof(T));

/// Whether so many taps from the t-th on read neighbours, one behind the other.
template <class T>
[[gnu::always_inline]] inline bool are_neighbours(const RowTaps<T>& taps, std::int64_t t, int count) {
  if (t + count > taps.count) return false;
#pragma GCC unroll 16
  for (int k = 1; k < count; ++k)
    if (taps.offset[t + k] != steps_away(taps.offset[t], k, 1)) return false;
  return true;
}

/// The elements from kFrom behind the first one of `low` on, where `high` begins kNext behind it: one instruction,
/// which shuffles 16 bytes at a time.
template <int kFrom, int kNext, class V, std::size_t... kLane>
[[gnu::always_inline]] inline V shifted(V low, V high, std::index_sequence<kLane...>) {
  constexpr std::size_t kCount = sizeof...(kLane), kPart = kNext == 2 ? 2 : 4;
  return __builtin_shufflevector(low, high,
                                 int(kLane % kPart < kPart / 2 ? kLane + kFrom : kCount + kLane + kFrom - kNext)...);
}

/// Adds kNeighbours taps, of which the first reads at `tap`. The second and the third one of four are put together from
/// the first and the last, in f64 each second one from those around it. No more is read than by each tap alone.
template <class T, int kVectors>
[[gnu::always_inline]] inline void add_neighbours(const T* tap, const T* factor, Vector<T> (&sum)[kVectors]) {
  constexpr int kNext = sizeof(T) == 4 ? 3 : 2;
  constexpr auto kEach = std::make_index_sequence<kLanes<T>>{};
  Vector<T> factors[kNeighbours<T>];
#pragma GCC unroll 16
  for (int t = 0; t < kNeighbours<T>; ++t) {
    Vector<T> one = factor[t] - Vector<T>{};
    keep_in_register(one);
    factors[t] = one;
  }
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) {
    const T* const at = tap + v * kLanes<T>;
    Vector<T> low = load(at);
    keep_in_register(low);
    sum[v] += factors[0] * low;
#pragma GCC unroll 16
    for (int t = kNext; t < kNeighbours<T>; t += kNext) {
      Vector<T> high = load(at + t);
      keep_in_register(high);
      sum[v] += factors[t - kNext + 1] * shifted<1, kNext>(low, high, kEach);
      if constexpr (kNext == 3) sum[v] += factors[t - 1] * shifted<2, kNext>(low, high, kEach);
      sum[v] += factors[t] * high;
      low = high;
    }
  }
}

/// Adds kRun taps that read neighbours, one behind the other, to sums of pairs: what is at an even place for one of
/// them is at an odd one for the next, so it is loaded once for both.
template <int kRun, bool kStart, int kVectors>
[[gnu::always_inline]] inline void add_run(const bfloat16* first, const Sum* factor, Vector<Sum> (&sum)[kVectors]) {
#pragma GCC unroll 16
  for (int t = 0; t <= kRun; ++t)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; v += 2) {
      const bfloat16* const p = first + t + v * kLanes<Sum>;
      Vector<Sum> value, unused;
      if (t == 0)
        load_pairs<kStart>(p, value, unused);
      else
        value = odd_places(p - 1);
      keep_in_register(value);
      if (t < kRun) sum[v] += factor[t] * value;
      if (t > 0) sum[v + 1] += factor[t - 1] * value;
    }
}

/// Stores sums as elements. Two vectors of sums make one of elements of 16 bits.
template <class T, To kTo, int kVectors>
[[gnu::always_inline]] inline void store_elements(T* out, const Vector<Scalar<T>> (&sum)[kVectors]) {
  constexpr int kStep = kNarrow<T> ? 2 : 1;
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; v += kStep) {
    Vector<std::conditional_t<kNarrow<T>, std::uint16_t, T>> elements;
    if constexpr (!kNarrow<T>) {
      elements = sum[v];
    } else if constexpr (kSplit<T, kVectors>) {
      elements = rounded_pairs(sum[v], sum[v + 1]);
    } else {
      Vector<std::uint16_t, kSums<T>> low, high;
      round_to<T, kSums<T>>(sum[v], low);
      round_to<T, kSums<T>>(sum[v + 1], high);
      elements = joined(low, high);
    }
    if constexpr (kTo == To::memory)
      nontemporal_store(out + v * kSums<T>, elements);
    else
      std::memcpy(out + v * kSums<T>, &elements, sizeof elements);
  }
}

/// Taps of which the last kRun are a run. There are kTaps; with kTaps = kAny or kShared, any number.
template <class T, int kTaps, int kRun>
class LoopTaps {
  using S = Scalar<T>;

 public:
  LoopTaps(const T* in, const RowTaps<T>& taps) : in_(in), taps_(taps) {
    for (std::size_t t = 0; t < kKnown; ++t) {
      tap_[t] = in + taps.offset[t];
      if constexpr (!kNarrow<T>) factor_[t] = taps.coefficient[t];
    }
  }

  template <bool kStart, int kLanes, int kVectors>
  [[gnu::always_inline]] void add(std::int64_t i, Vector<S, kLanes> (&sum)[kVectors]) const {
    constexpr int kTogether = kSplit<T, kVectors> ? kRun : 0;
    const S* factor = taps_.coefficient;
    asm("" : "+r"(factor));  // as if it were new: coefficients are loaded where they are used, registers are for sums
    if constexpr (kTaps < kAny) {
      constexpr std::size_t kAlone = kKnown - kTogether;
      add_taps<T, kAlone, kStart, kLanes>(tap_, kNarrow<T> ? factor : factor_.data(), i, sum);
      if constexpr (kTogether > 0) add_run<kTogether, kStart>(tap_[kAlone] + i, factor + kAlone, sum);
    } else {
      const std::int64_t alone = taps_.count - kTogether;
      std::int64_t t = 0;
      for (; t + kTapsAtATime <= alone; t += kTapsAtATime) {
        if constexpr (kTaps == kShared && kLanes == kSums<T>)
          for (; are_neighbours(taps_, t, kNeighbours<T>); t += kNeighbours<T>)
            add_neighbours<T>(place(t, i), factor + t, sum);
        if (t + kTapsAtATime > alone) break;
        add_some<kTapsAtATime, kStart, kLanes>(t, factor, i, sum);
      }
      for (; t < alone; ++t) add_some<1, kStart, kLanes>(t, factor, i, sum);
      if constexpr (kTogether > 0) add_run<kTogether, kStart>(in_ + taps_.offset[alone] + i, factor + alone, sum);
    }
  }

 private:
  static constexpr std::size_t kKnown = kTaps >= kAny ? 0 : std::size_t(kTaps);

  /// kCount taps from the t-th on.
  template <std::size_t kCount, bool kStart, int kLanes, int kVectors>
  [[gnu::always_inline]] void add_some(std::int64_t t, const S* factor, std::int64_t i,
                                       Vector<S, kLanes> (&sum)[kVectors]) const {
    std::array<const T*, kMostTaps> tap;
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kCount; ++k) tap[k] = place(t + std::int64_t(k), i);
    add_taps<T, kCount, kStart, kLanes>(tap, factor + t, 0, sum);
  }

  /// Where the t-th tap of point i reads.
  const T* place(std::int64_t t, std::int64_t i) const {
    const T* at = in_ + i + taps_.offset[t];
    asm("" : "+r"(at));  // or loops keep a register for each vector's place
    return at;
  }

  const T* in_;
  const RowTaps<T>& taps_;
  std::array<const T*, kMostTaps> tap_;
  std::array<S, kMostTaps> factor_;  ///< for registers, where loops leave some
};

/// kVectors vectors of kLanes neighbouring points of a row from point i on. Sums have one shape, sum + factor * value,
/// for every width: contraction to FMA has no choice to make, so a point's bits do not depend on its place in the row.
template <To kTo, int kLanes, int kVectors, bool kStart = false, class T, class Taps>
inline void add_points(const Taps& taps, Scalar<T> init, T* out, const T* newest, std::int64_t i) {
  if constexpr (kTo == To::memory)
    for (int v = 0; v < kVectors; v += kVectorsOfLine<T>) __builtin_prefetch(newest + i + v * kLanes);
  Vector<Scalar<T>, kLanes> sum[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) sum[v] = init - Vector<Scalar<T>, kLanes>{};
  taps.template add<kStart, kLanes>(i, sum);
  if constexpr (kLanes * kVectors % (kSums<T> * kVectorsOfLine<T>) == 0)  // whole lines
    store_elements<T, kTo>(out + i, sum);
  else
    store_rounded<T, kLanes>(out + i, sum[0]);
}

/// Whole lines of points from point i on, as many as end before `end`: kVectors vectors at a time, then half as many.
/// Returns the first point behind them.
template <To kTo, int kVectors, class T, class Taps>
[[gnu::always_inline]] inline std::int64_t add_lines(const Taps& taps, Scalar<T> init, T* out, const T* newest,
                                                     std::int64_t i, std::int64_t end) {
  constexpr int kPoints = kVectors * kSums<T>;
  for (; i + kPoints <= end; i += kPoints) add_points<kTo, kSums<T>, kVectors>(taps, init, out, newest, i);
  if constexpr (kVectors > kVectorsOfLine<T>) return add_lines<kTo, kVectors / 2>(taps, init, out, newest, i, end);
  return i;
}

/// A row of n points. Of one that goes past the caches, lines that `apart` has places for stay in them.
template <class T, int kTaps, int kRun, To kTo>
void sum_row(const T* in, const RowTaps<T>& row_taps, Scalar<T> init, T* out, const T* newest, std::int64_t n,
             const LinesApart<T>& apart) {
  const LoopTaps<T, kTaps, kRun> taps(in, row_taps);
  constexpr int kLanes = kSums<T>, kVectors = kVectorsOfLine<T>, kLine = kVectors * kLanes;
  const std::int64_t end = apart.last == nullptr ? n : n - kLine;
  std::int64_t i = 0;
  if (apart.first != nullptr) {
    __builtin_prefetch(newest);
    add_points<To::cache, kLanes, kVectors, true>(taps, init, apart.first, newest, i);
    i = kLine;
  } else if (kSplit<T, 2> && n >= kLine) {
    add_points<kTo, kLanes, kVectors, true>(taps, init, out, newest, i);
    i = kLine;
  }
  i = add_lines<kTo, kVectorsAtATime<T, kTaps>>(taps, init, out, newest, i, end);
  if constexpr (kTo == To::memory) {
    if (end == n) return;
    __builtin_prefetch(newest + end);
    return add_points<To::cache, kLanes, kVectors>(taps, init, apart.last - end, newest, end);
  }
  for (; i + kLanes <= n; i += kLanes) add_points<kTo, kLanes, 1>(taps, init, out, newest, i);
  // What is left of a row: its last whole vector, which does some points twice.
  if (i < n && n >= kLanes) return add_points<kTo, kLanes, 1>(taps, init, out, newest, n - kLanes);
  for (; i < n; ++i) add_points<kTo, 1, 1>(taps, init, out, newest, i);
}

/// Runs of taps that loops know: of 0, 3, 5, 7 and 9 taps. Only bfloat16 gains by them.
template <class T>
constexpr int kRuns = std::is_same_v<T, bfloat16> ? 5 : 1;
constexpr int run_length(std::size_t run, std::size_t taps) {
  return run > 0 && (2 * run + 1 <= taps || taps == std::size_t(kAny)) ? int(2 * run + 1) : 0;
}

/// Which run the last taps are.
template <class T>
std::size_t run_at_end(const RowTaps<T>& taps) {
  if (kRuns<T> == 1 || taps.count == 0) return 0;
  const std::int64_t last = taps.count - 1;
  std::int64_t first = last;
  while (first > 0 && last - first < kMostTaps - 1 && taps.offset[first - 1] + 1 == taps.offset[first]) --first;
  return std::size_t(last - first) / 2;
}

template <class T>
using SumRow = void (*)(const T*, const RowTaps<T>&, Scalar<T>, T*, const T*, std::int64_t, const LinesApart<T>&);

/// Loops by their run, then by their number of taps: 0 to kMostTaps, and any; where neighbours share, also kShared.
template <class T>
constexpr std::size_t kLoopCount = kNeighbours<T> != 0 ? kShared + 1 : kAny + 1;
template <class T, To kTo, std::size_t kRun, std::size_t... kTaps>
constexpr std::array<SumRow<T>, sizeof...(kTaps)> make_loops(std::index_sequence<kTaps...>) {
  return {sum_row<T, int(kTaps), run_length(kRun, kTaps), kTo>...};
}
template <class T, To kTo, std::size_t... kRun>
constexpr std::array<std::array<SumRow<T>, kLoopCount<T>>, sizeof...(kRun)> make_runs(std::index_sequence<kRun...>) {
  return {make_loops<T, kTo, kRun>(std::make_index_sequence<kLoopCount<T>>{})...};
}
template <class T, To kTo>
constexpr auto kLoops = make_runs<T, kTo>(std::make_index_sequence<kRuns<T>>{});

template <class T, To kTo>
void sum_points(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, const T* newest, std::int64_t n,
                const LinesApart<T>& apart) {
  if (kNarrow<T> && init != init) init = std::numeric_limits<Scalar<T>>::quiet_NaN();  // for rounded_pairs()
  auto count = std::size_t(std::min<std::int64_t>(taps.count, kAny));
  // A few taps gain less by what they share than by a loop for their number.
  if constexpr (kNeighbours<T> != 0)
    if (are_neighbours(taps, 0, taps.count > kMostTaps ? kNeighbours<T> : 2 * kNeighbours<T>)) count = kShared;
  kLoops<T, kTo>[run_at_end(taps)][count](in, taps, init, out, newest, n, apart);
}

}  // namespace

template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, Scalar<T> init, T* out,
               std::int64_t out_stride, std::int64_t n) {
  if (in_stride != 1 || out_stride != 1) return apply_strided(in, in_stride, taps, init, out, out_stride, n);
  sum_points<T, To::cache>(in, taps, init, out, nullptr, n, {});
}

template <class T>
void apply_row_nontemporal(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out, std::int64_t n, const T* newest,
                           const LinesApart<T>& apart) {
  sum_points<T, To::memory>(in, taps, init, out, newest, n, apart);
}

template <class T>
void apply_line(const T* in, const RowTaps<T>& taps, Scalar<T> init, T* out) {
  sum_points<T, To::cache>(in, taps, init, out, nullptr, std::int64_t(kLineBytes / sizeof(T)), {});
}

}  // namespace tessera::cpu
