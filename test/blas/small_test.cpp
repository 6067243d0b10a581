// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Small products without a plan, by BLAS's names and in one call of C and C++: the bits of plans, and who gets a plan.

#include "process.hpp"
#include "random_calls.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <span>
#include <string>

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);

namespace {

using namespace tessera::test;
using tessera::Context;
using tessera::GemmDesc;
using tessera::GemmPlan;
using tessera::kDType;

const std::vector<double> kMany(64, 1.0);
const double* const kOnes = kMany.data();

tessera_gemm_desc in_c(const GemmDesc& d, tessera::DType type) {
  tessera_gemm_desc c = tessera_packed_gemm(tessera_dtype(type), d.m, d.n, d.k);
  c.order = tessera_order(d.order);
  c.trans_a = tessera_transpose(d.trans_a), c.trans_b = tessera_transpose(d.trans_b);
  c.lda = d.lda, c.ldb = d.ldb, c.ldc = d.ldc;
  return c;
}

/// The product by a plan of the algorithm; nothing where that refuses it.
template <class T>
std::vector<T> planned(const Context& context, Operands<T>& o, const char* algorithm) {
  o.c.restore(o.before);
  try {
    GemmPlan(context, o.desc, {.algorithm = algorithm}).execute(o.alpha, o.a.data(), o.b.data(), o.beta, o.c.data());
  } catch (const tessera::Error& error) {
    if (error.code() != tessera::ErrorCode::unsupported) throw;
    return {};
  }
  return o.c.copy();
}

/// The product in every form but that without a plan.
template <class T>
std::vector<std::pair<std::string, std::function<void()>>> forms(const Operands<T>& o, const tessera_gemm_desc& desc) {
  std::vector<std::pair<std::string, std::function<void()>>> list = {
      {"tessera_gemm",
       [&] {
         REQUIRE(tessera_gemm(nullptr, &desc, o.alpha, o.a.data(), o.b.data(), o.beta, o.c.data(), nullptr) ==
                 TESSERA_OK);
       }},
      {"pointers", [&] { tessera::gemm(o.desc, o.alpha, o.a.data(), o.b.data(), o.beta, o.c.data()); }},
      {"ranges", [&] {
         const auto range = [](const auto& x) { return std::span(x.data(), std::size_t(x.size())); };
         tessera::gemm(o.desc, o.alpha, range(o.a), range(o.b), o.beta, range(o.c));
       }}};
  const bool row_major = o.desc.order == tessera::Order::row_major;
  for (const Entry<T>& entry : entries<T>(kLetter<T>))
    if (entry.form == Form::single && (entry.c_interface || !row_major))
      list.emplace_back(entry.name, [&o, entry, row_major] {
        Call<T> call{row_major ? kRowMajor : kColumnMajor, {group_of(o.desc, o.alpha, o.beta)}, 1};
        o.append_to(call.groups.front());
        entry(call);
      });
  return list;
}

/// Plans that were borrowed from the cache.
std::uint64_t borrowed() {
  const auto info = tessera::plan_cache::info();
  return info.found + info.made;
}

/// How many of three ways take a plan to multiply matrices of ones, of a shape that was never seen before.
std::uint64_t ways_with_a_plan(Context* context = nullptr) {
  static int ld = 8;
  ++ld;
  const std::vector<double> ones(std::size_t(8 * ld), 1.0);
  std::vector<double> c(ones.size());
  GemmDesc d{.m = 8, .n = 8, .k = 8, .lda = ld, .ldb = ld, .ldc = ld};
  const tessera_gemm_desc desc = in_c(d, tessera::DType::f64);
  const std::uint64_t before = borrowed();
  const auto check = [&] {
    REQUIRE(c[std::size_t(7 * ld + 7)] == 8.0);
    c.assign(c.size(), 0.0);
  };
  REQUIRE(tessera_gemm(context == nullptr ? nullptr : context->get(), &desc, 1.0, ones.data(), ones.data(), 0.0,
                       c.data(), nullptr) == TESSERA_OK);
  check();
  context == nullptr ? tessera::gemm(d, 1.0, ones, ones, 0.0, c) : tessera::gemm(*context, d, 1.0, ones, ones, 0.0, c);
  check();
  const int n = 8;
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, ones.data(), &ld, ones.data(), &ld, &zero, c.data(), &ld);
  check();
  return borrowed() - before;
}

}  // namespace

