// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "scalings.hpp"

namespace tessera::perf {

namespace {

constexpr auto weak = Scaling::weak, strong = Scaling::strong;
constexpr auto any = Size::any, gpu = Size::gpu, host = Size::host;

// clang-format off
constexpr Listed kWeakStencils[] = {
  {gpu, "f32", "3d_star_r1_512^3_steps100 3d_star_r1_256^3_steps200 2d_star_r1_16384^2_steps1000"},
  {gpu, "f32", "3d_star_r4_512^3_steps50 3d_star_r4_256^3_steps100"},
  {host, "f32", "3d_star_r1_256^3_steps10 3d_star_r4_256^3_steps10 2d_star_r1_2048^2_steps50"},
  {any, "f32", "3d_star_r1_64^3_steps4* 2d_star_r1_512^2_steps8*"},
};
constexpr Listed kStrongStencils[] = {
  {gpu, "f32", "3d_star_r4_768^3_steps50"},
  {host, "f32", "3d_star_r4_256^3_steps10"},
  {any, "f32", "3d_star_r4_64^3_steps4*"},
};
constexpr Listed kProducts[] = {
  {gpu, "bf16 f32 f64", "16384"},
  {host, "f32 f64", "2048"},
  {host, "f32", "4096"},
  {any, "f32 f64", "256*"},
};
constexpr Listed kBlockCyclic64[] = {{any, "f32", "256*"}};
constexpr Listed kBlockCyclic128[] = {{host, "f32 f64", "2048"}};

constexpr Listed kWeakWaves[] = {
  {gpu, "f32", "wave_o8_c2_512^3_steps50 wave_o8_512^3_steps50 wave_o8_c2_256^3_steps100 wave_o8_256^3_steps100"},
  {host, "f32", "wave_o8_c2_256^3_steps10 wave_o8_256^3_steps10"},
  {any, "f32", "wave_o8_c2_48^3_steps4*"},
};
constexpr Listed kStrongWaves[] = {
  {gpu, "f32", "wave_o8_c2_768^3_steps50 wave_o8_768^3_steps50"},
  {host, "f32", "wave_o8_c2_256^3_steps10"},
};
// clang-format on

/// `block`: of block-cyclic matrices.
void add(std::vector<ScalingCase>& all, const std::vector<Case>& cases, Scaling scaling, std::int64_t block = 0) {
  for (Case c : cases) {
    if (c.problem.op == Op::gemm) c.problem.name = "gemm_" + c.problem.name;
    for (const Kind& kind : c.kinds) all.push_back({resolve(c, kind), scaling, c.size, c.quick, block});
  }
}

}  // namespace

std::string ScalingCase::name(int ranks) const {
  return (scaling == weak ? "weak_" : "strong_") + problem.name +
         (block > 0 ? "_blocks" + std::to_string(block) : std::string()) + "_ranks" + std::to_string(ranks);
}

Problem ScalingCase::whole(int ranks) const {
  if (scaling == strong) return problem;
  Problem all = problem;
  all.system.extents.front() *= ranks;
  all.stencil.extents[std::size_t(3 - problem.stencil.rank)] *= ranks;
  return resolve({all}, problem.kind);
}

std::vector<ScalingCase> scaling_cases() {
  std::vector<ScalingCase> cases;
  add(cases, listed(kWeakStencils, stencil_case), weak);
  add(cases, listed(kStrongStencils, stencil_case), strong);
  add(cases, listed(kWeakWaves, system_case), weak);
  add(cases, listed(kStrongWaves, system_case), strong);
  add(cases, listed(kProducts, gemm_case), strong);
  add(cases, listed(kBlockCyclic64, gemm_case), strong, 64);
  add(cases, listed(kBlockCyclic128, gemm_case), strong, 128);
  return cases;
}

}  // namespace tessera::perf
