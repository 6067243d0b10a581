// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Whether two strided boxes share an element: against the answer from listing the elements.

#include "problem/layout.hpp"

#include "random.hpp"

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <set>

namespace tessera::test {

using core::Layout;

namespace {

Layout box(std::initializer_list<std::pair<std::int64_t, std::int64_t>> axes) {
  Layout layout;
  for (const auto& [extent, stride] : axes) layout.add_axis(extent, stride);
  return layout;
}

/// Places of all elements, counted from the box's first one; repeated ones once.
std::multiset<std::int64_t> places(const Layout& layout) {
  std::multiset<std::int64_t> result = {0};
  for (int axis = 0; axis < layout.rank; ++axis) {
    std::multiset<std::int64_t> next;
    for (const std::int64_t place : result)
      for (std::int64_t i = 0; i < layout.extents[axis]; ++i) next.insert(place + i * layout.strides[axis]);
    result.swap(next);
  }
  return result;
}

bool meet(const Layout& a, const Layout& b, std::int64_t distance) {
  const auto of_a = places(a);
  for (const std::int64_t place : places(b))
    if (of_a.contains(place + distance)) return true;
  return false;
}

/// Up to three axes of nested strides, in any order, some of one element.
Layout random_box(Random& random) {
  Layout layout;
  std::int64_t least = random.integer(1, 3);
  for (std::int64_t axis = random.integer(1, 3); axis-- > 0;) {
    const std::int64_t extent = random.integer(1, 4), stride = least + random.integer(0, 6);
    layout.add_axis(extent, stride);
    least += extent * stride;
  }
  for (int axis = 1; axis < layout.rank; ++axis)
    if (random.bits() % 2 == 0) {
      std::swap(layout.extents[axis], layout.extents[axis - 1]);
      std::swap(layout.strides[axis], layout.strides[axis - 1]);
    }
  return layout;
}

}  // namespace

TEST_CASE("shared elements are found, and only those", "[layout]") {
  Random random("layouts");
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  int yes = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Layout a = random_box(random), b = random_box(random);
    const std::int64_t distance = random.integer(-60, 60);
    const bool expected = meet(a, b, distance);
    yes += expected;
    if (core::share_element(a, b, distance) != expected) FAIL("trial " << trial << ", distance " << distance);
  }
  CHECK(yes > 100);  // the trials are of both kinds
  CHECK(yes < 2900);
}

TEST_CASE("any strides are decided exactly", "[layout]") {
  Random random("any strides");
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  int yes = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const std::int64_t factor = random.integer(1, 4);
    const auto draw = [&] {
      Layout layout;
      for (std::int64_t axis = random.integer(0, Layout::kMaxRank); axis-- > 0;)
        layout.add_axis(random.integer(1, 4), random.integer(0, 9) * factor + (random.integer(0, 9) == 0));
      return layout;
    };
    const Layout a = draw(), b = draw();
    const std::int64_t distance = random.integer(-a.reach() - 1, a.reach() + 1) - random.integer(0, 1) * b.reach();
    const bool expected = meet(a, b, distance);
    yes += expected;
    if (core::share_element(a, b, distance) != expected) FAIL("trial " << trial << ", distance " << distance);
  }
  CHECK(yes > 2000);
  CHECK(yes < 18000);
}

TEST_CASE("empty boxes share nothing", "[layout]") {
  const Layout some = box({{3, 4}, {4, 1}}), none = box({{3, 4}, {0, 1}});
  CHECK_FALSE(core::share_element(some, none, 0));
  CHECK_FALSE(core::share_element(none, some, 0));
  CHECK(none.empty());
  CHECK(none.reach() == -1);
}

TEST_CASE("interleaved blocks of huge arrays are told apart quickly", "[layout]") {
  const std::int64_t n = std::int64_t{1} << 20;
  const Layout left = box({{n, 2 * n}, {n, 1}});
  CHECK_FALSE(core::share_element(left, left, n));
  CHECK(core::share_element(left, left, n - 1));
  CHECK(core::share_element(left, left, -(2 * n)));
}

