// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Tuning by words and by a program's log, and files of wisdom.

#include "folder.hpp"
#include "spec/spec.hpp"

#include <tessera/tessera.hpp>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

const std::string kFrom = "| from wisdom";

/// What a plan says of its problem is read back as the same: what is tuned then is what the next plan finds, since all
/// that a choice depends on is the same.
template <class PlanType, class Desc>
void check_said(const Desc& desc, const PlanOptions& options = {}, const std::string& backend = "", int threads = 0) {
  const auto plan = [&] {  // as a user makes one
    return backend.empty() ? PlanType(desc, options) : PlanType(Context(backend, {.threads = threads}), desc, options);
  };
  const ScopedVariable verbose("TESSERA_VERBOSE", "1");
  wisdom::forget();
  std::optional<std::string> said;
  tessera_set_verbose_callback(
      [](const char* line, void* to) {
        auto& found = *static_cast<std::optional<std::string>*>(to);
        if (!found) found = cli::logged_problem(line);
      },
      &said);
  plan();
  tessera_set_verbose_callback([](const char*, void*) {}, nullptr);
  REQUIRE(said);
  CAPTURE(*said);
  const cli::TunedProblem again = cli::parse_problem(*said);
  const Desc& read = std::get<Desc>(again.desc);
  if (again.backend.empty())
    PlanType::tune(read, again.options);
  else
    PlanType::tune(Context(again.backend, {.threads = again.threads}), read, again.options);
  CHECK(plan().describe().ends_with(kFrom));
  tessera_set_verbose_callback(nullptr, nullptr);
  wisdom::forget();
}

void check_product(const GemmDesc& desc, const PlanOptions& options = {}) { check_said<GemmPlan>(desc, options); }
void check_stencil(const StencilDesc& desc) { check_said<StencilPlan>(desc); }

}  // namespace

TEST_CASE("products are said so that they can be read back", "[tune]") {
  need_backend();
  GemmDesc d{.m = 5, .n = 4, .k = 3};
  check_product(d);
  d.order = Order::column_major, d.trans_a = Transpose::yes;
  check_product(d);
  d = {.m = 5, .n = 4, .k = 3, .dtype = DType::f64, .trans_b = Transpose::yes, .batch = 3, .stride_b = 0};
  d.lda = 8, d.ldb = 9, d.ldc = 10;
  check_product(d);
  d = {.m = 5, .n = 4, .k = 3, .dtype = DType::bf16, .batch = 2, .dtype_d = DType::f32, .ldd = 7};
  d.activation = Activation::gelu_tanh, d.bias = Bias::per_row, d.bias_increment = 2, d.bias_stride = 20;
  check_product(d);
  d.order = Order::column_major, d.dtype_bias = DType::f32, d.ldd = 8;
  check_product(d, {.workspace_limit = 12345, .sm_limit = 77});
  check_product({.m = 64, .n = 64, .k = 64, .compute = Compute::tf32});
  d = {.m = 5, .n = 5, .k = 3, .triangle = Triangle::upper};
  check_product(d);
  d.order = Order::column_major, d.triangle = Triangle::lower;
  check_product(d);
  d = {.m = 5, .n = 4, .k = 3, .trans_a = Transpose::yes, .lda = 9, .batch = 2, .sums = Sums::ordered};
  check_product(d);
  d.order = Order::column_major, d.ldb = 8, d.bias = Bias::per_row;
  check_product(d);
  d.dtype_b = DType::bf16, d.whole_n = 77;
  check_product(d);
  check_product({.m = 1, .n = 1, .k = 1, .lda = 100, .batch = 1});
}

