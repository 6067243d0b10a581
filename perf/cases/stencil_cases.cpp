// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "named_cases.hpp"

namespace tessera::perf {

namespace {

constexpr auto any = Size::any, gpu = Size::gpu, host = Size::host;
constexpr char kWide[] = "f32 f64";
constexpr char kNarrow[] = "f16 bf16";

// clang-format off
constexpr Listed kCases[] = {
  // one step, domains far beyond the caches
  {gpu, kWide, "1d_derivative_r4_2^28* 1d_star_r1_2^28 1d_star_r2_2^28 1d_star_r3_2^28 1d_star_r4_2^28*"},
  {gpu, kWide, "2d_star_r1_16384^2* 2d_star_r2_16384^2 2d_star_r3_16384^2 2d_star_r4_16384^2*"},
  {gpu, kWide, "2d_box_r1_16384^2* 2d_box_r2_16384^2 2d_box_r3_16384^2"},
  {gpu, kWide, "3d_star_r1_768^3* 3d_star_r2_768^3 3d_star_r3_768^3 3d_star_r4_768^3 3d_box_r1_768^3*"},
  {gpu, kWide, "1d_star_r4_2^28_periodic 2d_star_r1_16384^2_periodic* 3d_star_r1_768^3_periodic"},
  {gpu, kWide, "3d_box_r1_768^3_periodic"},
  {host, kWide, "1d_derivative_r4_2^26* 1d_star_r1_2^26 1d_star_r2_2^26 1d_star_r3_2^26 1d_star_r4_2^26*"},
  {host, kWide, "2d_star_r1_8192^2* 2d_star_r2_8192^2 2d_star_r3_8192^2 2d_star_r4_8192^2"},
  {host, kWide, "2d_box_r1_8192^2* 2d_box_r2_8192^2 2d_box_r3_8192^2"},
  {host, kWide, "3d_star_r1_384^3* 3d_star_r2_384^3 3d_star_r3_384^3 3d_star_r4_384^3 3d_box_r1_384^3*"},
  {host, kWide, "1d_star_r4_2^26_periodic 2d_star_r1_8192^2_periodic 3d_star_r1_384^3_periodic"},
  {host, kWide, "3d_star_r4_256^3 3d_star_r4_256^3_periodic"},
  // odd extents, domains that a cache holds (measured cold and hot)
  {any, kWide, "1d_star_r4_1000003 2d_star_r1_1021^2 3d_star_r1_101^3 2d_star_r1_1024^2* 3d_star_r1_128^3"},
  {host, kWide, "1d_star_r4_2^24 2d_star_r1_4096^2 3d_star_r1_256^3"},
  // many steps
  {gpu, kWide, "2d_star_r1_16384^2_steps100* 2d_box_r2_16384^2_steps100 2d_star_r1_8192^2_steps12"},
  {gpu, kWide, "3d_star_r1_512^3_steps24* 3d_box_r1_512^3_steps24 2d_star_r1_16384^2_periodic_steps100"},
  {gpu, kWide, "3d_star_r1_512^3_periodic_steps24"},
  {host, kWide, "2d_star_r1_4096^2_steps20* 2d_box_r1_4096^2_steps20 3d_star_r1_256^3_steps20*"},
  {host, kWide, "2d_star_r1_4096^2_periodic_steps20"},
  {any, kWide, "2d_star_r1_1024^2_steps100 3d_star_r1_128^3_steps24"},
  {gpu, kWide, "1d_star_r1_2^28_steps1000* 1d_star_r4_2^28_steps1000 1d_star_r1_2^28_periodic_steps100"},
  {any, kWide, "1d_star_r1_2^20_steps100"},
  {gpu, kWide, "2d_star_r1_16384^2_steps1000 2d_box_r1_16384^2_steps1000 2d_star_r2_16384^2_steps1000"},
  {gpu, kWide, "3d_star_r1_512^3_steps1000"},
  {host, kWide, "2d_star_r1_8192^2_steps100 3d_star_r1_384^3_steps100"},
  // 16 bits, one step: after many their rounding errors are as large as the values
  {gpu, kNarrow, "1d_star_r1_2^28 1d_star_r4_2^28* 2d_star_r1_16384^2* 2d_star_r4_16384^2 2d_box_r1_16384^2"},
  {gpu, kNarrow, "3d_star_r1_768^3*"},
  {any, kNarrow, "2d_star_r1_1021^2"},
  {host, kNarrow, "1d_star_r4_2^26* 2d_star_r1_8192^2* 2d_box_r1_8192^2 3d_star_r1_384^3*"},
};
// clang-format on

}  // namespace

std::vector<Case> stencil_cases() { return listed(kCases, stencil_case); }

}  // namespace tessera::perf
