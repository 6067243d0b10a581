// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

namespace tessera::perf {

namespace {

struct Row {
  Model model;
  std::int64_t extent;  ///< of every axis
  Size size;
  bool quick = false;
  std::int64_t steps = 1;
  const char* kinds = "f32";
  int order = 8;  ///< of a wave, as what follows
  bool varying = false, sponge = false;
};

constexpr Row wave(int order, bool varying, bool sponge, std::int64_t extent, Size size, bool quick = false,
                   std::int64_t steps = 1, const char* kinds = "f32") {
  return {Model::wave, extent, size, quick, steps, kinds, order, varying, sponge};
}

constexpr auto any = Size::any;
constexpr auto gpu = Size::gpu;
constexpr auto host = Size::host;

// clang-format off
constexpr Row kRows[] = {
  // one step, domains far beyond the caches
  wave(8, true, true, 512, gpu, true),
  wave(8, true, true, 768, gpu),
  wave(8, true, true, 384, gpu, true, 1, "f64"),
  wave(8, false, false, 512, gpu),
  wave(8, false, false, 768, gpu),
  wave(4, true, false, 512, gpu),
  wave(4, true, false, 768, gpu),
  wave(2, true, false, 512, gpu, true),
  wave(2, true, false, 768, gpu),
  {Model::diffusion, 512, gpu, true},
  {Model::maxwell, 384, gpu, true},
  {Model::elastic, 384, gpu, true},
  wave(8, true, true, 256, host, true, 1, "f32 f64"),
  wave(8, true, true, 384, host),
  wave(8, false, false, 256, host),
  wave(8, false, false, 384, host),
  wave(4, true, false, 256, host),
  wave(4, true, false, 384, host),
  wave(2, true, false, 256, host),
  wave(2, true, false, 384, host),
  {Model::diffusion, 192, host},
  {Model::maxwell, 192, host},
  {Model::elastic, 192, host},
  {Model::gray_scott, 4096, any, true},
  {Model::burgers, 4096, any, true},
  {Model::allen_cahn, 384, gpu, true},
  {Model::allen_cahn, 192, host},
  // domains that a cache holds
  wave(8, true, true, 64, any, true),
  wave(8, false, false, 64, any),
  wave(2, true, false, 64, any),
  {Model::diffusion, 64, any, true},
  {Model::maxwell, 64, any, true},
  {Model::elastic, 64, any, true},
  {Model::gray_scott, 512, any, true},
  {Model::burgers, 512, any},
  {Model::allen_cahn, 64, any},
  // many steps
  wave(8, true, true, 512, gpu, true, 24),
  wave(2, true, false, 512, gpu, true, 100),
  wave(8, true, true, 256, host, false, 24),
  wave(2, true, false, 256, host, false, 24),
  wave(8, true, true, 64, any, true, 24),
};
// clang-format on

}  // namespace

std::vector<Case> system_cases() {
  std::vector<Case> cases;
  for (const Row& row : kRows) {
    SystemShape s;
    s.model = row.model;
    s.order = row.order;
    s.varying = row.varying;
    s.sponge = row.sponge;
    s.rank = row.model == Model::gray_scott || row.model == Model::burgers ? 2 : 3;
    for (int axis = 3 - s.rank; axis < 3; ++axis) s.extents[std::size_t(axis)] = row.extent;
    s.steps = row.steps;
    Case& c = cases.emplace_back();
    c.problem.op = Op::system;
    c.problem.name = name_of(s);
    c.problem.system = s;
    c.size = row.size, c.quick = row.quick, c.kinds = kinds_named(row.kinds);
  }
  return cases;
}

}  // namespace tessera::perf
