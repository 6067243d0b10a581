// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Types, D beside C, bias, activation and accepted arithmetic: bad ones are refused with the argument, its value and
/// the bound, good ones work on an emulated device, and the environment's arithmetic is taken where it may be.

#include "errors.hpp"

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

struct Bad {
  const char* what;
  std::function<void(GemmDesc&)> spoil;
  std::vector<std::string> parts;  ///< of the message
};

constexpr std::int64_t kHuge = std::int64_t{1} << 61;

const Bad kBad[] = {
    {"D of 16 bits beside f32", [](auto& d) { d.dtype_d = DType::f16; }, {"dtype_d = f16", "must be f32"}},
    {"D of the other type of 16 bits",
     [](auto& d) { d.dtype = DType::f16, d.dtype_d = DType::bf16; },
     {"dtype_d = bf16", "must be f16", "or f32"}},
    {"D of f64", [](auto& d) { d.dtype = DType::bf16, d.dtype_d = DType::f64; }, {"dtype_d = f64", "or f32"}},
    {"no type of D", [](auto& d) { d.dtype_d = DType(9); }, {"dtype_d = 9", "f16 (3)"}},
    {"a bias of 16 bits beside f32", [](auto& d) { d.dtype_bias = DType::f16; }, {"dtype_bias = f16", "must be f32"}},
    {"a bias of 16 bits beside D of f32",
     [](auto& d) { d.dtype = DType::f16, d.dtype_d = DType::f32, d.dtype_bias = DType::f16; },
     {"dtype_bias = f16", "must be f32, the type of D"}},
    {"no such bias", [](auto& d) { d.bias = Bias(5); }, {"bias = 5", "per column (2)"}},
    {"no such aux", [](auto& d) { d.activation = Activation::relu, d.aux = Aux(3); }, {"aux = 3", "derivative (2)"}},
    {"aux without an activation", [](auto& d) { d.aux = Aux::store; }, {"aux = 1", "set activation, too"}},
    {"ldaux too small",
     [](auto& d) { d.activation = Activation::relu, d.aux = Aux::store, d.ldaux = 2; },
     {"ldaux = 2", "at least 3"}},
    {"matrices of aux overlap",
     [](auto& d) { d.activation = Activation::relu, d.aux = Aux::store, d.batch = 2, d.stride_aux = 0; },
     {"stride_aux = 0", "overlap in aux"}},
    {"values of a gradient overlap",
     [](auto& d) { d.bias = Bias::gradient_per_row, d.bias_increment = 2, d.bias_stride = 2, d.batch = 2; },
     {"bias_stride = 2", "its own element"}},
    {"no such triangle", [](auto& d) { d.triangle = Triangle(4); }, {"triangle = 4", "mirrored (3)"}},
    {"a triangle that is not square",
     [](auto& d) { d.triangle = Triangle::upper; },
     {"triangle = upper", "m = 2, n = 3"}},
    {"aux of a triangle",
     [](auto& d) { d.m = d.n, d.triangle = Triangle::lower, d.activation = Activation::relu, d.aux = Aux::store; },
     {"aux = 1", "none (0) beside a triangle"}},
    {"the gradient of a bias beside a triangle",
     [](auto& d) { d.m = d.n, d.triangle = Triangle::lower, d.bias = Bias::gradient_per_row; },
     {"bias = 3", "no gradient beside a triangle"}},
    {"a bias of a mirrored D",
     [](auto& d) { d.m = d.n, d.triangle = Triangle::mirrored, d.bias = Bias::per_row; },
     {"bias = 1", "triangle = mirrored (3)"}},
    {"no such activation", [](auto& d) { d.activation = Activation(7); }, {"activation = 7", "tanh (6)"}},
    {"values of the bias backwards", [](auto& d) { d.bias_increment = -1; }, {"bias_increment = -1", "at least 0"}},
    {"biases backwards", [](auto& d) { d.bias_stride = -4; }, {"bias_stride = -4", "at least 0"}},
    {"a bias of too many bytes", [](auto& d) { d.bias_increment = kHuge; }, {"bias_increment", "2^63"}},
    {"ldd too small", [](auto& d) { d.ldd = 2; }, {"ldd = 2", "at least 3"}},
    {"ldd too small by columns", [](auto& d) { d.order = Order::column_major, d.ldd = 1; }, {"ldd = 1", "at least 2"}},
    {"matrices of D overlap",
     [](auto& d) { d.batch = 2, d.stride_d = 5; },
     {"stride_d = 5", "overlap in D", "kPacked"}},
    {"D of too many bytes", [](auto& d) { d.ldd = kHuge; }, {"D", "2^63"}},
    {"less exact than f64",
     [](auto& d) { d.dtype = DType::f64, d.compute = Compute::tf32; },
     {"compute = tf32", "f64", "must be strict"}},
    {"less exact than 16 bits",
     [](auto& d) { d.dtype = DType::bf16, d.compute = Compute::bf16x6; },
     {"compute = bf16x6", "bf16", "must be strict"}},
};

