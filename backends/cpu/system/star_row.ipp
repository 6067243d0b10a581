// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of star_row.hpp for one type.
#pragma once

#include "../vector.hpp"
#include "star_row.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::cpu {
namespace {

using plugin::StarForm;

/// How a vector of points is read and written: all of it.
template <class T>
struct WholeVector {
  Vector<T> get(const T* from) const { return load(from); }
  void put(T* to, Vector<T> value) const { store(to, value); }
};
/// Some of the first ones.
template <class T>
struct PartOfVector {
  Part<T> part;
  Vector<T> get(const T* from) const { return part.load(from); }
  void put(T* to, Vector<T> value) const { part.store(to, value); }
};

/// In all lanes.
template <class T>
[[gnu::always_inline]] inline Vector<T> spread(T value) {
  return value - Vector<T>{};
}

/// The taps of an axis. Sums of the axes do not wait for each other. Points get the same bits wherever in a row they
/// are.
template <class T, int R, class Access>
[[gnu::always_inline]] inline Vector<T> sum_along(const T* taps, const T* u, std::int64_t distance,
                                                  const Access& access) {
  Vector<T> sum = taps[0] * access.get(u - R * distance);
  keep_in_register(sum);
#pragma GCC unroll 8
  for (int i = 1; i < 2 * R; ++i)
    sum = multiply_add<T>(spread(taps[i]), access.get(u + (i < R ? i - R : i - R + 1) * distance), sum);
  return sum;
}

/// The points from k on. With `kSide` those near the row's ends keep their values.
template <class T, int R, StarForm kForm, bool kProfile, bool kSide, class Access>
[[gnu::always_inline]] inline void make_star_vector(const StarRow<T>& r, std::int64_t k, const Access& access) {
  constexpr bool kArray = plugin::has_array(kForm);
  const T* const u = r.u + k;
  const Vector<T> own = access.get(u);
  const Vector<T> star = multiply_add<T>(spread(r.centre[1]), own, sum_along<T, R>(r.taps[0], u, r.plane, access)) +
                         sum_along<T, R>(r.taps[2], u, 1, access) + sum_along<T, R>(r.taps[1], u, r.row, access);
  Vector<T> value = star;
  if constexpr (kArray) value = r.centre[0] * own;
  if constexpr (plugin::has_other(kForm)) {
    keep_in_register(value);
    value = multiply_add<T>(spread(r.other_coefficient), access.get(r.other + k), value);
  }
  if constexpr (plugin::has_damping(kForm)) value *= access.get(r.damping + k);
  if constexpr (kArray) {
    keep_in_register(value);
    value = multiply_add<T>(access.get(r.array + k), star, value);
  }
  value *= r.scale;
  if constexpr (kProfile) value *= access.get(r.profile + k);
  if constexpr (kSide) {
    const auto x = lane_numbers<T>(0) + LaneNumber<T>(k);
    value = (x >= LaneNumber<T>(R)) & (x < LaneNumber<T>(r.extent - R)) ? value : own;
  }
  access.put(r.next + k, value);
}

/// Vectors begin at multiples of their size where rows do, since a load across two cache lines counts twice. Values
/// beyond the row's ends, which exist, are read and not taken.
template <class T, int R, StarForm kForm, bool kProfile>
void make_star_row(const StarRow<T>& given, std::int64_t begin, std::int64_t end) {
  const StarRow<T> r = given;
  const WholeVector<T> whole;
  std::int64_t k = begin;
  for (; k < R && k + kLanes<T> <= end; k += kLanes<T>) make_star_vector<T, R, kForm, kProfile, true>(r, k, whole);
  const std::int64_t inner = std::min(end, r.extent - R);
  for (; k + kLanes<T> <= inner; k += kLanes<T>) make_star_vector<T, R, kForm, kProfile, false>(r, k, whole);
  for (; k + kLanes<T> <= end; k += kLanes<T>) make_star_vector<T, R, kForm, kProfile, true>(r, k, whole);
  if (k < end) make_star_vector<T, R, kForm, kProfile, true>(r, k, PartOfVector<T>{Part<T>(int(end - k))});
}

template <class T, int R, StarForm kForm>
MakeStarRow<T> row_of_form(bool profile) {
  return profile ? make_star_row<T, R, kForm, true> : make_star_row<T, R, kForm, false>;
}

template <class T, int R>
MakeStarRow<T> row_of_radius(StarForm form, bool profile) {
  switch (form) {
    case StarForm::heat:
      return row_of_form<T, R, StarForm::heat>(profile);
    case StarForm::wave:
      return row_of_form<T, R, StarForm::wave>(profile);
    case StarForm::heat_medium:
      return row_of_form<T, R, StarForm::heat_medium>(profile);
    case StarForm::wave_medium:
      return row_of_form<T, R, StarForm::wave_medium>(profile);
    default:
      return row_of_form<T, R, StarForm::wave_damped>(profile);
  }
}

}  // namespace

template <class T>
MakeStarRow<T> star_row(StarForm form, int radius, bool profile) {
  switch (radius) {
    case 1:
      return row_of_radius<T, 1>(form, profile);
    case 2:
      return row_of_radius<T, 2>(form, profile);
    case 3:
      return row_of_radius<T, 3>(form, profile);
    default:
      return row_of_radius<T, 4>(form, profile);
  }
}

}  // namespace tessera::cpu
