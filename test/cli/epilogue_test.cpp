// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What a product adds and applies, and the types of its files. Products of small integers, compared bit for bit.

#include "element_numbers.hpp"
#include "npy_file.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using tessera::bfloat16;
using tessera::float16;

namespace {

constexpr std::int64_t kM = 5, kN = 4, kK = 3;

template <class T>
std::vector<T> integers(std::int64_t count, int step) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number<T>(double((i * step) % 7 - 3)));
  return values;
}

/// Files of A, B, C0 and biases of either length, of matrices of T and a product of D.
template <class T, class D = T>
class Workplace {
 public:
  Workplace() {
    write_npy(path("a.npy"), a_, {kM, kK});
    write_npy(path("b.npy"), b_, {kK, kN});
    write_npy(path("c.npy"), c_, {kM, kN}, true);
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }

  Outcome run(std::vector<std::string> arguments) const {
    for (std::string& argument : arguments)
      if (argument.ends_with(".npy")) argument = path(argument);
    arguments.insert(arguments.begin(), {"gemm", path("a.npy"), path("b.npy"), "-o", path("d.npy")});
    return tessera_run(arguments);
  }

  void check(const std::vector<std::string>& arguments, bool with_c, const std::vector<double>& row_bias,
             const std::vector<double>& column_bias, double (*activation)(double)) const {
    const Outcome outcome = run(arguments);
    CAPTURE(arguments, outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const std::vector<D> d = read_npy<D>(path("d.npy"), {kM, kN});
    REQUIRE(d.size() == std::size_t(kM * kN));
    for (std::int64_t i = 0; i < kM; ++i)
      for (std::int64_t j = 0; j < kN; ++j) {
        double value = with_c ? 2.0 * double(wide(c_[std::size_t(i * kN + j)])) : 0.0;
        for (std::int64_t p = 0; p < kK; ++p)
          value += double(wide(a_[std::size_t(i * kK + p)])) * double(wide(b_[std::size_t(p * kN + j)]));
        if (!row_bias.empty()) value += row_bias[std::size_t(i)];
        if (!column_bias.empty()) value += column_bias[std::size_t(j)];
        CHECK(double(wide(d[std::size_t(i * kN + j)])) == double(stored<D>(activation(value))));
      }
  }

  void check_fails(const std::vector<std::string>& arguments, int exit_code, const std::string& message) const {
    const Outcome outcome = run(arguments);
    CAPTURE(arguments);
    CHECK(outcome.exit_code == exit_code);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(path("d.npy")));
  }

 private:
  TemporaryDirectory folder_;
  std::vector<T> a_ = integers<T>(kM * kK, 3), b_ = integers<T>(kK * kN, 5);
  std::vector<D> c_ = integers<D>(kM * kN, 2);
};

double same(double x) { return x; }
double relu(double x) { return std::max(x, 0.0); }

}  // namespace

TEST_CASE("a bias for each row or column, C0 beside the output, an activation", "[epilogue]") {
  need_backend();
  const Workplace<float> w;
  write_npy<float>(w.path("m.npy"), {1, -2, 3, -4, 5}, {kM});
  write_npy<float>(w.path("n.npy"), {1, -20, 3, -4}, {kN});
  const std::vector<double> by_row{1, -2, 3, -4, 5}, by_column{1, -20, 3, -4};
  w.check({"--bias", "n.npy"}, false, {}, by_column, same);
  w.check({"--bias", "n.npy", "--bias-axis", "column", "--activation", "relu"}, false, {}, by_column, relu);
  w.check({"--bias", "m.npy", "--bias-axis", "row"}, false, by_row, {}, same);
  w.check({"--bias", "m.npy", "--bias-axis", "row", "--c", "c.npy", "--beta", "2", "--activation", "relu"}, true,
          by_row, {}, relu);
  w.check({"--activation", "none"}, false, {}, {}, same);
}

TEST_CASE("each activation by name", "[epilogue]") {
  need_backend();
  const TemporaryDirectory folder;
  const std::string x = folder.path() / "x.npy", one = folder.path() / "one.npy", d = folder.path() / "d.npy";
  write_npy<double>(x, {-1.5, 0.5, 2}, {3, 1});
  write_npy<double>(one, {1}, {1, 1});
  const std::pair<std::string, double (*)(double)> rows[] = {
      {"relu", relu},
      {"gelu", [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }},
      {"gelu_tanh", [](double v) { return v / 2 * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))); }},
      {"silu", [](double v) { return v / (1 + std::exp(-v)); }},
      {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"tanh", [](double v) { return std::tanh(v); }}};
  for (const auto& [name, function] : rows) {
    const Outcome outcome = tessera_run({"gemm", x, one, "-o", d, "--activation", name});
    CAPTURE(name, outcome.errors);
    CHECK_THAT(outcome.output, ContainsSubstring("activation=" + name));
    const std::vector<double> result = read_npy<double>(d, {3, 1});
    REQUIRE(result.size() == 3);
    const double values[] = {-1.5, 0.5, 2};
    // Values of size 2 at most, each from a few functions of relative error 2^-53; the names' results differ by 1e-4.
    for (int i = 0; i < 3; ++i) CHECK(std::abs(result[std::size_t(i)] - function(values[i])) < 32 * 0x1p-53);
  }
}