TEST_CASE("the number of steps is about that of rows at most", "[layout]") {
  constexpr std::int64_t n = 4096, m = 256;
  struct Row {
    const char* name;
    Layout a, b;
    std::int64_t distance;
    bool shared;
    std::int64_t most;
  };
  // Where pitches differ and nothing is shared, the rows of one array drift through the gaps of the other.
  const Row rows[] = {
      {"odd pitch, interleaved", box({{n, 2 * n + 1}, {n, 2}}), box({{n, 2 * n + 1}, {n, 2}}), 1, false, 4},
      {"odd pitch, in the gaps", box({{n, 4 * n + 1}, {n, 2}}), box({{n, 4 * n + 1}, {n, 2}}), 2 * n + 1, false, 4},
      {"even pitch, interleaved", box({{n, 2 * n}, {n, 2}}), box({{n, 2 * n}, {n, 2}}), 1, false, 4},
      {"two blocks", box({{n, 3 * n}, {n, 1}}), box({{n, 3 * n}, {n, 1}}), n, false, 4},
      {"a transpose", box({{n, 3 * n}, {n, 1}}), box({{n, 1}, {n, 3 * n}}), 2 * n, false, 4},
      {"pitches with a factor", box({{n, 3 * n}, {n, 3}}), box({{n, 3 * n + 3}, {n, 3}}), 4, false, 4},
      {"another pitch", box({{n, 4 * n}, {n, 1}}), box({{n, 4 * n + 1}, {n, 1}}), 2 * n, false, 4 * n},
      {"another pitch, with gaps", box({{n, 8 * n}, {n, 2}}), box({{n, 8 * n + 1}, {n, 2}}), 4 * n, false, 4 * n},
      {"another inner stride", box({{n, 8 * n}, {n, 2}}), box({{n, 8 * n + 1}, {n, 3}}), 3 * n, false, 4 * n},
      {"a shared matrix", box({{n, 0}, {n, 4 * n}, {n, 2}}), box({{n, 4 * n}, {n, 2}}), -2 * n, false, 4},
      {"volumes of one parent", box({{m, 4 * m * m + 3}, {m, 2 * m + 1}, {m / 2, 2}}),
       box({{m, 4 * m * m + 3}, {m, 2 * m + 1}, {m / 2, 2}}), m, false, 9},
      {"volumes of other pitches", box({{m, 16 * m * m}, {m, 4 * m}, {m, 1}}),
       box({{m, 16 * m * m + 4 * m}, {m, 4 * m + 1}, {m, 1}}), 2 * m, false, 4 * m * m},
      {"columns across rows", box({{m, 4 * m}, {m, 1}}), box({{n, 4 * m + 1}, {m / 8, 4 * m * n}}), 2 * m, false,
       4 * n},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    std::int64_t steps = 0;
    CHECK(core::share_element(row.a, row.b, row.distance, &steps) == row.shared);
    CHECK(steps <= row.most);
    CHECK(core::share_element(row.b, row.a, -row.distance) == row.shared);
  }
}

