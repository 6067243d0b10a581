// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"

#include "activation_reference.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "taps.hpp"
#include "wide.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::perf {

std::uint64_t input_seed(std::uint64_t seed, int input) { return seed * 0x2545f4914f6cdd1du + std::uint64_t(input); }

namespace {

/// Where k is cut into 32 parts at most, each part is rounded, and so is each sum of parts: none is larger than the
/// sum of all sizes, which grows by a factor of (1 + u)^33 < 1.14 in bf16 meanwhile. 32 x 1.14 < 37.
constexpr long double kRoundingsInParts = 37.0L;

/// A row of op(A) and a column of op(B): of complex numbers all parts, so that their product is the `part` of D.
template <class T, class U>
std::pair<std::vector<T>, std::vector<U>> factors_of(const Problem& p, std::uint64_t seed, std::int64_t l,
                                                     std::int64_t i, std::int64_t j, int part) {
  const GemmShape& g = p.gemm;
  const auto of_a = [&](std::int64_t row, std::int64_t t) {
    return l * g.stride_a + (g.trans_a ? t * g.lda + row : row * g.lda + t);
  };
  std::pair<std::vector<T>, std::vector<U>> factors;
  for (std::int64_t t = 0; t < g.k; ++t) {
    const std::int64_t at_a = of_a(i, t), at_b = l * g.stride_b + (g.trans_b ? j * g.ldb + t : t * g.ldb + j);
    for (std::int64_t of_k = 0, parts = p.kind.parts(); of_k < parts; ++of_k) {
      factors.first.push_back(random_element<T>(input_seed(seed, 0), std::uint64_t(parts * at_a + of_k)));
      // (ar + i ai)(br + i bi) = ar br - ai bi + i (ar bi + ai br)
      const std::int64_t at = parts * (g.is_triangle() ? of_a(j, t) : at_b) + (parts > 1 && part != of_k ? 1 : 0);
      const U b = random_element<U>(input_seed(seed, g.is_triangle() ? 0 : 1), std::uint64_t(at));
      factors.second.push_back(part == 0 && of_k == 1 ? U(-Scalar<U>(b)) : b);
    }
  }
  return factors;
}

/// By the reference of the tests, of a product of one row and one column.
template <class T, class U, class D>
Element gemm_element(const Problem& p, std::uint64_t seed, std::int64_t l, std::int64_t i, std::int64_t j, int part) {
  const GemmShape& g = p.gemm;
  const auto [a, b] = factors_of<T, U>(p, seed, l, i, j, part);
  std::vector<double> bias;
  if (g.bias != TESSERA_BIAS_NONE) bias = {Scalar<D>(random_element<D>(input_seed(seed, 2), std::uint64_t(j)))};
  const std::int64_t at = p.kind.parts() * (l * g.stride_c + i * g.ldc + j) + part;
  const D old = random_element<D>(input_seed(seed, Reference::kOut), std::uint64_t(at));
  GemmDesc desc{.m = 1, .n = 1, .k = std::int64_t(a.size())};
  desc.compute = Compute(p.kind.compute);
  const auto sum =
      test::gemm_reference<T, D, U>(desc, Scalar<D>(g.alpha), a.data(), b.data(), Scalar<D>(g.beta), &old, false, bias);
  const auto x = sum.value[0], value = test::activated(Activation(g.activation), x);
  const auto bound = [&](long double of_x) {
    const auto before = test::activated_bound<Scalar<D>>(Activation(g.activation), x, double(of_x));
    return before + roundoff_of<D>(std::abs(value) + before);
  };
  const long double of_x = sum.bound[0];
  long double sizes = std::abs(Scalar<D>(g.beta) * Scalar<D>(old));
  for (std::size_t t = 0; t < a.size(); ++t) sizes += std::abs(g.alpha * double(Scalar<T>(a[t])) * Scalar<U>(b[t]));
  return {value, bound(of_x), bound(of_x + roundoff_of<D>(std::abs(x) + of_x)),
          bound(of_x + kRoundingsInParts * roundoff_of<D>(sizes + of_x))};
}

/// What each of many steps may add to the rounding errors of values of size 1: sum |c| = 1, see window.cpp.
double roundoff_of_step(const Problem& p) {
  const auto terms = std::size_t(tap_count(p.stencil.pattern, p.stencil.rank, p.stencil.radius)) + 2;
  return 1.01 * with_types(p.kind.dtype, [terms]<class T>(std::type_identity<T>) { return roundoff_of_sum<T>(terms); });
}

/// Results of more steps are not told from wrong ones: values are 1 at most.
constexpr double kMostRoundoff = 0.0625;

}  // namespace

std::string uncheckable(const Problem& p) {
  const StencilShape& s = p.stencil;
  if (p.op != Op::stencil || s.steps == 1) return "";
  if (s.pattern == Pattern::derivative) return "values grow with the steps of a derivative: it has one";
  const auto most = std::int64_t(kMostRoundoff / roundoff_of_step(p));
  if (s.steps > most)
    return "rounding errors of more than " + std::to_string(most) + " steps in " + p.kind.name() +
           " may be as large as the values";
  if (windows_are_affordable(p) || (p.has_parts() && windows_are_affordable(p.part()))) return "";
  const std::int64_t few = affordable_steps(p);
  return "such steps can be followed up to " + std::to_string(few) + ", or in multiples of " +
         std::to_string(Problem::kParts) + " up to " + std::to_string(Problem::kParts * few);
}