TEMPLATE_TEST_CASE("16 bits: the product in 16 or 32, with a bias of either", "[epilogue]", float16, bfloat16) {
  need_backend();
  const bool is_bf16 = std::is_same_v<TestType, bfloat16>;
  std::vector<std::string> arguments{"--bias", "n.npy", "--c", "c.npy", "--beta", "2"};
  if (is_bf16) arguments.insert(arguments.end(), {"--dtype", "bf16"});
  std::vector<TestType> narrow;
  for (const double x : {1.5, -20.0, 3.0, -4.0}) narrow.push_back(number<TestType>(x));
  SECTION("as it is read") {
    const Workplace<TestType> w;
    write_npy(w.path("n.npy"), narrow, {kN});
    w.check(arguments, true, {}, {1.5, -20, 3, -4}, same);
    // A value that neither type of 16 bits has.
    write_npy<float>(w.path("n.npy"), {0x1.0004p4f, -20, 3, -4}, {kN});
    w.check(arguments, true, {}, {0x1.0004p4, -20, 3, -4}, same);
  }
  SECTION("in f32") {
    const Workplace<TestType, float> w;
    arguments.insert(arguments.end(), {"--output-type", "f32"});
    write_npy(w.path("n.npy"), narrow, {kN});
    w.check(arguments, true, {}, {1.5, -20, 3, -4}, same);
    write_npy<float>(w.path("n.npy"), {0x1.0004p4f, -20, 3, -4}, {kN});
    w.check(arguments, true, {}, {0x1.0004p4, -20, 3, -4}, same);
  }
}

TEST_CASE("a type for the files that they do not have", "[epilogue]") {
  need_backend();
  const Workplace<float, float16> w;
  w.check({"--dtype", "f16"}, false, {}, {}, same);
  const Workplace<float, double> wider;
  wider.check({"--dtype", "f64"}, false, {}, {}, same);
  CHECK_THAT(wider.run({"--dtype", "f64"}).output,
             ContainsSubstring("A read as 5 x 3 <f4, B read as 3 x 4 <f4, computed in f64, written as f64\n"));
}

TEST_CASE("arithmetic that is accepted", "[epilogue]") {
  need_backend();
  const Workplace<float> w;
  for (const std::string mode : {"tf32", "bf16x6", "f16x3"})
    CHECK_THAT(w.run({"--compute", mode}).output, ContainsSubstring("compute=" + mode));
  w.check({"--compute", "strict"}, false, {}, {}, same);
  w.check({"--compute", "default"}, false, {}, {}, same);
  const Workplace<float16> narrow;
  narrow.check_fails({"--compute", "tf32"}, 1, "compute = tf32: products of f32 alone have it; the type is f16");
  narrow.check_fails({"--compute", "fast"}, 2, "--compute: 'fast' is unknown; there are default|strict|bf16x6|f16x3");
}

TEST_CASE("biases, types and activations that do not fit", "[epilogue]") {
  const Workplace<float> w;
  write_npy<float>(w.path("m.npy"), std::vector<float>(kM, 1), {kM});
  write_npy<float>(w.path("six.npy"), std::vector<float>(6, 1), {6});
  write_npy<float>(w.path("matrix.npy"), std::vector<float>(kN, 1), {1, kN});
  write_npy<double>(w.path("double.npy"), std::vector<double>(kN, 1), {kN});
  w.check_fails({"--bias", "m.npy"}, 1,
                "5 values; --bias-axis column adds one to each column of the product, which "
                "has 4: --bias-axis row fits");
  w.check_fails({"--bias", "six.npy", "--bias-axis", "row"}, 1, "6 values; --bias-axis row adds one to each row of");
  w.check_fails({"--bias", "matrix.npy"}, 1, "an array of 2 axes (1 x 4 <f4); expected a bias, a vector, which has 1");
  w.check_fails({"--bias", "double.npy"}, 1, "holds a bias of type f64; expected f32, as A and B");
  w.check_fails({"--bias-axis", "row"}, 2, "--bias");
  w.check_fails({"--bias", "m.npy", "--bias-axis", "both"}, 2, "--bias-axis: 'both' is unknown; there are row|column");
  w.check_fails({"--activation", "swish"}, 2, "--activation: 'swish' is unknown; there are none|relu|gelu|gelu_tanh|");
  w.check_fails({"--dtype", "half"}, 2, "--dtype: 'half' is not a type; there are f32, f64, f16, bf16");
  w.check_fails({"--output-type", "f64"}, 1, "--output-type = f64: the product of f32 is written as f32; --dtype says");
  w.check_fails({"--dtype", "bf16", "--output-type", "f16"}, 1, "the product of bf16 is written as bf16 or f32;");
  w.check_fails({"--dtype", "f64", "--alpha", "1e999"}, 2, "--alpha");
  w.check_fails({"--dtype", "bf16", "--alpha", "1e39"}, 1, "--alpha = 1e+39: must be finite when rounded to f32");
  const Workplace<float16> narrow;
  narrow.check_fails({"--c", "c.npy", "--output-type", "f32"}, 1,
                     "<f2, Fortran order; the product is f32, and C0 must");
  const Workplace<bfloat16> bits;
  bits.check_fails({}, 1, "'<u2' that are the bits of bfloat16 are read with --dtype bf16");
}