TEMPLATE_TEST_CASE("small products have the bits of plans, in every form", "[blas]", float, double) {
  using T = TestType;
  Context cpu("cpu");
  int with_a_function = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string stream = std::string("small ") + tessera::name_of(kDType<T>) + " " + std::to_string(i);
    INFO("TESSERA_TEST_SEED=" << seed() << ", product " << stream);
    Random random(stream);
    GemmDesc d = draw(random, i % 2 == 0, i % 4 == 0 ? 280 : i % 4 == 1 ? 70 : i % 4 == 2 ? 34 : 9, 1);
    if (i % 4 == 3) (i % 8 == 3 ? d.n : d.k) = random.integer(250, 1100), d.lda = d.ldb = d.ldc = 1100;  // long ones
    d.dtype = kDType<T>, d.stride_a = d.stride_b = d.stride_c = tessera::kPacked;
    Operands<T> o(random, d, T(scalar(random)), T(scalar(random)));
    const tessera_gemm_desc desc = in_c(d, d.dtype);
    std::vector<T> expected = planned(cpu, o, "small");
    const bool is_small = d.m > 0 && d.n > 0 && d.k > 0 && o.alpha != T(0) && !expected.empty();
    if (!is_small) expected = planned(cpu, o, "");
    o.c.restore(o.before);
    const bool done = tessera_small_gemm(nullptr, &desc, o.alpha, o.a.data(), o.b.data(), o.beta, o.c.data(), nullptr);
    REQUIRE(done == is_small);
    REQUIRE(o.c.same_bits(done ? expected : o.before));
    with_a_function += done;
    for (const auto& [name, call] : forms(o, desc)) {
      INFO(name);
      o.c.restore(o.before);
      const std::uint64_t before = borrowed();
      call();
      REQUIRE(o.c.same_bits(expected));
      REQUIRE(o.c.surroundings_intact());
      if (done) REQUIRE(borrowed() == before);
    }
  }
  REQUIRE(with_a_function > 200);
}

TEST_CASE("small products take a plan where something is said about plans", "[blas]") {
  REQUIRE(ways_with_a_plan() == 0);
  const struct {
    const char *name, *value;
    bool says;
  } variables[] = {{"TESSERA_VERBOSE", "1", true},
                   {"TESSERA_VERBOSE", "0", false},
                   {"TESSERA_GEMM_ALGORITHM", "direct", true},
                   {"TESSERA_GEMM_ALGORITHM", "cpu/reference", true},
                   {"TESSERA_STENCIL_ALGORITHM", "rows", false},
                   {"TESSERA_GEMM_COMPUTE", "tf32", true},
                   {"TESSERA_GEMM_COMPUTE", "strict", false},
                   {"TESSERA_PLAN_EFFORT", "estimate", false},
                   {"TESSERA_WISDOM", "/nowhere/wisdom", true},
                   {"TESSERA_BACKEND", "fake", true},
                   {"TESSERA_BACKEND", "cpu", false},
                   {"TESSERA_BACKEND", "cpu:0", false},
                   {"TESSERA_BACKEND", "auto", false},
                   {"TESSERA_SM_LIMIT", "100", false},
                   {"TESSERA_NUM_THREADS", "3", false}};
  std::vector<std::string> lines;
  tessera_set_verbose_callback(
      [](const char* line, void* to) { static_cast<std::vector<std::string>*>(to)->push_back(line); }, &lines);
  for (const auto& [name, value, says] : variables) {
    INFO(name << "=" << value);
    lines.clear();
    {
      const ScopedVariable variable(name, value);
      CHECK(ways_with_a_plan() == (says ? 3 : 0));
      CHECK(lines.empty() == (std::string(name) != "TESSERA_VERBOSE" || !says));
    }
    CHECK(ways_with_a_plan() == 0);
  }
  tessera_set_verbose_callback(nullptr, nullptr);
}

