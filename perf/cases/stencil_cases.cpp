// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

namespace tessera::perf {

namespace {

struct Row {
  Pattern pattern;
  int rank, radius;
  std::int64_t extent;  ///< of every axis
  Size size;
  bool quick = false;
  bool periodic = false;
  std::int64_t steps = 1;
  const char* kinds = "f32 f64";
};

constexpr auto star = Pattern::star;
constexpr auto box = Pattern::box;
constexpr auto gpu = Size::gpu;
constexpr auto host = Size::host;
constexpr char kNarrow[] = "f16 bf16";

// clang-format off
constexpr Row kRows[] = {
  // one step, domains far beyond the caches
  {Pattern::derivative, 1, 4, 1 << 28, gpu, true},
  {star, 1, 1, 1 << 28, gpu},
  {star, 1, 2, 1 << 28, gpu},
  {star, 1, 3, 1 << 28, gpu},
  {star, 1, 4, 1 << 28, gpu, true},
  {star, 2, 1, 16384, gpu, true},
  {star, 2, 2, 16384, gpu},
  {star, 2, 3, 16384, gpu},
  {star, 2, 4, 16384, gpu, true},
  {box, 2, 1, 16384, gpu, true},
  {box, 2, 2, 16384, gpu},
  {box, 2, 3, 16384, gpu},
  {star, 3, 1, 768, gpu, true},
  {star, 3, 2, 768, gpu},
  {star, 3, 3, 768, gpu},
  {star, 3, 4, 768, gpu},
  {box, 3, 1, 768, gpu, true},
  {star, 1, 4, 1 << 28, gpu, false, true},
  {star, 2, 1, 16384, gpu, true, true},
  {star, 3, 1, 768, gpu, false, true},
  {box, 3, 1, 768, gpu, false, true},
  {Pattern::derivative, 1, 4, 1 << 26, host, true},
  {star, 1, 1, 1 << 26, host},
  {star, 1, 2, 1 << 26, host},
  {star, 1, 3, 1 << 26, host},
  {star, 1, 4, 1 << 26, host, true},
  {star, 2, 1, 8192, host, true},
  {star, 2, 2, 8192, host},
  {star, 2, 3, 8192, host},
  {star, 2, 4, 8192, host},
  {box, 2, 1, 8192, host, true},
  {box, 2, 2, 8192, host},
  {box, 2, 3, 8192, host},
  {star, 3, 1, 384, host, true},
  {star, 3, 2, 384, host},
  {star, 3, 3, 384, host},
  {star, 3, 4, 384, host},
  {box, 3, 1, 384, host, true},
  {star, 1, 4, 1 << 26, host, false, true},
  {star, 2, 1, 8192, host, false, true},
  {star, 3, 1, 384, host, false, true},
  {star, 3, 4, 256, host, false, false},
  {star, 3, 4, 256, host, false, true},
  // odd extents, domains that a cache holds (measured cold and hot)
  {star, 1, 4, 1000003, Size::any},
  {star, 2, 1, 1021, Size::any},
  {star, 3, 1, 101, Size::any},
  {star, 2, 1, 1024, Size::any, true},
  {star, 3, 1, 128, Size::any},
  {star, 1, 4, 1 << 24, host},
  {star, 2, 1, 4096, host},
  {star, 3, 1, 256, host},
  // many steps
  {star, 2, 1, 16384, gpu, true, false, 100},
  {box, 2, 2, 16384, gpu, false, false, 100},
  {star, 2, 1, 8192, gpu, false, false, 12},
  {star, 3, 1, 512, gpu, true, false, 24},
  {box, 3, 1, 512, gpu, false, false, 24},
  {star, 2, 1, 16384, gpu, false, true, 100},
  {star, 3, 1, 512, gpu, false, true, 24},
  {star, 2, 1, 4096, host, true, false, 20},
  {box, 2, 1, 4096, host, false, false, 20},
  {star, 3, 1, 256, host, true, false, 20},
  {star, 2, 1, 4096, host, false, true, 20},
  {star, 2, 1, 1024, Size::any, false, false, 100},
  {star, 3, 1, 128, Size::any, false, false, 24},
  {star, 1, 1, 1 << 28, gpu, true, false, 1000},
  {star, 1, 4, 1 << 28, gpu, false, false, 1000},
  {star, 1, 1, 1 << 28, gpu, false, true, 100},
  {star, 1, 1, 1 << 20, Size::any, false, false, 100},
  {star, 2, 1, 16384, gpu, false, false, 1000},
  {box, 2, 1, 16384, gpu, false, false, 1000},
  {star, 2, 2, 16384, gpu, false, false, 1000},
  {star, 3, 1, 512, gpu, false, false, 1000},
  {star, 2, 1, 8192, host, false, false, 100},
  {star, 3, 1, 384, host, false, false, 100},
  // 16 bits, one step: after many their rounding errors are as large as the values
  {star, 1, 1, 1 << 28, gpu, false, false, 1, kNarrow},
  {star, 1, 4, 1 << 28, gpu, true, false, 1, kNarrow},
  {star, 2, 1, 16384, gpu, true, false, 1, kNarrow},
  {star, 2, 4, 16384, gpu, false, false, 1, kNarrow},
  {box, 2, 1, 16384, gpu, false, false, 1, kNarrow},
  {star, 3, 1, 768, gpu, true, false, 1, kNarrow},
  {star, 2, 1, 1021, Size::any, false, false, 1, kNarrow},
  {star, 1, 4, 1 << 26, host, true, false, 1, kNarrow},
  {star, 2, 1, 8192, host, true, false, 1, kNarrow},
  {box, 2, 1, 8192, host, false, false, 1, kNarrow},
  {star, 3, 1, 384, host, true, false, 1, kNarrow},
};
// clang-format on

}  // namespace

std::vector<Case> stencil_cases() {
  std::vector<Case> cases;
  for (const Row& row : kRows) {
    StencilShape s;
    s.pattern = row.pattern;
    s.rank = row.rank;
    s.radius = row.radius;
    for (int axis = 3 - row.rank; axis < 3; ++axis) s.extents[std::size_t(axis)] = row.extent;
    s.boundary = row.periodic ? Boundary::periodic : Boundary::fixed;
    s.steps = row.steps;
    Case c = listed(row, Op::stencil, name_of(s));
    c.problem.stencil = s;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace tessera::perf
