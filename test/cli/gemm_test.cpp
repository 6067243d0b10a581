// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of small integers, which are exact: compared bit for bit.

#include "folder.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::int64_t kM = 5, kN = 4, kK = 7;

/// What a product has beside A and B.
struct Rest {
  double alpha = 1, beta = 0;
  Bias axis = Bias::none;
  std::vector<double> bias = {};
  Activation activation = Activation::none;
};

/// Files of A, B and C0, of matrices of T and a product of D.
template <class T, class D = T>
struct Product : ComputingFolder {
  std::vector<T> a = integers<T>({kM, kK}, 3), b = integers<T>({kK, kN}, 5);
  std::vector<D> c = integers<D>({kM, kN}, 7);

  Product() {
    write_npy("a.npy", a, {kM, kK});
    write_npy("b.npy", b, {kK, kN});
    write_npy("c.npy", c, {kM, kN}, true);
  }
  /// Runs with these options, and compares with the reference. Returns what is printed.
  std::string check(const std::string& options, const Rest& rest = {}) const {
    using S = Scalar<D>;
    const std::string type = std::is_same_v<T, bfloat16> ? " --dtype bf16" : "";
    const std::string output = runs("gemm a.npy b.npy -o d.npy " + options + type);
    CAPTURE(options);
    const GemmDesc desc{.m = kM,
                        .n = kN,
                        .k = kK,
                        .dtype = kDType<T>,
                        .dtype_d = kDType<D>,
                        .bias = rest.axis,
                        .activation = rest.activation};
    const auto values =
        gemm_reference<T, D>(desc, S(rest.alpha), a.data(), b.data(), S(rest.beta), c.data(), true, rest.bias).value;
    check_npy<D>("d.npy", {kM, kN}, values);
    return output;
  }
};

template <class T>
std::vector<T> transposed(const std::vector<T>& x, std::int64_t rows, std::int64_t columns) {
  return fortran(x, {rows, columns});  // the same elements, read as columns x rows in C order
}

}  // namespace

TEMPLATE_TEST_CASE("files in either order, transposed or not", "[gemm]", float, double, float16, bfloat16) {
  const bool fortran_a = GENERATE(false, true), fortran_b = GENERATE(false, true);
  const bool trans_a = GENERATE(false, true), trans_b = GENERATE(false, true);
  CAPTURE(fortran_a, fortran_b, trans_a, trans_b);
  const Product<TestType> p;
  if (trans_a) p.write_npy("a.npy", transposed(p.a, kM, kK), {kK, kM}, fortran_a);
  if (!trans_a) p.write_npy("a.npy", p.a, {kM, kK}, fortran_a);
  if (trans_b) p.write_npy("b.npy", transposed(p.b, kK, kN), {kN, kK}, fortran_b);
  if (!trans_b) p.write_npy("b.npy", p.b, {kK, kN}, fortran_b);
  const std::string said = p.check(std::string(trans_a ? "--trans-a " : "") + (trans_b ? "--trans-b" : ""));
  CHECK(said.starts_with("gemm "));
  CHECK_THAT(said, says(" ms ...  GFLOP/s,  ...  GB/s\n"));
  CHECK((said.find("\n") + 1 == said.size()) != std::is_same_v<TestType, bfloat16>);
  if (std::is_same_v<TestType, bfloat16>)
    CHECK_THAT(said, says("A read as  ... <u2 as bf16 ... , B  ... , computed in bf16, written as bf16 in <u2\n"));
  CHECK(p.names() == std::vector<std::string>{"a.npy", "b.npy", "c.npy", "d.npy", "old.npy"});
}

TEST_CASE("alpha, beta and C0, which may be the output as well", "[gemm]") {
  const bool fortran_c = GENERATE(false, true);
  const Product<double> p;
  p.write_npy("d.npy", p.c, {kM, kN}, fortran_c);
  SECTION("beta is 1 by default") { p.check("--c d.npy --alpha -2", {.alpha = -2, .beta = 1}); }
  SECTION("beta is given") { p.check("--c d.npy --alpha -2 --beta 3", {.alpha = -2, .beta = 3}); }
}

