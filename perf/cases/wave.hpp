// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The wave of the system cases. The plain peers have its laplacian compiled in, the plans of the library get it as
/// run-time data.
///     next = s_z s_y s_x (2 u - u[-1] + c2 laplacian(u)), in the place of u[-1]
#pragma once

#include "problem.hpp"
#include "random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::perf {

/// The square of the wave's speed where it is a constant.
inline constexpr double kSpeed2 = 0.05;
inline constexpr int kReceivers = 1000;

/// Of the central difference of the second derivative with `radius` points on each side, of accuracy order 2 radius:
/// 2 (-1)^(k+1) r!^2 / (k^2 (r-k)! (r+k)!) at the distance k; at the point itself what makes the sum 0.
constexpr double second_derivative(int k, int radius) {
  double value = k % 2 == 0 ? -2.0 : 2.0;
  if (k == 0) {
    value = 0.0;
    for (int other = 1; other <= radius; ++other) value -= 2.0 * second_derivative(other, radius);
    return value;
  }
  for (int i = 1; i <= radius; ++i) value *= double(i) * i;
  for (int i = 1; i <= radius - k; ++i) value /= i;
  for (int i = 1; i <= radius + k; ++i) value /= i;
  return value / (double(k) * k);
}

using Place = std::array<std::int64_t, 3>;

inline Place source_place(const SystemShape& s) { return {s.extents[0] / 2, s.extents[1] / 2, s.extents[2] / 2}; }
/// Scattered all over the domain.
inline Place receiver_place(const SystemShape& s, int receiver) {
  Place place{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double u = 0.5 + 0.5 * random_value(5, std::uint64_t(receiver) * 3 + axis);
    place[axis] = std::min(s.extents[axis] - 1, std::int64_t(u * double(s.extents[axis])));
  }
  return place;
}
inline std::int64_t index_of(const SystemShape& s, const Place& p) {
  return (p[0] * s.extents[1] + p[1]) * s.extents[2] + p[2];
}

/// The coefficients of the wave; null where the system has none.
template <class T>
struct Medium {
  const T *speed2 = nullptr, *sz = nullptr, *sy = nullptr, *sx = nullptr;
};

/// What the peers step: the arrays of an execution, in the order of Problem::operands, and the places in them.
template <class T>
struct WaveArrays {
  WaveArrays(const SystemShape& s, void* const* arrays) {
    const auto array = [arrays](std::size_t i) { return static_cast<T*>(arrays[i]); };
    if (s.varying) medium.speed2 = array(2);
    const std::size_t profiles = s.varying ? 3 : 2;
    if (!s.sponge) return;
    medium.sz = array(profiles), medium.sy = array(profiles + 1), medium.sx = array(profiles + 2);
    injected = array(profiles + 3), recorded = array(profiles + 4);
  }
  Medium<T> medium;
  const T* injected = nullptr;
  T* recorded = nullptr;
};

inline std::vector<std::int64_t> receivers_of(const SystemShape& s) {
  std::vector<std::int64_t> places;
  for (int i = 0; i < kReceivers; ++i) places.push_back(index_of(s, receiver_place(s, i)));
  return places;
}

/// Calls f.template operator()<order, varying, sponge>() for the shape; false where the peers do not have it compiled.
template <class F>
bool with_wave(const SystemShape& s, F&& f) {
  bool found = false;
  const auto attempt = [&]<int kOrder, bool kVarying, bool kSponge>() {
    if (s.model != Model::wave || s.order != kOrder || s.varying != kVarying || s.sponge != kSponge) return;
    f.template operator()<kOrder, kVarying, kSponge>();
    found = true;
  };
  const auto attempt_order = [&]<int kOrder>() {
    attempt.template operator()<kOrder, false, false>();
    attempt.template operator()<kOrder, true, false>();
    attempt.template operator()<kOrder, true, true>();
  };
  attempt_order.template operator()<2>();
  attempt_order.template operator()<4>();
  attempt_order.template operator()<8>();
  return found;
}

inline bool is_compiled(const SystemShape& s) {
  bool found = false;  // what captures nothing would be a function as well, of which nvcc warns
  with_wave(s, [&found]<int, bool, bool>() { found = true; });
  return found;
}

}  // namespace tessera::perf
