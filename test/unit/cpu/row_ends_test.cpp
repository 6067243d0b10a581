// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// One end of a row where only a part of the row is there, as in a tile: the other end is not touched.

#include <stencil/row_ends.hpp>

#include "guarded.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kExtent = 200, kReach = 2, kThere = 60;  ///< points, of the taps, of the row in memory

plugin::Domain line() {
  plugin::Domain d{};
  for (int axis = 0; axis < 3; ++axis) d.extents[axis] = 1;
  for (int side = 0; side < 2; ++side) {
    for (int axis = 0; axis < 3; ++axis) d.mode[axis][side] = TESSERA_BOUNDARY_NEAREST;
    d.reach[2][side] = kReach;
  }
  d.extents[2] = kExtent;
  return d;
}

/// Sums of -2 to 2 points away, weighed by 1 to 5, where point i holds i, and points beyond the ends as these.
float expected(std::int64_t i) {
  float sum = 0;
  for (std::int64_t t = -kReach; t <= kReach; ++t)
    sum += float(t + kReach + 1) * float(std::clamp<std::int64_t>(i + t, 0, kExtent - 1));
  return sum;
}

}  // namespace

TEST_CASE("one end of a row is summed from its own part of the row") {
  const RowEnds<float> ends(line());
  REQUIRE(ends.worth_vectors());
  const std::vector<std::int64_t> along = {-2, -1, 0, 1, 2};
  const std::vector<float> coefficient = {1, 2, 3, 4, 5};
  const RowTaps<float> taps{along.data(), along.data(), coefficient.data(), 5};
  for (const bool upper : {false, true}) {
    CAPTURE(upper);
    const std::int64_t around = ends.around(), begin = upper ? kExtent - kThere : -around;
    const test::GuardedArray<float> there(
        kThere + around, upper ? test::GuardedBytes::Against::begin : test::GuardedBytes::Against::end);
    for (std::int64_t i = 0; i < there.size(); ++i) there[i] = float(begin + i);
    const float* const row = there.data() - begin;
    std::vector<float> room(std::size_t(ends.room()));
    const EndValues<float> places = ends.values_in(room.data());
    ends.sum({row, row, 1, taps, 0.0f}, true, {upper ? nullptr : places.low, upper ? places.high : nullptr});
    const std::int64_t first = upper ? ends.high() : 0, last = upper ? kExtent : ends.low();
    for (std::int64_t i = first; i < last; ++i) CHECK((upper ? places.high : places.low)[i - first] == expected(i));
  }
}

}  // namespace tessera::cpu