TEST_CASE("all versions of the format, and header texts that numpy reads too", "[gemm]") {
  const Product<float> p;
  const std::string elements(reinterpret_cast<const char*>(p.a.data()), p.a.size() * sizeof(float));
  std::vector<std::string> headers = {npy_header("{\"shape\":(5,7),\"fortran_order\":False,\"descr\":\"<f4\"}"),
                                      npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (5L, 7L,),}")};
  for (const int version : {1, 2, 3}) headers.push_back(npy_header("<f4", false, {kM, kK}, version));
  for (const std::string& header : headers) {
    p.write("a.npy", header + elements);
    p.check("");
  }
}

TEST_CASE("every backend and algorithm by name", "[gemm]") {
  const Product<float> p;
  int done = 0;
  for (const auto& backend : listed_backends()) {
    if (!backend.at("available").get<bool>()) continue;
    for (const std::string algorithm : backend.at("algorithms").at("gemm")) {
      const std::string options = "--backend " + backend.at("name").get<std::string>() + " --algorithm " + algorithm;
      const Outcome outcome = p.run("gemm a.npy b.npy -o d.npy " + options);
      if (outcome.exit_code == 1 && outcome.errors.find("refuses it") != std::string::npos) continue;
      CHECK_THAT(p.check(options), says(algorithm));
      ++done;
    }
  }
  CHECK(done > 0);
}

TEST_CASE("a bias for each row or column, C0 beside the output, an activation", "[gemm]") {
  const Product<float> p;
  const std::vector<double> by_row{1, -2, 3, -4, 5}, by_column{1, -20, 3, -4};
  p.write_npy<float>("m.npy", {1, -2, 3, -4, 5}, {kM});
  p.write_npy<float>("n.npy", {1, -20, 3, -4}, {kN});
  const Activation relu = Activation::relu;
  p.check("--bias n.npy", {.axis = Bias::per_column, .bias = by_column});
  p.check("--bias n.npy --bias-axis column --activation relu",
          {.axis = Bias::per_column, .bias = by_column, .activation = relu});
  p.check("--bias m.npy --bias-axis row", {.axis = Bias::per_row, .bias = by_row});
  p.check("--bias m.npy --bias-axis row --c c.npy --beta 2 --activation relu",
          {.beta = 2, .axis = Bias::per_row, .bias = by_row, .activation = relu});
  p.check("--activation none");
}

TEST_CASE("each activation by name", "[gemm]") {
  const ComputingFolder folder;
  const std::vector<double> x{-1.5, 0.5, 2};
  folder.write_npy("x.npy", x, {3, 1});
  folder.write_npy<double>("one.npy", {1}, {1, 1});
  const std::pair<std::string, double (*)(double)> rows[] = {
      {"relu", [](double v) { return std::max(v, 0.0); }},
      {"gelu", [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }},
      {"gelu_tanh", [](double v) { return v / 2 * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))); }},
      {"silu", [](double v) { return v / (1 + std::exp(-v)); }},
      {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"tanh", [](double v) { return std::tanh(v); }}};
  for (const auto& [name, function] : rows) {
    CHECK_THAT(folder.runs("gemm x.npy one.npy -o d.npy --activation " + name), says("activation=" + name));
    const std::vector<double> result = folder.read_npy<double>("d.npy", {3, 1});
    REQUIRE(result.size() == 3);
    // Values of size 2 at most, each from a few functions of relative error 2^-53; the names' results differ by 1e-4.
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(result[i] - function(x[i])) < 32 * 0x1p-53);
  }
}