TEST_CASE("small products take a plan where there is wisdom", "[blas]") {
  GemmPlan measured({.m = 16, .n = 16, .k = 16}, {.effort = tessera::Effort::measure});
  CHECK(ways_with_a_plan() == 3);
  const TemporaryDirectory directory;
  const std::string file = directory.path() / "wisdom";
  tessera::wisdom::save(file);
  tessera::wisdom::forget();
  CHECK(ways_with_a_plan() == 0);
  tessera::wisdom::load(file);
  CHECK(ways_with_a_plan() == 3);
  tessera::wisdom::forget();
  {
    const ScopedVariable named("TESSERA_WISDOM", file);
    const GemmPlan reads({.m = 16, .n = 16, .k = 16});
  }
  CHECK(ways_with_a_plan() == 3);
  tessera::wisdom::forget();
  const ScopedVariable variable("TESSERA_PLAN_EFFORT", "measure");
  CHECK(ways_with_a_plan() == 3);
  tessera::wisdom::forget();
}

TEST_CASE("an environment in which nothing can run refuses small products, too", "[blas]") {
  const struct {
    const char *name, *value;
    tessera_status status;
  } variables[] = {{"TESSERA_BACKEND", "no: thing", TESSERA_INVALID_ARGUMENT},
                   {"TESSERA_BACKEND", "nothing", TESSERA_BACKEND_UNAVAILABLE},
                   {"TESSERA_BACKEND", "cpu:1", TESSERA_BACKEND_UNAVAILABLE},
                   {"TESSERA_NUM_THREADS", "two", TESSERA_INVALID_ARGUMENT},
                   {"TESSERA_SM_LIMIT", "two", TESSERA_INVALID_ARGUMENT},
                   {"TESSERA_GEMM_ALGORITHM", "no: thing", TESSERA_INVALID_ARGUMENT}};
  const tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, 1, 1, 1);
  for (const auto& [name, value, status] : variables) {
    INFO(name << "=" << value);
    const ScopedVariable variable(name, value);
    for (int call = 0; call < 2; ++call) {
      double c = 3;
      CHECK(tessera_gemm(nullptr, &desc, 1.0, kOnes, kOnes, 0.0, &c, nullptr) == status);
      CHECK(c == 3);
    }
  }
  CHECK(ways_with_a_plan() == 0);
}

TEST_CASE("a context's small products are its own backend's", "[blas]") {
  Context cpu("cpu"), fake("fake");
  CHECK(ways_with_a_plan(&cpu) == 0);
  CHECK(ways_with_a_plan(&fake) == 2);  // dgemm_ has none
  {
    const ScopedVariable variable("TESSERA_BACKEND", "fake");
    CHECK(ways_with_a_plan(&cpu) == 3);
  }
  const Context gone = std::move(cpu);
  std::vector<double> c(1);
  CHECK_THROWS_AS(tessera::gemm(cpu, {.m = 1, .n = 1, .k = 1}, 1, kOnes, kOnes, 0, c), tessera::Error);
}

namespace {

/// The first element of an m x n product that no plan makes, else -1: plans of the plugin write nothing.
template <class T>
T first_of_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tessera_gemm_desc desc = tessera_packed_gemm(tessera_dtype(kDType<T>), m, n, k);
  const std::vector<T> ones(2048, T(1));
  std::vector<T> c(2048, T(-1));
  const std::uint64_t before = borrowed();
  REQUIRE(tessera_gemm(nullptr, &desc, 1, ones.data(), ones.data(), 0, c.data(), nullptr) == TESSERA_OK);
  REQUIRE((borrowed() == before) == (c[0] != T(-1)));
  return c[0];
}

}  // namespace