TEST_CASE("extreme strides, extents and distances overflow nothing", "[layout]") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const Layout boxes[] = {box({}),
                          box({{1, most}}),
                          box({{1, most}, {1, most}, {1, most}, {1, most}}),
                          box({{2, most - 1}}),
                          box({{most, 1}}),
                          box({{3, most / 2}, {1, most}}),
                          box({{2, most / 2}, {2, most / 2 - 1}, {1, most}}),
                          box({{most / 3, 3}}),
                          box({{0, most}, {most, 1}}),
                          box({{most, 0}}),
                          box({{std::int64_t{1} << 31, (std::int64_t{1} << 31) + 11}, {1 << 20, 7}})};
  for (const Layout& a : boxes) {
    REQUIRE(core::addressable(a, 1));
    core::nested(a);
    a.origin();
    a.count();
    a.packed();
    for (const Layout& b : boxes) {
      for (const std::int64_t distance : {least, least + 1, -most / 2, most / 2, most - 1, most})
        CHECK(core::share_element(a, b, distance) == core::share_element(b, a, distance == least ? most : -distance));
      CHECK(core::share_element(a, b, 0) == (!a.empty() && !b.empty()));
    }
  }
  CHECK(core::share_element(box({{2, most - 1}}), box({{1, most}}), most - 1));
  CHECK_FALSE(core::share_element(box({{2, most - 1}}), box({{1, most}}), most - 2));
  CHECK(core::share_element(box({{most, 1}}), box({{most, 1}}), -(most - 1)));
  CHECK_FALSE(core::share_element(box({{most, 1}}), box({{most, 1}}), most));
  Layout halo = box({{0, 1}, {3, 1}});
  halo.before[0] = 2;
  halo.strides[0] = most;
  CHECK(halo.origin() == 0);
}

TEST_CASE("boxes that reach an element twice are not nested", "[layout]") {
  CHECK(core::nested(box({{3, 4}, {4, 1}})));
  CHECK(core::nested(box({{4, 1}, {3, 4}})));
  CHECK_FALSE(core::nested(box({{3, 3}, {4, 1}})));
  CHECK_FALSE(core::nested(box({{2, 0}, {4, 1}})));
  CHECK(core::nested(box({{1, 0}, {4, 1}})));  // one element along an axis repeats nothing
}

TEST_CASE("what does not fit in 63 bits is seen", "[layout]") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(core::addressable(box({{1000, 1000}, {1000, 1}}), 8));
  CHECK_FALSE(core::addressable(box({{std::int64_t{1} << 32, std::int64_t{1} << 32}}), 4));
  CHECK_FALSE(core::addressable(box({{2, most}}), 4));
  CHECK_FALSE(core::addressable(box({{most / 4, 1}}), 8));
  CHECK_FALSE(core::addressable(box({{2, most / 8}, {2, most / 8}}), 8));
  CHECK(core::addressable(box({{0, most}, {most, 1}}), 1));
  CHECK_FALSE(core::addressable(box({{most, most}}), 8));
  CHECK_FALSE(core::addressable(box({{most, most}, {most, most}}), 16));
}

TEST_CASE("axes of one element get a stride that no arithmetic overflows", "[layout]") {
  Layout layout = box({{1, std::int64_t{1} << 61}, {3, 10}, {1, std::int64_t{1} << 60}, {5, 1}});
  layout.tidy();
  const std::int64_t expected[] = {25, 10, 5, 1};
  for (int axis = 0; axis < layout.rank; ++axis) CHECK(layout.strides[axis] == expected[axis]);
  Layout shared = box({{7, 0}, {1, 0}, {4, 1}});
  shared.tidy();
  CHECK(shared.strides[0] == 0);
  CHECK(shared.strides[1] == 0);
}

TEST_CASE("matrices of one pitch share an element where their boxes do", "[layout]") {
  Random random("pitch");
  int shared = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t ld = random.integer(1, 9);
    const auto draw = [&] { return core::Rows{random.integer(1, 5), random.integer(1, ld), ld}; };
    const core::Rows a = draw(), b = draw();
    const std::int64_t distance = random.integer(-b.reach() - 2, a.reach() + 2);
    INFO(a.rows << " x " << a.length << " and " << b.rows << " x " << b.length << " of " << ld << ", " << distance);
    const bool found = core::share_element(a, b, distance);
    REQUIRE(found ==
            core::share_element(box({{a.rows, ld}, {a.length, 1}}), box({{b.rows, ld}, {b.length, 1}}), distance));
    shared += found;
  }
  REQUIRE(shared > 1000);
}

}  // namespace tessera::test