TEMPLATE_TEST_CASE("16 bits: the product in 16 or 32, with a bias of either", "[gemm]", float16, bfloat16) {
  std::vector<TestType> narrow;
  for (const double x : {1.5, -20.0, 3.0, -4.0}) narrow.push_back(number<TestType>(x));
  const auto check = [&](const auto& p, const std::string& options) {
    const auto with = [&](double first) {
      p.check("--bias n.npy --c c.npy --beta 2" + options,
              {.beta = 2, .axis = Bias::per_column, .bias = {first, -20, 3, -4}});
    };
    p.write_npy("n.npy", narrow, {kN});
    with(1.5);
    p.template write_npy<float>("n.npy", {0x1.0004p4f, -20, 3, -4}, {kN});
    with(0x1.0004p4);  // which neither type of 16 bits has
  };
  SECTION("as it is read") { check(Product<TestType>(), ""); }
  SECTION("in f32") { check(Product<TestType, float>(), " --output-type f32"); }
}

TEMPLATE_TEST_CASE("matrices of two types", "[gemm]", float16, bfloat16) {
  const Product<float> p;
  const auto b = integers<TestType>({kK, kN}, 5);
  p.write_npy("b.npy", b, {kK, kN});
  const bool bits = std::is_same_v<TestType, bfloat16>;  // of which NumPy has no files
  p.runs(std::string("gemm a.npy b.npy -o d.npy") + (bits ? " --dtype f32 --dtype-b bf16" : ""));
  const GemmDesc desc{.m = kM, .n = kN, .k = kK, .dtype = DType::f32, .dtype_b = kDType<TestType>};
  const auto expected =
      gemm_reference<float, float, TestType>(desc, 1.0f, p.a.data(), b.data(), 0.0f, p.c.data(), true);
  p.check_npy<float>("d.npy", {kM, kN}, expected.value);
}

TEST_CASE("a type for the files that they do not have", "[gemm]") {
  const Product<float> p;
  p.runs("gemm a.npy b.npy -o narrow.npy --dtype f16");
  p.runs("gemm a.npy b.npy -o wide.npy --dtype f64");
  const Product<float16> narrow;
  const Product<double> wider;
  narrow.check("");
  wider.check("");
  CHECK(p.read("narrow.npy") == narrow.read("d.npy"));
  CHECK(p.read("wide.npy") == wider.read("d.npy"));
  CHECK_THAT(p.runs("gemm a.npy b.npy -o d.npy --dtype f64"),
             says("A read as 5 x 7 <f4, B read as 7 x 4 <f4, computed in f64, written as f64\n"));
}

TEST_CASE("arithmetic that is accepted", "[gemm]") {
  const Product<float> p;
  for (const std::string mode : {"tf32", "bf16x6", "f16x3"})
    CHECK_THAT(p.runs("gemm a.npy b.npy -o d.npy --compute " + mode), says("compute=" + mode));
  p.check("--compute strict");
  p.check("--compute default");
}

TEST_CASE("a triangle is computed, and the rest is C0's or 0", "[gemm]") {
  const ComputingFolder folder;
  const std::vector<double> a = integers<double>({3, 4}, 3), c = integers<double>({3, 3}, 5);
  folder.write_npy("a.npy", a, {3, 4});
  folder.write_npy("c.npy", c, {3, 3});
  const GemmDesc desc{.m = 3, .n = 3, .k = 4, .dtype = DType::f64, .trans_b = Transpose::yes};
  const auto expected = [&](double beta, bool lower, bool upper) {
    auto value = gemm_reference<double>(desc, 1.0, a.data(), a.data(), beta, c.data(), true).value;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        if ((j < i && !lower) || (j > i && !upper)) value[3 * i + j] = beta * c[3 * i + j];
    return value;
  };
  folder.runs("gemm a.npy a.npy --trans-b -o d.npy --triangle lower");
  folder.check_npy<double>("d.npy", {3, 3}, expected(0, true, false));
  folder.runs("gemm a.npy a.npy --trans-b --c c.npy -o d.npy --triangle upper");
  folder.check_npy<double>("d.npy", {3, 3}, expected(1, false, true));
  folder.runs("gemm a.npy a.npy --trans-b -o d.npy --triangle mirrored");
  folder.check_npy<double>("d.npy", {3, 3}, expected(0, true, true));
}