TEST_CASE("a plugin is asked once, for two types, and takes what it said", "[blas]") {
  for (int round = 0; round < 3; ++round) {
    const ScopedVariable variable("TESSERA_BACKEND", "smallgemm");
    CHECK(first_of_product<float>(8, 1, 8) == 2);
    CHECK(first_of_product<float>(5, 5, 4) == 2);
    CHECK(first_of_product<double>(1024, 1, 1) == 2);
    CHECK(first_of_product<float>(9, 1, 8) == -1);
    CHECK(first_of_product<float>(8, 1, 9) == -1);
    CHECK(first_of_product<float>(1, 9, 1) == -1);
    CHECK(first_of_product<float>(5, 5, 5) == -1);
    CHECK(first_of_product<double>(1025, 1, 1) == -1);
  }
}

TEST_CASE("a plugin without the function makes plans", "[blas]") {
  for (const char* name : {"oldtable", "secondoffer"}) {
    INFO(name);
    const ScopedVariable variable("TESSERA_BACKEND", name);
    CHECK(first_of_product<double>(2, 2, 2) == -1);
  }
}

namespace {

struct Arguments {
  std::vector<double> memory = std::vector<double>(300, 1.0);
  tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, 4, 3, 5);
  const double *a = kOnes, *b = kOnes;
  double* c = memory.data() + 200;

  bool small() const { return tessera_small_gemm(nullptr, &desc, 1.0, a, b, 0.0, c, nullptr) != 0; }
  /// Status and message.
  std::string told() const {
    char text[512] = "";
    tessera_error error{sizeof error, TESSERA_OK, 0, text, sizeof text};
    const tessera_status status = tessera_gemm(nullptr, &desc, 1.0, a, b, 0.0, c, &error);
    return std::to_string(status) + " " + text;
  }
};

/// Half an element further.
template <class T>
void misalign(T*& pointer) {
  pointer = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + sizeof(T) / 2);
}

void (*const kFaults[])(Arguments&) = {[](Arguments& x) { x.a = nullptr; },
                                       [](Arguments& x) { x.b = nullptr; },
                                       [](Arguments& x) { x.c = nullptr; },
                                       [](Arguments& x) { misalign(x.a); },
                                       [](Arguments& x) { misalign(x.b); },
                                       [](Arguments& x) { misalign(x.c); },
                                       [](Arguments& x) { x.desc.lda = 4; },
                                       [](Arguments& x) { x.desc.ldb = 2; },
                                       [](Arguments& x) { x.desc.ldc = 0; },
                                       [](Arguments& x) { x.desc.trans_a = TESSERA_TRANSPOSE, x.desc.lda = 3; },
                                       [](Arguments& x) { x.desc.order = TESSERA_COLUMN_MAJOR, x.desc.ldc = 3; },
                                       [](Arguments& x) { x.desc.lda = INT64_MAX; },
                                       [](Arguments& x) { x.desc.m = -1; },
                                       [](Arguments& x) { x.desc.n = -2; },
                                       [](Arguments& x) { x.desc.k = INT64_MIN; },
                                       [](Arguments& x) { x.desc.order = 2; },
                                       [](Arguments& x) { x.desc.trans_b = 4; },
                                       [](Arguments& x) { x.desc.dtype = 9; },
                                       [](Arguments& x) { x.desc.dtype_d = TESSERA_F32; },
                                       [](Arguments& x) { x.desc.op = TESSERA_OP_STENCIL; },
                                       [](Arguments& x) { x.desc.struct_size = 4; },
                                       [](Arguments& x) { x.desc.compute = TESSERA_COMPUTE_TF32; },
                                       [](Arguments& x) { x.desc.bias = 3; },
                                       [](Arguments& x) { x.desc.activation = -1; },
                                       [](Arguments& x) { x.desc.batch = -1; },
                                       [](Arguments& x) { x.desc.stride_c = -7; },
                                       [](Arguments& x) { x.desc.ldd = 2; },
                                       [](Arguments& x) { x.a = x.c; },
                                       [](Arguments& x) { x.b = x.c + 11; },
                                       [](Arguments& x) { x.a = x.c - 19; },
                                       [](Arguments& x) { x.desc.ldb = x.desc.ldc = 10, x.b = x.c - 38; }};

}  // namespace

