// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "random_problems.hpp"

#include "cases.hpp"
#include "taps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tessera::perf {
namespace {

using Random = std::mt19937_64;

double uniform(Random& random) { return double(random() >> 11) * 0x1p-53; }

bool chance(Random& random, double share) { return uniform(random) < share; }

std::int64_t log_uniform(Random& random, double low, double high) {
  return std::int64_t(std::lround(low * std::pow(high / low, uniform(random))));
}

std::int64_t draw_size(Random& random) {
  const std::int64_t size = log_uniform(random, 1.0, 16384.0);
  return chance(random, 0.5) ? (size + 15) / 16 * 16 : size;
}

GemmShape draw_shape(Random& random) {
  const std::int64_t m = draw_size(random), n = draw_size(random), k = draw_size(random);
  const bool trans_a = chance(random, 0.5), trans_b = chance(random, 0.5);
  GemmShape g = padded_shape(m, n, k, trans_a, trans_b, 0);
  g.batch = chance(random, 0.75) ? 1 : log_uniform(random, 2.0, 1024.0);
  return g;
}

/// With rows of A, B and D that are multiples of so many elements, all of them or not all.
GemmShape draw_rows(Random& random, std::int64_t unit, bool aligned) {
  const auto whole = [=](std::int64_t length) { return aligned ? (length + unit - 1) / unit * unit : length; };
  for (;;) {
    std::int64_t m = log_uniform(random, 16.0, 10000.0), k = log_uniform(random, 16.0, 10000.0);
    const std::int64_t n = whole(log_uniform(random, 16.0, 10000.0));
    const bool trans_a = chance(random, 0.5), trans_b = chance(random, 0.5);
    if (trans_a) m = whole(m);
    if (!trans_a || trans_b) k = whole(k);
    const std::int64_t padding = chance(random, 0.25) ? whole(log_uniform(random, 1.0, 64.0)) : 0;
    GemmShape g = padded_shape(m, n, k, trans_a, trans_b, padding);
    if (chance(random, 0.5)) g.beta = 1.0f;
    if (chance(random, 0.2)) add_epilogue(g, TESSERA_ACTIVATION_NONE);
    if ((g.lda % unit == 0 && g.ldb % unit == 0 && g.ldc % unit == 0) == aligned) return g;
  }
}

std::vector<StencilShape> tap_shapes() {
  std::vector<StencilShape> shapes;
  for (const Pattern pattern : {Pattern::star, Pattern::box, Pattern::derivative})
    for (int rank = 1; rank <= 3; ++rank)
      for (int radius = 1; radius <= 4; ++radius)
        if (const StencilShape shape{.pattern = pattern, .rank = rank, .radius = radius}; is_compiled(shape))
          shapes.push_back(shape);
  return shapes;
}

StencilShape draw_stencil_shape(Random& random) {
  static const std::vector<StencilShape> shapes = tap_shapes();
  StencilShape s = shapes[random() % shapes.size()];
  const double points = std::pow(2.0, 10.0 + 18.0 * uniform(random));
  // Extents within a factor of 8 of a cube's side, either way.
  std::array<double, 3> sides{1.0, 1.0, 1.0};
  double product = 1.0;
  for (int axis = 3 - s.rank; axis < 3; ++axis) product *= sides[std::size_t(axis)] = std::pow(64.0, uniform(random));
  const double scale = std::pow(points / product, 1.0 / s.rank);
  for (int axis = 3 - s.rank; axis < 3; ++axis)
    s.extents[std::size_t(axis)] =
        std::max<std::int64_t>(2 * s.radius + 1, std::int64_t(std::lround(scale * sides[std::size_t(axis)])));
  s.boundary = chance(random, 0.5) ? Boundary::periodic : Boundary::fixed;
  s.steps = chance(random, 0.5) ? 1 : log_uniform(random, 2.0, 256.0);
  return s;
}

template <class Draw>
Problem draw_within(const Bounds& bounds, const Kind& kind, Draw&& draw) {
  for (;;) {
    const Problem p = resolve({draw()}, kind);
    if (p.flops <= bounds.flops && p.footprint() <= bounds.bytes) return p;
  }
}

}  // namespace

Problem draw_gemm(Random& random, const Kind& kind, const Bounds& bounds,
                  std::optional<tessera_activation> activation) {
  return draw_within(bounds, kind, [&] {
    Problem p;
    p.op = Op::gemm;
    p.gemm = draw_shape(random);
    if (activation) add_epilogue(p.gemm, *activation);
    p.name = name_of(p.gemm);
    return p;
  });
}

std::vector<Case> random_cases(bool aligned, std::uint64_t seed, std::int64_t count) {
  std::vector<Case> cases;
  for (const DType dtype : {kDType<bfloat16>, kDType<float16>, kDType<float>, kDType<double>}) {
    std::seed_seq words{std::uint32_t(seed), std::uint32_t(seed >> 32), std::uint32_t(aligned), std::uint32_t(dtype)};
    Random random(words);
    for (std::int64_t i = 0; i < count; ++i) {
      const Problem problem = draw_within({.flops = 0x1p40, .bytes = HUGE_VAL}, dtype, [&] {
        Problem p;
        p.gemm = draw_rows(random, 16 / std::int64_t(size_of(dtype)), aligned);
        p.name = std::string(kGroups[aligned ? 1 : 2]) + "_" + name_of(p.gemm);
        return p;
      });
      cases.push_back({problem, Size::any, false, {dtype}});
    }
  }
  return cases;
}

Problem draw_stencil(Random& random, const Kind& kind, const Bounds& bounds) {
  return draw_within(bounds, kind, [&] {
    Problem p;
    p.op = Op::stencil;
    p.stencil = draw_stencil_shape(random);
    p.name = name_of(p.stencil);
    return p;
  });
}

}  // namespace tessera::perf
