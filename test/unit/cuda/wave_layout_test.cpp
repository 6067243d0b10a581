// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How passes of several steps of a system cut an axis: pure functions, tested without a device.
#include <system/temporal_layout.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace tessera::test {

namespace {

/// The points of an axis that a tile stores.
std::array<int, 2> stored(const cuda::WaveAxis& axis, int tile, int extent) {
  const int begin = tile * axis.stride;
  return {tile == 0 ? 0 : begin + axis.halo, tile == axis.tiles - 1 ? extent : begin + axis.size - axis.halo};
}

/// "" where each point is stored once, by a tile that holds it with a halo inside of the domain.
const char* wrong_with(const cuda::WaveAxis& axis, int extent) {
  int end = 0;
  for (int tile = 0; tile < axis.tiles; ++tile) {
    const auto [from, to] = stored(axis, tile, extent);
    if (from != end || to <= from) return "a gap, an overlap, or a tile for nothing";
    if (to > tile * axis.stride + axis.size) return "points that the tile does not hold";
    end = to;
  }
  return end == extent ? "" : "points that no tile stores";
}

}  // namespace

TEST_CASE("tiles of several steps store each point of an axis once") {
  for (const int size : {64, 32})
    for (const int halo : {1, 2, 3, 4})
      for (int extent = 1; extent <= 400; ++extent) {
        CAPTURE(size, halo, extent);
        REQUIRE(std::string(wrong_with(cuda::WaveAxis(extent, size, halo), extent)).empty());
      }
}

TEST_CASE("passes have steps to make, and end where the caller looks") {
  for (std::int64_t steps = 0; steps <= 100; ++steps)
    for (int depth = 1; depth <= 4; ++depth) {
      CAPTURE(steps, depth);
      const cuda::WavePasses passes(steps, depth);
      std::int64_t made = 0;
      for (std::int64_t pass = 0; pass < passes.count; ++pass) {
        REQUIRE(passes.begin(pass) == made);
        REQUIRE(passes.depth(pass) >= 1);
        REQUIRE(passes.depth(pass) <= std::min(passes.deepest(), depth));
        made += passes.depth(pass);
      }
      REQUIRE(made == steps);
      REQUIRE((passes.count % 2 == 0 || passes.count == steps));
    }
}

TEST_CASE("a point is listed for the tiles that hold it") {
  for (const int size : {64, 32})
    for (const int halo : {2, 4})
      for (const int extent : {1, 31, 64, 65, 200, 333}) {
        const cuda::WaveAxis axis(extent, size, halo);
        for (int point = 0; point < extent; ++point)
          for (int tile = 0; tile < axis.tiles; ++tile) {
            CAPTURE(size, halo, extent, point, tile);
            const bool holds = point >= tile * axis.stride && point < tile * axis.stride + size;
            REQUIRE(holds == (tile >= axis.first_with(point) && tile <= axis.last_with(point)));
          }
      }
}

TEST_CASE("rows of tiles begin at multiples of 16 bytes") {
  const cuda::Machine machine = cuda::machine_of(cuda::kH100);
  const std::array<std::int64_t, 3> extents{100, 200, 300};
  for (int radius = 1; radius <= 3; ++radius)
    for (int depth = 1; depth <= cuda::wave_depth<float>(radius); ++depth) {
      CAPTURE(radius, depth);
      CHECK(cuda::wave_layout<float>(extents, radius, depth, machine).x.stride % 4 == 0);
      CHECK(cuda::wave_layout<double>(extents, radius, depth, machine).x.stride % 2 == 0);
      CHECK(cuda::wave_layout<float>(extents, radius, depth, machine).y.halo == radius * depth);
    }
}

}  // namespace tessera::test
