// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// apply_row_ends() for one type: included by a file per type.

#include "row_ends.hpp"

#include "../convert.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::cpu {
namespace {

/// The vector with its lanes in the opposite order.
template <class S, std::size_t... kLane>
[[gnu::always_inline]] inline Vector<S, sizeof...(kLane)> reversed(Vector<S, sizeof...(kLane)> v,
                                                                   std::index_sequence<kLane...>) {
  return __builtin_shufflevector(v, v, int(sizeof...(kLane) - 1 - kLane)...);
}

/// The sums of a vector of points at the lower or upper end of one row or two.
template <class T, int kLanes, int kRows, bool kUpper>
class EndSums {
  using S = Scalar<T>;
  using Values = Vector<S, kLanes>;

 public:
  /// The points from `first` on.
  EndSums(const EndRows<T>& rows, const Outside<T>& outside, std::int64_t first)
      : outside_(outside), first_(first), map_(outside.map(kUpper)) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      at_[r] = rows.base + first + r * rows.next;
      sum_[r] = rows.init - Values{};
    }
  }

  /// Prepares for taps that go so many steps along the row. Returns whether they leave it.
  [[gnu::always_inline]] bool turn_to(std::int64_t along) {
    const std::int64_t index = first_ + along + kLast;
    if (outside_.is_inside(index)) return false;
    entry_ = outside_.at(index);
    if (map_ == Map::backward) entry_.shift += 2 * kLast - kLanes + 1;
    if (map_ == Map::same) entry_.shift += kLast;
    lower_ = kUpper ? outside_.extent() - first_ - along : -first_ - along;
    return true;
  }

  template <bool kLeaves>
  [[gnu::always_inline]] void add(std::int64_t offset, S coefficient) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      Values value = load(at_[r] + offset);
      if constexpr (kLeaves) {
        const auto lower = lane_numbers<S, kLanes>(0) < LaneNumber<S>(lower_);
        const Values outside = load_outside(at_[r] + offset + entry_.shift);
        value = kUpper ? (lower ? value : outside) : (lower ? outside : value);
      }
      sum_[r] += coefficient * value;
    }
  }

  [[gnu::always_inline]] void store(T* to, std::int64_t next) const {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) store_rounded<T, kLanes>(to + r * next, sum_[r]);
  }

 private:
  /// The lane that leaves the row if any does.
  static constexpr int kLast = kUpper ? kLanes - 1 : 0;

  [[gnu::always_inline]] static Values load(const T* from) {
    if constexpr (sizeof(T) != 2) return cpu::load<T, kLanes>(from);
    Values values;
    load_wide<T, kLanes>(from, values);
    return values;
  }
  [[gnu::always_inline]] Values load_outside(const T* from) const {
    switch (map_) {
      case Map::forward:
        return load(from);
      case Map::backward:
        return reversed<S>(load(from), std::make_index_sequence<kLanes>());
      default:
        return (map_ == Map::constant ? entry_.value : S(*from)) - Values{};
    }
  }

  const Outside<T>& outside_;
  std::int64_t first_;
  Map map_;
  typename Outside<T>::Entry entry_{};  ///< what the lanes that leave find, from where lane 0 would read
  std::int64_t lower_ = 0;              ///< lanes on the lower side of the row's end
  const T* at_[kRows];
  Values sum_[kRows];
};

template <class T, int kLanes, int kRows>
void sum_row_ends(const EndRows<T>& rows, const Outside<T>& outside, std::int64_t low, std::int64_t high,
                  const EndValues<T>& sums) {
  const RowTaps<T>& taps = rows.taps;
  EndSums<T, kLanes, kRows, false> low_sums(rows, outside, low);
  EndSums<T, kLanes, kRows, true> high_sums(rows, outside, high);
  for (std::int64_t t = 0; t < taps.count;) {
    const std::int64_t along = taps.along[t];
    const auto add = [&]<bool kLowLeaves, bool kHighLeaves>() {
      do {
        low_sums.template add<kLowLeaves>(taps.offset[t], taps.coefficient[t]);
        high_sums.template add<kHighLeaves>(taps.offset[t], taps.coefficient[t]);
      } while (++t < taps.count && taps.along[t] == along);
    };
    if (low_sums.turn_to(along))
      add.template operator()<true, false>();
    else if (high_sums.turn_to(along))
      add.template operator()<false, true>();
    else
      add.template operator()<false, false>();
  }
  if (sums.low != nullptr) low_sums.store(sums.low, sums.next);
  if (sums.high != nullptr) high_sums.store(sums.high, sums.next);
}

template <class T, int kLanes>
void sum_rows_ends(const EndRows<T>& rows, const Outside<T>& outside, std::int64_t low, std::int64_t high,
                   const EndValues<T>& sums) {
  if (rows.count == 2)
    sum_row_ends<T, kLanes, 2>(rows, outside, low, high, sums);
  else
    sum_row_ends<T, kLanes, 1>(rows, outside, low, high, sums);
}

}  // namespace

template <class T>
void apply_row_ends(const EndRows<T>& rows, const Outside<T>& outside, std::int64_t lanes, std::int64_t low,
                    std::int64_t high, const EndValues<T>& sums) {
  constexpr int kMost = kLanes<Scalar<T>>, kHalf = std::max(kMost / 2, kLeastLanes<T>), kLeast = kLeastLanes<T>;
  if (lanes == kMost)
    sum_rows_ends<T, kMost>(rows, outside, low, high, sums);
  else if (lanes == kHalf)
    sum_rows_ends<T, kHalf>(rows, outside, low, high, sums);
  else
    sum_rows_ends<T, kLeast>(rows, outside, low, high, sums);
}

}  // namespace tessera::cpu