TEST_CASE("stencils are said so that they can be read back", "[tune]") {
  need_backend();
  const BoundarySide low(Boundary::constant, 1.5), third(Boundary::constant, -1.0 / 3.0),
      infinite(Boundary::constant, -std::numeric_limits<double>::infinity());
  const Taps two = taps::laplacian(2, 2);
  check_stencil({.extents = {40}, .taps = taps::laplacian(1, 4)});
  check_stencil(
      {.extents = {6, 7, 8}, .taps = taps::box(3, 1), .boundary = Boundary::periodic, .steps = 4, .dtype = DType::f64});
  check_stencil({.extents = {6, 7}, .taps = two, .steps = 0});
  check_stencil({.extents = {6, 7},
                 .taps = two,
                 .boundary = {BoundaryAxis(low, Boundary::mirror), BoundaryAxis(third)},
                 .dtype = DType::f16,
                 .in_strides = {1, 6},
                 .out_strides = {7, 1}});
  check_stencil({.extents = {6, 7}, .taps = taps::laplacian(2), .sums = Sums::ordered});
  check_stencil({.extents = {9}, .taps = taps::laplacian(1, 2), .boundary = infinite});
  check_stencil({.extents = {9, 9}, .taps = taps::laplacian(2, 4), .boundary = Boundary::halo});
}

TEST_CASE("where and how a plan was wanted is said so that it can be read back", "[tune]") {
  need_backend();
  const GemmDesc desc{.m = 8, .n = 8, .k = 8};
  for (const BackendInfo& b : tessera::backends()) {
    if (!b.available) continue;
    check_said<GemmPlan>(desc, {.algorithm = b.gemm_algorithms.front()}, b.name + ":0", 2);
    check_said<GemmPlan>(desc, {.operands = Memory::device}, b.name);
  }
}

TEST_CASE("what was tuned by words is what a program takes from wisdom", "[tune]") {
  const ComputingFolder folder;
  const Environment wise{{"TESSERA_WISDOM", folder / "w"}};
  CHECK_THAT(folder.runs("tune gemm 24x20x16 --dtype f64 --trans-b --bias column --activation gelu -o w"),
             says("gemm f64 m=24 n=20 k=16 NT row-major bias=per_column activation=gelu") && says("by the model") &&
                 says("<- taken"));
  folder.fill("m.npy", 0.5, {24, 16}), folder.fill("n.npy", 0.5, {20, 16}), folder.fill("v.npy", 1.0, {20});
  const std::string product = "gemm m.npy n.npy --trans-b --bias v.npy -o d.npy --activation ";
  CHECK_THAT(folder.runs(product + "gelu", wise), says(kFrom));
  CHECK_THAT(folder.runs(product + "gelu"), says("| estimated"));
  CHECK_THAT(folder.runs(product + "relu", wise), !says(kFrom));

  const std::string stencil = " --named heat:2:0.1 --boundary constant:1,mirror --steps 3 --sums ordered -o ";
  folder.fill("u.npy", 1.0f, {40, 30});
  CHECK_THAT(folder.runs("tune stencil 40x30" + stencil + "w --top 1000"), !says("leaves out"));
  CHECK_THAT(folder.runs("stencil u.npy" + stencil + "v.npy", wise), says(kFrom));
}

TEST_CASE("a limit of multiprocessors reaches what is tuned", "[tune]") {
  const Folder folder;
  const Environment fakes{{"TESSERA_BACKEND_PATH", TESSERA_TEST_PLUGINS}};
  const std::string fake = " --backend fake -o w --sm-limit 5";
  CHECK_THAT(folder.runs("tune gemm 8" + fake, fakes), says("fake:0/tuned"));
  folder.refuses("tune stencil 8 --named identity" + fake, "cannot keep to sm_limit = 5", fakes);
}

TEST_CASE("the table says how many ways it leaves out", "[tune]") {
  const ComputingFolder folder;
  const std::string said = folder.runs("tune gemm 200 -o w --top 0");
  const std::string row = ":0/", ways = " of ", more = "  and ";
  std::size_t shown = 0;
  for (std::size_t at = said.find(row); at != std::string::npos; at = said.find(row, at + 1)) ++shown;
  REQUIRE(shown >= 1);  // what is taken, and what the model takes
  CHECK_THAT(said, says(", which --top 0 leaves out"));
  const auto number_behind = [&](const std::string& text) {
    return std::stoul(said.substr(said.find(text) + text.size()));
  };
  CHECK(number_behind(more) + shown == number_behind(ways));
}