GemmDesc good() { return {.m = 2, .n = 3, .k = 4, .bias = Bias::per_column}; }

/// A product on host arrays of its own, which an emulated device computes: D = A B + C + bias.
struct Working {
  Context context = fake();
  GemmPlan plan{context, good()};
  std::vector<float> a = std::vector<float>(8, 1.0f), b = std::vector<float>(12, 2.0f), c = std::vector<float>(6, 3.0f),
                     d = std::vector<float>(6), v = {10.0f, 20.0f, 30.0f};

  void check() {
    plan.execute(1, a, b, 1, c, d, bias(v));
    CHECK(d == std::vector<float>{21, 31, 41, 21, 31, 41});
  }
};

/// "compute=tf32" of a plan's description; "" where there is none.
std::string compute_of(const Plan& plan) {
  const std::string line = plan.describe(), key = "compute=";
  const auto at = line.find(key);
  return at == std::string::npos ? "" : line.substr(at, line.find(' ', at) - at);
}

}  // namespace

TEST_CASE("bad types, biases, activations and distances of D are refused", "[validation]") {
  Context context = fake();
  for (const Bad& bad : kBad) {
    GemmDesc desc = good();
    bad.spoil(desc);
    check_throws(bad.what, ErrorCode::invalid_argument, bad.parts, [&] { GemmPlan plan(context, desc); });
  }
  Working().check();
}

TEST_CASE("what says nothing of a product without a bias is not looked at", "[validation]") {
  Context context = fake();
  GemmDesc desc{.m = 2, .n = 3, .k = 4};
  desc.dtype_bias = DType(77), desc.bias_increment = -5, desc.bias_stride = -5;
  CHECK_NOTHROW(GemmPlan(context, desc));
}

TEST_CASE("aux without a leading dimension has no gaps, and nor have its matrices", "[validation]") {
  Context context = fake();
  GemmDesc desc{.m = 2, .n = 3, .k = 1, .batch = 2, .activation = Activation::relu};
  desc.aux = Aux::store, desc.ldaux = 0, desc.stride_aux = 0;
  const std::vector<float> a(4, -1.0f), b(6, 2.0f);
  std::vector<float> c(12), z(12);
  GemmPlan(context, desc).execute(1, a, b, 0, c, aux(z));
  CHECK(z == std::vector<float>(12, -2.0f));
}

TEST_CASE("bad operands beside A, B and C are refused, and the plan works on", "[validation]") {
  Working w;
  const auto refused = [&](const char* what, const std::vector<std::string>& parts, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, parts, body);
    w.check();
  };
  const float* const none = nullptr;
  float* const nowhere = nullptr;
  std::vector<double> doubles(6);
  GemmPlan plain(w.context, {.m = 2, .n = 3, .k = 4});
  refused("no bias", {"bias is missing", "pass bias(values)"}, [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.d); });
  refused("a bias for a plan without", {"bias is given, the plan takes none: set .bias"},
          [&] { plain.execute(1, w.a, w.b, 1, w.c, bias(w.v)); });
  refused("a null bias", {"bias", "null"}, [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.d, bias(none)); });
  refused("a short bias", {"bias has 2 elements", "3"},
          [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.d, bias(std::vector<float>(2))); });
  refused("a bias of doubles", {"bias is of type f64, the plan takes f32: pass f32"},
          [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.d, bias(doubles)); });
  refused("a null D", {"d", "null"}, [&] { w.plan.execute(1, w.a, w.b, 1, w.c, nowhere, bias(w.v)); });
  refused("C is read and null", {"c", "null"}, [&] { w.plan.execute(1, w.a, w.b, 1, none, w.d, bias(w.v)); });
  refused("D is A", {"d", "overlaps a"}, [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.a.data(), bias(w.v)); });
  refused("D shares a part of C", {"d", "overlaps c"},
          [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.c.data() + 1, bias(w.v)); });
  refused("D shares the bias", {"d", "overlaps bias"},
          [&] { w.plan.execute(1, w.a, w.b, 1, w.c, w.d, bias(w.d.data() + 3)); });
  refused("C, where D is, shares the bias", {"c", "overlaps bias"},
          [&] { w.plan.execute(1, w.a, w.b, 0, w.d, bias(w.d.data())); });
  GemmDesc apart = good();
  apart.ldd = 5;
  GemmPlan plan(w.context, apart);
  std::vector<float> memory(10, 3.0f);
  refused("D is C with another ld", {"d", "ldd or stride_d"},
          [&] { plan.execute(1, w.a, w.b, 1, memory, memory, bias(w.v)); });
}

