// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

#include "systems.hpp"
#include "taps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

namespace tessera::perf {

namespace {

/// The number of the name in a list.
template <class T, std::size_t kCount>
std::optional<T> number_of(const char* const (&names)[kCount], const std::string& name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? std::nullopt : std::optional(static_cast<T>(found - std::begin(names)));
}

/// "1024^2", "64x32x8", and on a line "2^28" or "1000003".
template <class Shape>
std::string name_of_extents(const Shape& s) {
  const std::vector<std::int64_t> extents = extents_of(s);
  const std::int64_t first = extents.front();
  if (s.rank == 1 && (first & (first - 1)) == 0)
    return "2^" + std::to_string(__builtin_ctzll(static_cast<unsigned long long>(first)));
  std::string name = std::to_string(first);
  if (std::count(extents.begin(), extents.end(), first) == s.rank)
    return name + (s.rank > 1 ? "^" + std::to_string(s.rank) : "");
  for (std::size_t axis = 1; axis < extents.size(); ++axis) name += "x" + std::to_string(extents[axis]);
  return name;
}

Problem resolve_gemm(Problem p) {
  const GemmShape& g = p.gemm;
  const double batch = double(g.batch);
  const std::int64_t bias = g.bias == TESSERA_BIAS_NONE ? 0 : g.n;
  const std::int64_t parts = p.kind.parts();
  p.in_count = {parts * g.batch * g.stride_a, g.is_triangle() ? 0 : parts * g.batch * g.stride_b, bias};
  p.out_count = parts * g.batch * g.stride_c;
  // What is added to must hold numbers, also between the rows.
  p.out_gaps = g.beta != 0.0f ? 0 : parts * g.batch * (g.m * g.ldc - g.written());
  const double computed = g.is_triangle() ? double(g.m) * double(g.m + 1) / 2.0 : double(g.m) * double(g.n);
  p.flops = p.work = 2.0 * computed * double(g.k) * batch * double(parts * parts);
  const auto bytes_of = [parts](DType dtype) { return double(parts) * double(size_of(dtype)); };
  const double size_a = bytes_of(p.kind.dtype), size_b = bytes_of(p.kind.dtype_b);
  const double size_out = bytes_of(p.kind.dtype_out), k = double(g.k);
  p.read_bytes = batch * k * (size_a * double(g.m) + (g.is_triangle() ? 0.0 : size_b * double(g.n)));
  p.read_bytes += size_out * double(bias) + (g.beta != 0.0f ? size_out * batch * computed : 0.0);
  p.write_bytes = size_out * batch * double(g.written());
  return p;
}

Problem resolve_stencil(Problem p) {
  const StencilShape& s = p.stencil;
  const double points = double(s.points());
  p.in_count = {s.points(), 0, 0};
  p.out_count = s.points();
  p.out_gaps = 0;
  p.work = points * double(s.steps);
  p.flops = 2.0 * tap_count(s.pattern, s.rank, s.radius) * p.work;
  p.read_bytes = p.write_bytes = double(size_of(p.kind.dtype)) * points;
  return p;
}

}  // namespace

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds(std::begin(kDTypes), std::end(kDTypes));
  for (const DType dtype : NarrowTypes::kDTypes) kinds.emplace_back(dtype, DType::f32, TESSERA_COMPUTE_STRICT);
  for (const tessera_compute compute : {TESSERA_COMPUTE_BF16X6, TESSERA_COMPUTE_F16X3, TESSERA_COMPUTE_TF32})
    kinds.emplace_back(DType::f32, DType::f32, compute);
  for (const DType part : WideTypes::kDTypes) kinds.push_back(Kind::complex(part, TESSERA_COMPUTE_STRICT));
  for (const tessera_compute compute : {TESSERA_COMPUTE_BF16X6, TESSERA_COMPUTE_F16X3})
    kinds.push_back(Kind::complex(DType::f32, compute));
  for (const DType a : kDTypes)
    for (const DType b : kDTypes)
      if (a != b && can_multiply(a, b)) {
        kinds.push_back(Kind::mixed(a, b, TESSERA_COMPUTE_STRICT));
        if (size_of(wider(a, b)) == 4) kinds.push_back(Kind::mixed(a, b, TESSERA_COMPUTE_BF16X6));
      }
  return kinds;
}