TEST_CASE("a log is tuned problem by problem, each once", "[tune]") {
  const ComputingFolder folder;
  folder.fill("u.npy", 1.0f, {12, 12});
  const std::string product = "gemm u.npy u.npy -o d.npy", stencil = "stencil u.npy --named identity -o d.npy";
  std::string said;
  for (const std::string& line : {product, stencil, product})
    said += folder.run(line, {{"TESSERA_VERBOSE", "1"}}).errors + "another line\n";
  folder.write("log", said);
  const std::string tuned = folder.runs("tune --log log -o w");
  CHECK_THAT(tuned, says("gemm f32 m=12 n=12 k=12") && says("stencil f32 12x12"));
  CHECK(tuned.find("gemm f32") == tuned.rfind("gemm f32"));
  for (const auto& line : {product, stencil})
    CHECK_THAT(folder.runs(line, {{"TESSERA_WISDOM", folder / "w"}}), says(kFrom));

  // What cannot be tuned is told of, and the rest is done.
  const std::size_t begin = said.find("problem {"), end = said.find('\n', begin);
  folder.write("mixed", said.substr(begin, (end - begin) / 2) + "\n" + said);
  folder.refuses("tune --log mixed -o w2", "the line is cut or no JSON ... 1 of 3 problems were not tuned");
  CHECK_THAT(folder.runs(product, {{"TESSERA_WISDOM", folder / "w2"}}), says(kFrom));
}

TEST_CASE("mistakes in a log's problem name the member", "[tune]") {
  const ComputingFolder folder;
  const std::string good =
      R"({"op": "stencil", "dtype": "f32", "extents": [8], "in_strides": [1], "out_strides": [1], )"
      R"("boundary": [["fixed", "fixed"]], "boundary_value": [[0, 0]], "steps": 1, "taps": [[-1, 0.5], [1, 0.5]], )"
      R"("operands": "host"})";
  for (const auto& [change, message] : failures("problems")) {
    std::string bad = good;
    const std::size_t arrow = change.find(" => ");
    bad.replace(bad.find(change.substr(0, arrow)), arrow, change.substr(arrow + 4));
    folder.write("log", "tessera: problem " + bad + "\n");
    folder.refuses("tune --log log -o w", message);
    CHECK_FALSE(std::filesystem::exists(folder / "w"));
  }
  folder.write("log", "tessera: problem " + good + "\n");
  folder.runs("tune --log log -o w");
}

TEST_CASE("wisdom is listed, checked and merged", "[tune]") {
  const ComputingFolder folder;
  folder.runs("tune gemm 8 -o a");
  folder.runs("tune gemm 9 -o b");
  CHECK_THAT(folder.runs("wisdom list a"), says("gemm f32->f32 strict 8x8x8x1 NN"));
  folder.runs("wisdom merge a b -o c");
  CHECK_THAT(folder.runs("wisdom list c"), says("strict 8x8x8x1 NN") && says("strict 9x9x9x1 NN"));
  CHECK_THAT(folder.runs("wisdom check a c"),
             says(" entries:  ...  for backends and devices here,  ...  choices among backends, 0 for others; "
                  "0 lines") &&
                 !says(": 0 for backends and devices here"));

  folder.write("bad", R"({"tessera_wisdom": 99, "problem": "x"})"
                      "\nno \x1b[31m JSON\n"
                      R"({"tessera_wisdom": 1, "problem": "p", "machine": "tessera 0.0.1, cpu", "algorithm": "q", )"
                      R"("seconds": 1, "estimated_seconds": 2})"
                      "\n");
  CHECK_THAT(folder.refuses("wisdom check bad", "2 lines cannot be read").output,
             says("1 entries: 0 for backends and devices here ... 1 for others; 2 lines ... "
                  "unreadable: no ?[31m JSON"));
  const Outcome merged = folder.run("wisdom merge bad -o c");
  CHECK(merged.exit_code == 0);
  CHECK_THAT(merged.errors, says("left out are lines that this version cannot read: 2"));
  CHECK_THAT(folder.runs("wisdom list c"), says("3 entries, 0 lines"));
  folder.refuses("wisdom list none", "No such file");
}