TEST_CASE("aux and the gradient of a bias are written where they are due, and bad ones are refused", "[validation]") {
  Context context = fake();
  GemmDesc desc{.m = 2, .n = 3, .k = 4, .activation = Activation::relu, .aux = Aux::store};
  std::vector<float> a(8, 1.0f), b(12, 2.0f), c = {-9, -8, -7, 1, 2, 3}, d(6), z(6), v(3);
  GemmPlan stores(context, desc);
  desc.aux = Aux::derivative, desc.bias = Bias::gradient_per_column;
  GemmPlan derives(context, desc);
  const auto check = [&] {
    stores.execute(1, a, b, 1, c, d, aux(z));
    CHECK(z == std::vector<float>{-1, 0, 1, 9, 10, 11});
    CHECK(d == std::vector<float>{0, 0, 1, 9, 10, 11});
    derives.execute(0, nullptr, nullptr, 2, c, d, bias_gradient(v), aux(std::as_const(z)));
    CHECK(d == std::vector<float>{0, 0, -14, 2, 4, 6});
    CHECK(v == std::vector<float>{2, 4, -8});
  };
  check();
  const auto refused = [&](const char* what, const std::vector<std::string>& parts, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, parts, body);
    check();
  };
  refused("no aux", {"aux is missing", "pass aux(matrix)"}, [&] { stores.execute(1, a, b, 1, c, d); });
  refused("a const aux", {"aux is const", "writes it"},
          [&] { stores.execute(1, a, b, 1, c, d, aux(std::as_const(z))); });
  refused("a short aux", {"aux has 5 elements", "6"},
          [&] { stores.execute(1, a, b, 1, c, d, aux(std::vector<float>(5))); });
  refused("aux is D", {"aux", "overlaps d"}, [&] { stores.execute(1, a, b, 1, c, d, aux(d)); });
  refused("aux is C", {"aux", "overlaps c"}, [&] { stores.execute(1, a, b, 1, c, d, aux(c)); });
  refused("aux is A", {"aux", "overlaps a"}, [&] { stores.execute(1, a, b, 1, c, d, aux(a.data())); });
  refused("a bias that is read", {"bias is to be written", "bias_gradient(values)"},
          [&] { derives.execute(1, a, b, 1, c, d, bias(v), aux(z)); });
  refused("the gradient is in D", {"bias", "overlaps d"},
          [&] { derives.execute(1, a, b, 1, c, d, bias_gradient(d.data()), aux(z)); });
  refused("D is aux", {"d", "overlaps aux"},
          [&] { derives.execute(1, a, b, 1, c, z.data(), bias_gradient(v), aux(z)); });
  check_throws("an algorithm without aux", ErrorCode::unsupported, {"picky", "takes no bias and no activation"},
               [&] { GemmPlan plan(context, desc, {.algorithm = "picky"}); });
}

TEST_CASE("the gradient of a bias of a product without elements is 0", "[validation]") {
  Context context = fake();
  float* const nowhere = nullptr;
  for (const Memory memory : {Memory::host, Memory::device}) {
    GemmPlan none(context, {.m = 0, .n = 3, .k = 4, .batch = 2, .bias = Bias::gradient_per_column, .bias_increment = 2},
                  {.operands = memory});
    Buffer<float> buffer(context, 6);
    std::vector<float> values(6, 7.0f);
    buffer.upload(values);
    if (memory == Memory::host)
      none.execute(1, nullptr, nullptr, 0, nowhere, bias_gradient(values));
    else
      none.execute(1, nullptr, nullptr, 0, nowhere, bias_gradient(buffer));
    if (memory == Memory::device) buffer.download(values);
    CHECK(values == std::vector<float>{0, 7, 0, 7, 0, 7});
  }
}

TEST_CASE("operands may come in any order, each role once", "[validation]") {
  Working w;
  tessera_operand operands[] = {{w.v.data(), TESSERA_F32, TESSERA_ROLE_BIAS},
                                {w.d.data(), TESSERA_F32, TESSERA_ROLE_D},
                                {w.b.data(), TESSERA_F32, TESSERA_ROLE_B},
                                {w.a.data(), TESSERA_F32, TESSERA_ROLE_A},
                                {w.c.data(), TESSERA_F32, TESSERA_ROLE_C}};
  const tessera_scalar scalars[] = {{TESSERA_F32, 0, 2.0, 0.0}, {TESSERA_F32, 0, 1.0, 0.0}};
  const tessera_execution execution{sizeof execution, operands, sizeof *operands, 5, scalars,
                                    sizeof *scalars,  2,        nullptr,          0, 0};
  ErrorText error;
  CHECK(tessera_plan_execute(w.plan.get(), &execution, error.get()) == TESSERA_OK);
  CHECK(w.d[2] == 49.0f);
  operands[0].role = TESSERA_ROLE_A;
  check_error("A twice", tessera_plan_execute(w.plan.get(), &execution, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"operand a", "given twice"});
  operands[0].role = TESSERA_ROLE_IN;
  check_error("a stencil's", tessera_plan_execute(w.plan.get(), &execution, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"role = 16", "5 (bias)"});
}

