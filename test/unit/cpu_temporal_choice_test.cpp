// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// When the CPU backend takes several steps in a pass: pure functions of the problem, a cache and the threads.
#include <row_blocks.hpp>
#include <temporal_shape.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <vector>

using namespace tessera;
using namespace tessera::cpu;

namespace {

constexpr std::int64_t kCacheBytes = std::int64_t(5) << 18;

/// A cube of radius 1, fixed sides.
plugin::StencilProblem cube(std::int64_t n, bool box, tessera_dtype dtype) {
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_STENCIL;
  desc.dtype = dtype;
  desc.rank = 3;
  desc.steps = 100;
  for (int axis = 0; axis < 3; ++axis) {
    desc.extents[axis] = n;
    desc.in_strides[axis] = desc.out_strides[axis] = axis == 0 ? n * n : axis == 1 ? n : 1;
    desc.boundary[axis][0] = desc.boundary[axis][1] = TESSERA_BOUNDARY_FIXED;
  }
  std::vector<tessera_tap> taps;
  for (std::int64_t i = -1; i <= 1; ++i)
    for (std::int64_t j = -1; j <= 1; ++j)
      for (std::int64_t k = -1; k <= 1; ++k)
        if (box || std::abs(i) + std::abs(j) + std::abs(k) <= 1) taps.push_back({{i, j, k}, 0.03});
  desc.taps = taps.data();
  desc.tap_count = std::int64_t(taps.size());
  desc.tap_size = sizeof taps[0];
  return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
}

bool pays(const plugin::StencilProblem& p, int threads) {
  const TemporalShape shape = choose_shape(p, kCacheBytes);
  CHECK(shape.fused_steps > 1);
  return passes_beat_sweeps(p, shape, threads);
}

}  // namespace

TEST_CASE("passes over volumes pay where threads share the memory and taps are few") {
  for (const auto dtype : {TESSERA_F32, TESSERA_F64})
    for (const std::int64_t n : {384, 512}) {
      CHECK_FALSE(pays(cube(n, false, dtype), 1));
      CHECK_FALSE(pays(cube(n, false, dtype), 2));
      CHECK(pays(cube(n, false, dtype), 16));
      for (const int threads : {1, 2}) CHECK_FALSE(pays(cube(n, true, dtype), threads));
    }
  CHECK_FALSE(pays(cube(384, true, TESSERA_F64), 16));
  // Rows of seven lines: their ends take as long as they do.
  CHECK_FALSE(pays(cube(100, false, TESSERA_F32), 1));
}

TEST_CASE("a tile fits in the cache that it is given") {
  for (const bool box : {false, true})
    for (const std::int64_t n : {64, 100, 384, 1000}) {
      const plugin::StencilProblem p = cube(n, box, TESSERA_F64);
      const TileLayout layout = tile_layout(p, choose_shape(p, kCacheBytes), block_rows(p));
      CHECK(layout.elements() * 8 <= kCacheBytes);
    }
}