std::optional<Kind> kind_named(const std::string& name) {
  for (const Kind& kind : all_kinds())
    if (kind.name() == name) return kind;
  return {};
}

std::optional<Pattern> pattern_named(const std::string& name) { return number_of<Pattern>(kPatterns, name); }
std::optional<Model> model_named(const std::string& name) { return number_of<Model>(kModels, name); }

std::optional<Boundary> boundary_named(const std::string& name) {
  for (const Boundary mode : kBoundaries)
    if (name == tessera::name_of(mode)) return mode;
  return {};
}

std::optional<tessera_activation> activation_named(const std::string& name) {
  return number_of<tessera_activation>(kActivations, name);
}

std::vector<Kind> kinds_named(const std::string& names) {
  std::vector<Kind> kinds;
  std::istringstream list(names);
  for (std::string name; list >> name;) kinds.push_back(required(kind_named(name), "dtype", name));
  return kinds;
}

GemmShape padded_shape(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a, bool trans_b,
                       std::int64_t padding) {
  GemmShape g{m, n, k, trans_a, trans_b};
  g.lda = (trans_a ? m : k) + padding;
  g.ldb = (trans_b ? k : n) + padding;
  g.ldc = n + padding;
  g.stride_a = (trans_a ? k : m) * g.lda;
  g.stride_b = (trans_b ? n : k) * g.ldb;
  g.stride_c = m * g.ldc;
  return g;
}

void add_epilogue(GemmShape& shape, tessera_activation activation) {
  shape.bias = TESSERA_BIAS_PER_COLUMN;
  shape.activation = activation;
  // Sums of k products of what is uniform in [-1, 1) have the variance k / 9: what is activated has 1 or so.
  shape.alpha = 3.0f / float(std::exp2(std::floor(0.5 * std::log2(double(shape.k)))));
}

std::string name_of(const GemmShape& g) {
  std::string name = std::to_string(g.m);
  if (g.m != g.n || g.n != g.k) name += "x" + std::to_string(g.n) + "x" + std::to_string(g.k);
  if (g.batch > 1) name += "_batch" + std::to_string(g.batch);
  if (g.ldc > g.n) name += "_ld+" + std::to_string(g.ldc - g.n);
  if (g.trans_a || g.trans_b) name += std::string("_") + (g.trans_a ? 'T' : 'N') + (g.trans_b ? 'T' : 'N');
  if (g.beta != 0.0f) name += "_beta1";
  if (g.bias != TESSERA_BIAS_NONE) name += "_bias";
  if (g.activation != TESSERA_ACTIVATION_NONE) name += std::string("_") + kActivations[g.activation];
  if (g.is_triangle()) name += std::string("_") + plugin::name_of_triangle(g.triangle);
  if (g.ordered) name += "_ordered";
  return g.prepared ? name + "_prepared" : name;
}

std::string name_of(const StencilShape& s) {
  std::string name = std::to_string(s.rank) + "d_" + kPatterns[std::size_t(s.pattern)];
  name += "_r" + std::to_string(s.radius) + "_" + name_of_extents(s) + "_" + tessera::name_of(s.boundary);
  return s.steps > 1 ? name + "_steps" + std::to_string(s.steps) : name;
}

std::string name_of(const SystemShape& s) {
  std::string name = kModels[std::size_t(s.model)];
  if (s.model == Model::wave) name += "_o" + std::to_string(s.order);
  if (s.varying) name += "_c2";
  if (s.sponge) name += "_sponge";
  name += "_" + name_of_extents(s);
  return s.steps > 1 ? name + "_steps" + std::to_string(s.steps) : name;
}

Problem resolve(const Case& c, Kind kind) {
  Problem p = c.problem;
  p.kind = kind;
  return p.op == Op::gemm ? resolve_gemm(p) : p.op == Op::stencil ? resolve_stencil(p) : resolve_system(p);
}

}  // namespace tessera::perf