TEST_CASE("an algorithm that does not take a type, a bias or an activation says so", "[validation]") {
  Context context = fake();
  GemmDesc narrow{.m = 2, .n = 2, .k = 2, .dtype = DType::bf16};
  check_throws("16 bits", ErrorCode::unsupported, {"picky", "takes f32 and f64, not bf16", "plain"},
               [&] { GemmPlan plan(context, narrow, {.algorithm = "picky"}); });
  GemmDesc with_relu{.m = 2, .n = 2, .k = 2};
  with_relu.activation = Activation::relu;
  check_throws("relu", ErrorCode::unsupported, {"picky", "takes no bias and no activation", "plain"},
               [&] { GemmPlan plan(context, with_relu, {.algorithm = "picky"}); });
  check_throws(
      "ordered sums", ErrorCode::unsupported, {"picky", "adds the products in an order of its own", "plain"},
      [&] { GemmPlan plan(context, {.m = 2, .n = 2, .k = 2, .sums = Sums::ordered}, {.algorithm = "picky"}); });
  check_throws("stencils of 16 bits", ErrorCode::unsupported, {"takes f32 and f64, not f16"},
               [&] { StencilPlan plan(context, {.extents = {4}, .taps = taps::identity(1), .dtype = DType::f16}); });
}

TEST_CASE("one call takes its types from the arrays", "[one call]") {
  Context context = fake();
  const std::vector<bfloat16> a(4, bfloat16(0.5f)), b(4, bfloat16(3.0f));
  std::vector<float> sums(4);
  gemm(context, {.m = 2, .n = 2, .k = 2}, 1, a, b, 0, sums);
  CHECK(sums[3] == 3.0f);
  GemmDesc desc{.m = 2, .n = 2, .k = 2, .bias = Bias::per_row};
  std::vector<bfloat16> d(4);
  gemm(context, desc, 1, a, b, 1, std::vector<bfloat16>(4, bfloat16(1.0f)), d, bias(std::vector<float>{0.0f, -4.0f}));
  CHECK(float(d[1]) == 4.0f);
  CHECK(float(d[2]) == 0.0f);
}

TEST_CASE("coefficients of 16-bit fields are f32", "[validation]") {
  Context context("fake");
  StencilDesc desc{.extents = {4}, .taps = 1e6 * taps::identity(1), .dtype = DType::f16};
  check_throws("beyond f16", ErrorCode::unsupported, {"takes f32 and f64"}, [&] { StencilPlan plan(context, desc); });
  desc.taps = 1e39 * taps::identity(1);
  check_throws("beyond f32", ErrorCode::invalid_argument, {"coefficient = 1e+39", "finite when rounded to f32"},
               [&] { StencilPlan plan(context, desc); });
}

TEST_CASE("TESSERA_GEMM_COMPUTE speaks for products of f32 that say nothing", "[environment]") {
  Context context = fake();
  const GemmDesc desc{.m = 2, .n = 2, .k = 2};
  const auto plan = [&](auto&& change) {
    GemmDesc changed = desc;
    change(changed);
    return compute_of(GemmPlan(context, changed));
  };
  const auto nothing = [](GemmDesc&) {};
  CHECK(plan(nothing) == "");
  for (const char* mode : {"strict", "bf16x6", "f16x3", "tf32"}) {
    const ScopedVariable variable("TESSERA_GEMM_COMPUTE", mode);
    const std::string said = std::string(mode) == "strict" ? "" : std::string("compute=") + mode;
    CHECK(plan(nothing) == said);
    CHECK(plan([](GemmDesc& d) { d.compute = Compute::strict; }) == "");
    CHECK(plan([](GemmDesc& d) { d.compute = Compute::bf16x6; }) == "compute=bf16x6");
    for (const DType other : {DType::f64, DType::f16, DType::bf16})
      CHECK(plan([&](GemmDesc& d) { d.dtype = other; }) == "");
  }
  const ScopedVariable variable("TESSERA_GEMM_COMPUTE", "fast");
  check_throws("no such mode", ErrorCode::invalid_argument,
               {"TESSERA_GEMM_COMPUTE = 'fast'", "strict, bf16x6, f16x3, tf32"}, [&] { plan(nothing); });
  CHECK_NOTHROW(StencilPlan(context, {.extents = {4}, .taps = taps::identity(1)}));  // not its business
}

}  // namespace tessera::test
