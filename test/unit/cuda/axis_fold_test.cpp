// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// What lies beyond the ends of an axis, as the streaming algorithm's lists find it: tested without a device.
#include <streaming/axis_fold.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tessera;
using namespace tessera::cuda;

namespace {

constexpr std::int32_t kModes[] = {TESSERA_BOUNDARY_FIXED,   TESSERA_BOUNDARY_CONSTANT, TESSERA_BOUNDARY_PERIODIC,
                                   TESSERA_BOUNDARY_NEAREST, TESSERA_BOUNDARY_REFLECT,  TESSERA_BOUNDARY_MIRROR,
                                   TESSERA_BOUNDARY_HALO};

plugin::Domain line(std::int64_t extent, std::int32_t low, std::int32_t high, std::int64_t below, std::int64_t above) {
  plugin::Domain domain{};
  for (int axis = 0; axis < plugin::kAxes; ++axis) {
    domain.extents[axis] = 1;
    domain.mode[axis][0] = domain.mode[axis][1] = TESSERA_BOUNDARY_NEAREST;
  }
  domain.extents[2] = extent;
  domain.mode[2][0] = low, domain.mode[2][1] = high;
  domain.reach[2][0] = below, domain.reach[2][1] = above;
  return domain;
}

}  // namespace

TEST_CASE("where a fold applies it finds what the domain says") {
  int held = 0;
  for (const std::int64_t extent : {1, 2, 3, 8})
    for (const std::int32_t low : kModes)
      for (const std::int32_t high : kModes)
        for (std::int64_t below = 0; below <= 9; ++below)
          for (std::int64_t above = 0; above <= 9; ++above) {
            const plugin::Domain domain = line(extent, low, high, below, above);
            if (!AxisFold::applies(domain, 2)) continue;
            ++held;
            const AxisFold fold(domain, 2);
            for (std::int64_t i = -below; i < extent + above; ++i) {
              const std::int64_t point = i + fold.shift(std::int32_t(i));
              CAPTURE(extent, low, high, below, above, i);
              const std::int32_t mode = i < 0 ? low : high;
              const bool outside = i < 0 || i >= extent;
              if (outside && mode == TESSERA_BOUNDARY_FIXED) {  // of no use, but read
                REQUIRE((point >= 0 && point < extent));
                continue;
              }
              const plugin::Sample sample = domain.sample(0, 0, i);
              REQUIRE(fold.constant(std::int32_t(i)) == sample.constant);
              if (sample.constant)
                REQUIRE((point >= 0 && point < extent));
              else
                REQUIRE(point == sample.index[2]);
            }
          }
  CHECK(held > 1000);
}

TEST_CASE("a fold applies as far as the axis is long") {
  const auto applies = [](std::int64_t extent, std::int32_t mode, std::int64_t reach) {
    return AxisFold::applies(line(extent, mode, TESSERA_BOUNDARY_NEAREST, reach, 0), 2) &&
           AxisFold::applies(line(extent, TESSERA_BOUNDARY_NEAREST, mode, 0, reach), 2);
  };
  for (const std::int32_t mode : {TESSERA_BOUNDARY_PERIODIC, TESSERA_BOUNDARY_REFLECT}) {
    CHECK(applies(8, mode, 8));
    CHECK_FALSE(applies(8, mode, 9));
  }
  CHECK(applies(8, TESSERA_BOUNDARY_MIRROR, 7));
  CHECK_FALSE(applies(8, TESSERA_BOUNDARY_MIRROR, 8));
  CHECK(applies(8, TESSERA_BOUNDARY_NEAREST, 100));
  CHECK_FALSE(applies(8, TESSERA_BOUNDARY_NEAREST, std::int64_t(1) << 31));
  CHECK_FALSE(applies(std::int64_t(1) << 31, TESSERA_BOUNDARY_PERIODIC, 1));
}
