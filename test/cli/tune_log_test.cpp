// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What a plan says of its problem is read back as the same problem.

#include "process.hpp"
#include "program.hpp"
#include "tuned_problem.hpp"

#include <tessera/tessera.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

using namespace tessera;
using tessera::test::need_backend;
using tessera::test::ScopedVariable;

namespace {

/// The problem that making the plan prints.
template <class PlanType, class Desc>
std::string said_of(const Desc& desc, const PlanOptions& options, const std::string& backend, int threads) {
  std::vector<std::string> lines;
  tessera_set_verbose_callback(
      [](const char* line, void* to) { static_cast<std::vector<std::string>*>(to)->emplace_back(line); }, &lines);
  if (backend.empty())
    PlanType(desc, options);
  else
    PlanType(Context(backend, {.threads = threads}), desc, options);
  tessera_set_verbose_callback(nullptr, nullptr);
  for (const std::string& line : lines)
    if (const auto problem = cli::logged_problem(line)) return *problem;
  return "";
}

void tune(const cli::TunedProblem& p) {
  std::visit(
      [&](const auto& desc) {
        using PlanType =
            std::conditional_t<std::is_same_v<std::decay_t<decltype(desc)>, GemmDesc>, GemmPlan, StencilPlan>;
        if (p.backend.empty())
          PlanType::tune(desc, p.options);
        else
          PlanType::tune(Context(p.backend, {.threads = p.threads}), desc, p.options);
      },
      p.desc);
}

/// What is read back and tuned is what the next plan of the problem finds: all that a choice depends on is the same.
template <class PlanType, class Desc>
void check(const Desc& desc, const PlanOptions& options = {}, const std::string& backend = "", int threads = 0) {
  const ScopedVariable verbose("TESSERA_VERBOSE", "1");
  wisdom::forget();
  const std::string text = said_of<PlanType>(desc, options, backend, threads);
  CAPTURE(text);
  REQUIRE_FALSE(text.empty());
  const cli::TunedProblem again = cli::parse_problem(text);
  tessera_set_verbose_callback([](const char*, void*) {}, nullptr);
  tune(again);
  const std::string found = backend.empty()
                                ? PlanType(desc, options).describe()
                                : PlanType(Context(backend, {.threads = threads}), desc, options).describe();
  tessera_set_verbose_callback(nullptr, nullptr);
  wisdom::forget();
  CHECK_THAT(found, Catch::Matchers::EndsWith("| from wisdom"));
}

}  // namespace

TEST_CASE("products are said so that they can be read back", "[tune]") {
  need_backend();
  check<GemmPlan>(GemmDesc{.m = 5, .n = 4, .k = 3});
  check<GemmPlan>(GemmDesc{.m = 5, .n = 4, .k = 3, .order = Order::column_major, .trans_a = Transpose::yes});
  check<GemmPlan>(GemmDesc{.m = 5,
                           .n = 4,
                           .k = 3,
                           .dtype = DType::f64,
                           .trans_b = Transpose::yes,
                           .lda = 8,
                           .ldb = 9,
                           .ldc = 10,
                           .batch = 3,
                           .stride_b = 0});
  GemmDesc d{.m = 5,
             .n = 4,
             .k = 3,
             .dtype = DType::bf16,
             .batch = 2,
             .dtype_d = DType::f32,
             .bias = Bias::per_row,
             .activation = Activation::gelu_tanh,
             .bias_increment = 2,
             .bias_stride = 20,
             .ldd = 7};
  check<GemmPlan>(d);
  d.order = Order::column_major, d.dtype_bias = DType::f32, d.ldd = 8;
  check<GemmPlan>(d, {.workspace_limit = 12345});
  check<GemmPlan>(GemmDesc{.m = 64, .n = 64, .k = 64, .compute = Compute::tf32});
  check<GemmPlan>(GemmDesc{.m = 1, .n = 1, .k = 1, .lda = 100, .batch = 1});
}

TEST_CASE("stencils are said so that they can be read back", "[tune]") {
  need_backend();
  check<StencilPlan>(StencilDesc{.extents = {40}, .taps = taps::laplacian(1, 2 * 2)});
  check<StencilPlan>(StencilDesc{
      .extents = {6, 7, 8}, .taps = taps::box(3, 1), .boundary = Boundary::periodic, .steps = 4, .dtype = DType::f64});
  check<StencilPlan>(StencilDesc{.extents = {6, 7}, .taps = taps::laplacian(2, 2 * 1), .steps = 0});
  check<StencilPlan>(StencilDesc{.extents = {6, 7},
                                 .taps = taps::laplacian(2, 2 * 1),
                                 .boundary = {BoundaryAxis(BoundarySide(Boundary::constant, 1.5), Boundary::mirror),
                                              BoundaryAxis(BoundarySide(Boundary::constant, -1.0 / 3.0))},
                                 .dtype = DType::f16,
                                 .in_strides = {1, 6},
                                 .out_strides = {7, 1}});
  check<StencilPlan>(StencilDesc{.extents = {6, 7}, .taps = taps::laplacian(2), .sums = Sums::ordered});
  const double infinity = std::numeric_limits<double>::infinity();
  check<StencilPlan>(StencilDesc{
      .extents = {9}, .taps = taps::laplacian(1, 2 * 1), .boundary = BoundarySide(Boundary::constant, -infinity)});
  check<StencilPlan>(StencilDesc{.extents = {9, 9}, .taps = taps::laplacian(2, 2 * 2), .boundary = Boundary::halo});
}

TEST_CASE("where and how a plan was wanted is said so that it can be read back", "[tune]") {
  need_backend();
  for (const BackendInfo& b : backends()) {
    if (!b.available) continue;
    const std::string algorithm = b.gemm_algorithms.front();
    check<GemmPlan>(GemmDesc{.m = 8, .n = 8, .k = 8}, {.algorithm = algorithm}, b.name + ":0", 2);
    check<GemmPlan>(GemmDesc{.m = 8, .n = 8, .k = 8}, {.operands = Memory::device}, b.name);
  }
}
