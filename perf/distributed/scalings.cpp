// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "scalings.hpp"

namespace tessera::perf {

namespace {

constexpr auto weak = Scaling::weak, strong = Scaling::strong;
constexpr auto any = Size::any, gpu = Size::gpu, host = Size::host;

struct StencilRow {
  Scaling scaling;
  Size size;
  int rank, radius;
  std::int64_t extent, steps;
  bool quick = false;
};

// clang-format off
constexpr StencilRow kStencils[] = {
  {weak, gpu, 3, 1, 512, 100},
  {weak, gpu, 3, 1, 256, 200},
  {weak, gpu, 2, 1, 16384, 1000},
  {weak, gpu, 3, 4, 512, 50},
  {weak, gpu, 3, 4, 256, 100},
  {strong, gpu, 3, 4, 768, 50},
  {weak, host, 3, 1, 256, 10},
  {weak, host, 3, 4, 256, 10},
  {weak, host, 2, 1, 2048, 50},
  {strong, host, 3, 4, 256, 10},
  {weak, any, 3, 1, 64, 4, true},
  {weak, any, 2, 1, 512, 8, true},
  {strong, any, 3, 4, 64, 4, true},
};

struct WaveRow {
  Scaling scaling;
  Size size;
  bool varying;  ///< the square of the speed is an array
  std::int64_t extent, steps;
  bool quick = false;
};

constexpr WaveRow kWaves[] = {
    {weak, gpu, true, 512, 50},    {weak, gpu, false, 512, 50}, {weak, gpu, true, 256, 100},
    {weak, gpu, false, 256, 100},  {strong, gpu, true, 768, 50}, {strong, gpu, false, 768, 50},
    {weak, host, true, 256, 10},   {weak, host, false, 256, 10}, {strong, host, true, 256, 10},
    {weak, any, true, 48, 4, true},
};

struct ProductRow {
  Size size;
  std::int64_t extent;
  const char* kinds;
  std::int64_t block = 0;
  bool quick = false;
};

constexpr ProductRow kProducts[] = {
  {gpu, 16384, "bf16 f32 f64"},
  {host, 2048, "f32 f64"},
  {host, 2048, "f32 f64", 128},
  {host, 4096, "f32"},
  {any, 256, "f32 f64", 0, true},
  {any, 256, "f32", 64, true},
};
// clang-format on

ScalingCase stencil_case(const StencilRow& row) {
  Case c;
  c.problem.op = Op::stencil;
  StencilShape& s = c.problem.stencil;
  s.rank = row.rank, s.radius = row.radius, s.steps = row.steps;
  for (int axis = 3 - row.rank; axis < 3; ++axis) s.extents[std::size_t(axis)] = row.extent;
  c.problem.name = name_of(s);
  return {resolve(c, DType::f32), row.scaling, row.size, row.quick};
}

ScalingCase wave_case(const WaveRow& row) {
  Case c;
  c.problem.op = Op::system;
  SystemShape& s = c.problem.system;
  s.varying = row.varying, s.steps = row.steps;
  s.extents = {row.extent, row.extent, row.extent};
  c.problem.name = name_of(s);
  return {resolve(c, DType::f32), row.scaling, row.size, row.quick};
}

ScalingCase product_case(const ProductRow& row, Kind kind) {
  Case c;
  c.problem.op = Op::gemm;
  c.problem.gemm = padded_shape(row.extent, row.extent, row.extent, false, false, 0);
  c.problem.name = "gemm_" + name_of(c.problem.gemm);
  return {resolve(c, kind), strong, row.size, row.quick, row.block};
}

}  // namespace

std::string ScalingCase::name(int ranks) const {
  return (scaling == weak ? "weak_" : "strong_") + problem.name +
         (block > 0 ? "_blocks" + std::to_string(block) : std::string()) + "_ranks" + std::to_string(ranks);
}

Problem ScalingCase::whole(int ranks) const {
  if (scaling == strong) return problem;
  Case c;
  c.problem = problem;
  if (problem.op == Op::system)
    c.problem.system.extents.front() *= ranks;
  else
    c.problem.stencil.extents[std::size_t(3 - problem.stencil.rank)] *= ranks;
  return resolve(c, problem.kind);
}

std::vector<ScalingCase> scaling_cases() {
  std::vector<ScalingCase> cases;
  for (const StencilRow& row : kStencils) cases.push_back(stencil_case(row));
  for (const WaveRow& row : kWaves) cases.push_back(wave_case(row));
  for (const ProductRow& row : kProducts)
    for (const Kind& kind : kinds_named(row.kinds)) cases.push_back(product_case(row, kind));
  return cases;
}

}  // namespace tessera::perf
