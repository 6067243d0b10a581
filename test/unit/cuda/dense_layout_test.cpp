// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// How the dense algorithm cuts a domain and its taps: pure functions, tested without a device.
#include "stencil_offers.hpp"

#include <dense/dense.hpp>
#include <stencil_cases.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

plugin::StencilProblem problem(tessera_dtype dtype, int rank, const test::Offset& first, const test::Offset& count,
                               tessera_boundary mode, const std::vector<std::int64_t>& extents) {
  return test::packed_stencil(dtype, extents, test::listed(test::block(rank, first, count, test::Weights::integer)),
                              mode);
}

/// Whether it holds for all points of a tile that begins at `first`.
template <class Holds>
bool all_of(std::int64_t first, std::int64_t count, Holds&& holds) {
  for (std::int64_t i = first; i < first + count; ++i)
    if (!holds(i)) return false;
  return true;
}

void check_axis(const plugin::StencilProblem& p, const DenseLayout& l, int axis) {
  const std::int64_t points = axis == 0 ? l.depth : axis == 1 ? l.height : l.width, early = axis == 2 ? l.early : 0;
  const std::int64_t cells = axis == 2 ? l.columns : points + l.taps[axis] - 1, extent = p.domain.extents[axis];
  const auto exists = [&](std::int64_t i) { return i >= 0 && i < extent; };
  CAPTURE(axis, points, early, cells, extent);
  CHECK(l.tiles[axis] * points - early >= extent);
  CHECK((l.tiles[axis] - 1) * points - early < extent);
  for (int tile = 0; tile < l.tiles[axis]; ++tile) {
    const std::int64_t at = tile * points - early;
    CAPTURE(tile);
    CHECK(l.inside[axis].has(tile) == all_of(at, points, exists));
    CHECK(l.whole[axis].has(tile) == all_of(at + l.first[axis], cells, exists));
    CHECK(l.computed[axis].has(tile) ==
          all_of(at, points, [&](std::int64_t i) { return !p.domain.frozen_on(axis, i); }));
  }
}

}  // namespace

TEST_CASE("tiles of dense taps cover the domain, and know which of their points and cells exist") {
  const struct {
    int rank;
    test::Offset first, count;
    std::vector<std::int64_t> extents;
  } cases[] = {{2, {-3, -3, 0}, {7, 7, 1}, {400, 500}},     {2, {2, -9, 0}, {3, 4, 1}, {130, 97}},
               {2, {-8, 1, 0}, {2, 6, 1}, {64, 96}},        {2, {-20, -30, 0}, {41, 61, 1}, {30, 1000}},
               {3, {-3, -3, -3}, {7, 7, 7}, {9, 192, 192}}, {3, {-1, 0, -2}, {3, 5, 5}, {5, 70, 289}},
               {1, {-12, 0, 0}, {25, 1, 1}, {20000}},       {1, {5, 0, 0}, {9, 1, 1}, {2561}}};
  for (const auto& c : cases)
    for (const tessera_boundary mode : {TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_MIRROR})
      for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64})
        for (const int threads : {64, 128}) {
          if (c.rank == 1 && threads != kDenseThreads) continue;
          const auto p = problem(dtype, c.rank, c.first, c.count, mode, c.extents);
          const auto l = dense_layout(p, test::h100(), threads);
          REQUIRE(l.has_value());
          for (int axis = 0; axis < plugin::kAxes; ++axis) check_axis(p, *l, axis);
          const int width = 16 / int(plugin::size_of(dtype));  // of a vector
          CHECK(l->width % width == 0);
          CHECK(l->pitch % width == 0);
          CHECK(l->pitch >= l->columns);
          const bool part = l->row == DenseRow::kPartFirst;
          if (c.rank > 1) CHECK(l->vectors * width >= l->taps[2] + (part ? 1 : 0));
          // Vectors that a thread loads for the last group end within its row.
          const int groups = l->vectors - (c.rank > 1 && l->row == DenseRow::kOneMore ? 1 : 0);
          const int beyond = c.rank == 1 && l->last == 1 ? width : 0;  // taps, which lie behind the cells
          CHECK(l->before + l->width + groups * width <= l->columns + beyond);
          CHECK(l->shared_bytes() <= test::h100().shared_per_block);
          CHECK(l->stages() * l->stage_rows >= l->taps[0] * l->taps[1]);
        }
}

TEST_CASE("dense boxes that shared memory does not hold are cut by rows, and refused where one does not fit") {
  const std::vector<std::int64_t> extents = {300, 300};
  const auto layout = [&](const test::Offset& count) {
    return dense_layout(problem(TESSERA_F32, 2, {0, 0, 0}, count, TESSERA_BOUNDARY_NEAREST, extents), test::h100(),
                        kDenseThreads);
  };
  CHECK(layout({31, 31, 1})->stages() == 1);
  CHECK(layout({31, 31, 1})->buffers == 1);
  CHECK(layout({200, 60, 1})->stages() > 1);
  CHECK(layout({200, 60, 1})->buffers == 2);
  CHECK_FALSE(layout({1, 2000, 1}).has_value());
}