Element product_element(const Problem& p, std::uint64_t seed, std::int64_t l, std::int64_t i, std::int64_t j,
                        int part) {
  return with_product_types(
      p.kind, [&]<class T, class U, class D>(std::type_identity<T>, std::type_identity<U>, std::type_identity<D>) {
        return gemm_element<T, U, D>(p, seed, l, i, j, part);
      });
}

Reference::Reference(const Problem& problem, std::uint64_t seed) : problem_(problem), seed_(seed) {
  if (problem.op == Op::system)
    checked_ = checked_arrays(problem, seed);
  else
    checked_.push_back({kOut, problem.kind.dtype_out, problem.out_count, problem.out_gaps, "",
                        problem.op == Op::gemm ? sampled_product() : sampled_stencil()});
}

bool Reference::complete() const {
  return std::all_of(checked_.begin(), checked_.end(),
                     [](const Checked& c) { return c.samples.value.size() == c.samples.where.size(); });
}

Samples Reference::sampled_product() {
  const GemmShape& g = problem_.gemm;
  const std::int64_t elements = g.m * g.n * g.batch;
  // Where accuracy is compared, too, rare errors shall be seen.
  const bool many = problem_.is_grouped();
  const std::int64_t terms = many ? 64000000 : 3000000, most = many ? 4000 : 1024;
  const std::int64_t count = std::min(elements, std::clamp<std::int64_t>(terms / g.k, 48, most));
  Samples samples;
  for (std::int64_t s = 0; s < count; ++s) {
    // The corners of the first and the last matrix, then anywhere.
    std::int64_t l = s & 4 ? g.batch - 1 : 0, i = s & 2 ? g.m - 1 : 0, j = s & 1 ? g.n - 1 : 0;
    if (s >= 8 || elements <= count) {
      const double u = 0.5 + 0.5 * random_value(seed_ + 77, std::uint64_t(s));
      const std::int64_t e = elements <= count ? s : std::min(elements - 1, std::int64_t(u * double(elements)));
      l = e / (g.m * g.n), i = e / g.n % g.m, j = e % g.n;
    }
    if (g.triangle == TESSERA_TRIANGLE_LOWER && j > i) std::swap(i, j);
    const std::int64_t parts = problem_.kind.parts(), part = (s ^ s / 8) % parts;
    const Element element = product_element(problem_, seed_, l, i, j, int(part));
    samples.add(parts * (l * g.stride_c + i * g.ldc + j) + part, element.value, element.bound);
    bound_rounded_before_.push_back(element.bound_rounded_before);
    bound_in_parts_.push_back(element.bound_in_parts);
  }
  return samples;
}

Samples Reference::sampled_stencil() const {
  if (windows_are_affordable(problem_) || !problem_.has_parts()) return stencil_windows(problem_, input_seed(seed_, 0));
  const StencilShape& s = problem_.stencil;
  const double of_step = roundoff_of_step(problem_);
  Samples samples;
  for (std::uint64_t sample = 0; sample < 4096; ++sample) {
    const double u = 0.5 + 0.5 * random_value(seed_ + 78, sample);
    samples.where.push_back(std::min(s.points() - 1, std::int64_t(u * double(s.points()))));
    // Both sides have the rounding errors of all steps; each step adds its unit at most (see window.cpp).
    samples.bound.push_back(2.0 * of_step * double(s.steps));
  }
  return samples;
}

void Reference::adopt(Device& device, void* const* arrays) {
  for (Checked& c : checked_) c.samples.adopt(device, arrays[c.array], c.dtype);
}

Verdict Reference::check(Device& device, void* const* arrays, Rounding rounding) const {
  if (!complete()) return {0.0, "nothing to compare with: no competitor's part of the steps was right"};
  Verdict all;
  for (const Checked& c : checked_) {
    const std::int64_t gaps = device.count_nan(arrays[c.array], c.dtype, c.count) - c.gaps;
    if (gaps != 0)
      return {0.0, std::to_string(std::abs(gaps)) + " elements" + c.of +
                       (gaps > 0 ? " were not written (or are NaN)" : " between the rows were overwritten")};
    Samples samples = c.samples;
    if (problem_.op == Op::gemm && rounding != Rounding::once)
      samples.bound = rounding == Rounding::in_parts ? bound_in_parts_ : bound_rounded_before_;
    const Verdict one = samples.check(device, arrays[c.array], c.dtype, c.of);
    all.error = std::max(all.error, one.error);
    all.ulps = std::max(all.ulps, one.ulps), all.misrounded = std::max(all.misrounded, one.misrounded);
    if (all.failure.empty()) all.failure = one.failure;
  }
  return all;
}

}  // namespace tessera::perf