TEST_CASE("what is wrong with a small product is told as by a plan", "[blas]") {
  REQUIRE(Arguments().small());
  for (const auto& fault : kFaults) {
    INFO("fault " << &fault - kFaults);
    Arguments x;
    fault(x);
    CHECK_FALSE(x.small());
    const std::string found = x.told();
    CHECK_FALSE(found.starts_with("0"));
    const ScopedVariable variable("TESSERA_GEMM_ALGORITHM", "small");
    CHECK(found == x.told());
    CHECK(x.memory == std::vector<double>(300, 1.0));
  }
  CHECK(tessera_small_gemm(nullptr, nullptr, 1.0, kOnes, kOnes, 0.0, nullptr, nullptr) == 0);
}

TEST_CASE("ranges of a small product are checked", "[blas]") {
  std::vector<double> c(12);
  const auto message = [&](std::size_t of_a, std::size_t of_b, std::size_t of_c) -> std::string {
    try {
      tessera::gemm({.m = 4, .n = 3, .k = 5, .order = tessera::Order::column_major}, 1.0, std::span(kOnes, of_a),
                    std::span(kOnes, of_b), 0.0, std::span(c).first(of_c));
    } catch (const tessera::Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(20, 15, 12) == "");
  CHECK(c == std::vector<double>(12, 5.0));
  CHECK(message(19, 15, 12) == "a has 19 elements; the plan needs 20");
  CHECK(message(20, 14, 12) == "b has 14 elements; the plan needs 15");
  CHECK(message(20, 15, 11) == "c has 11 elements; the plan needs 12");
}

TEST_CASE("blocks of one array are multiplied without a plan", "[blas]") {
  std::vector<double> parent(60, 1.0);  // 6 columns of 10: A, B beside it, C below
  tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, 3, 2, 3);
  desc.order = TESSERA_COLUMN_MAJOR, desc.lda = desc.ldb = desc.ldc = 10;
  REQUIRE(tessera_small_gemm(nullptr, &desc, 1, parent.data(), parent.data() + 30, 0, parent.data() + 3, nullptr) == 1);
  CHECK(std::count(parent.begin(), parent.end(), 3.0) == 6);
}

TEST_CASE("what is more than a plain product takes a plan", "[blas]") {
  std::vector<double> c(64), d(64);
  const auto takes = [](auto&& call) {
    const std::uint64_t before = borrowed();
    call();
    return borrowed() > before;
  };
  const GemmDesc plain{.m = 2, .n = 2, .k = 2};
  GemmDesc batch = plain, relu = plain;
  batch.batch = 2, relu.activation = tessera::Activation::relu;
  CHECK_FALSE(takes([&] { tessera::gemm(plain, 1, kOnes, kOnes, 0, c); }));
  CHECK(takes([&] { tessera::gemm(batch, 1, kOnes, kOnes, 0, c); }));
  CHECK(takes([&] { tessera::gemm(relu, 1, kOnes, kOnes, 0, c); }));
  CHECK(takes([&] { tessera::gemm(plain, 0, kOnes, kOnes, 0, c); }));
  CHECK(takes([&] { tessera::gemm(plain, 1, kOnes, kOnes, 0, c, d); }));
  CHECK(takes([&] { tessera::gemm(plain, 1, kOnes, kOnes, 0, c, tessera::PlanOptions{.algorithm = "direct"}); }));
  const std::vector<tessera::float16> half(4);
  std::vector<tessera::float16> half_c(4);
  CHECK(takes([&] { tessera::gemm(plain, 1, half, half, 0, half_c); }));
  const float one = 1;  // alpha is 0 in f32, so that A and B are not read
  float out = 5;
  const tessera_gemm_desc f32 = tessera_packed_gemm(TESSERA_F32, 1, 1, 1);
  CHECK(tessera_small_gemm(nullptr, &f32, 1e-60, &one, &one, 0, &out, nullptr) == 0);
}
