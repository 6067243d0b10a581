// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Bad GEMM descriptors and operands: each is refused with the right code and a message that names the argument, its
/// value and the bound, and what was refused leaves everything usable.

#include "errors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>
#include <vector>

namespace tessera::test {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

tessera_gemm_desc good() { return tessera_packed_gemm(TESSERA_F32, 2, 3, 4); }

struct Bad {
  const char* what;
  std::function<void(tessera_gemm_desc&)> spoil;
  std::vector<std::string> parts;  ///< of the message
  tessera_status code = TESSERA_INVALID_ARGUMENT;
};

const Bad kBad[] = {
    {"negative m", [](auto& d) { d.m = -1; }, {"m", "-1", "at least 0"}},
    {"negative n", [](auto& d) { d.n = -7; }, {"n", "-7", "at least 0"}},
    {"negative k", [](auto& d) { d.k = -kMax; }, {"k", std::to_string(-kMax), "at least 0"}},
    {"negative batch", [](auto& d) { d.batch = -2; }, {"batch", "-2", "at least 0"}},
    {"lda too small", [](auto& d) { d.lda = 3; }, {"lda", "3", "4"}},
    {"ldb too small", [](auto& d) { d.ldb = 2; }, {"ldb", "2", "3"}},
    {"ldc too small", [](auto& d) { d.ldc = 0; }, {"ldc", "0", "3", "TESSERA_PACKED (kPacked)"}},
    {"negative lda", [](auto& d) { d.lda = -4; }, {"lda", "-4", "4"}},
    {"lda too small for the transpose",
     [](auto& d) { d.trans_a = TESSERA_TRANSPOSE, d.m = 5, d.lda = 4; },
     {"lda", "4", "5"}},
    {"lda too small by columns",
     [](auto& d) { d.order = TESSERA_COLUMN_MAJOR, d.m = 9, d.lda = 8; },
     {"lda", "8", "9"}},
    {"ldc too small by columns",
     [](auto& d) { d.order = TESSERA_COLUMN_MAJOR, d.m = 9, d.ldc = 8; },
     {"ldc", "8", "9"}},
    {"negative stride_a", [](auto& d) { d.batch = 2, d.stride_a = -8; }, {"stride_a", "-8", "at least 0"}},
    {"matrices of C overlap", [](auto& d) { d.batch = 2, d.stride_c = 5; }, {"stride_c", "5"}},
    {"one C for the whole batch", [](auto& d) { d.batch = 2, d.stride_c = 0; }, {"stride_c", "0", "(kPacked)"}},
    {"m x k overflows", [](auto& d) { d.m = d.k = std::int64_t{1} << 32; }, {"A", "2^63"}},
    {"k x n overflows", [](auto& d) { d.k = std::int64_t{1} << 40, d.n = std::int64_t{1} << 30; }, {"2^63"}},
    {"m x n overflows", [](auto& d) { d.m = d.n = std::int64_t{1} << 32, d.k = 1; }, {"C", "2^63"}},
    {"bytes overflow though elements do not", [](auto& d) { d.m = std::int64_t{1} << 61, d.n = d.k = 1; }, {"2^63"}},
    {"lda overflows", [](auto& d) { d.lda = kMax; }, {"lda", std::to_string(kMax)}},
    {"the batch overflows", [](auto& d) { d.batch = std::int64_t{1} << 62; }, {"batch", "2^63"}},
    {"stride_b overflows", [](auto& d) { d.batch = 3, d.stride_b = kMax / 2; }, {"2^63"}},
    {"unknown dtype", [](auto& d) { d.dtype = 99; }, {"dtype", "99", "f32"}},
    {"a complex type that is none", [](auto& d) { d.dtype = TESSERA_C128 + 1; }, {"dtype", "7", "c128 (6)"}},
    {"complex by real", [](auto& d) { d.dtype = TESSERA_C64, d.dtype_b = TESSERA_F32; }, {"dtype_b", "f32", "c64"}},
    {"real by complex", [](auto& d) { d.dtype_b = TESSERA_C64; }, {"dtype_b", "c64", "f32"}},
    {"a real D of complex factors",
     [](auto& d) { d.dtype = TESSERA_C64, d.dtype_d = TESSERA_F32; },
     {"dtype_d", "f32", "must be c64"}},
    {"a bias of complex elements",
     [](auto& d) { d.dtype = TESSERA_C64, d.bias = TESSERA_BIAS_PER_ROW; },
     {"bias = 1", "none (0) in products of c64"}},
    {"an activation of complex elements",
     [](auto& d) { d.dtype = TESSERA_C128, d.activation = TESSERA_ACTIVATION_RELU; },
     {"activation = 1", "none (0) in products of c128"}},
    {"a complex D that is mirrored",
     [](auto& d) { d.dtype = TESSERA_C64, d.n = d.m, d.triangle = TESSERA_TRIANGLE_MIRRORED; },
     {"triangle = mirrored", "Hermitian"}},
    {"c128 in other arithmetic than strict",
     [](auto& d) { d.dtype = TESSERA_C128, d.compute = TESSERA_COMPUTE_BF16X6; },
     {"compute", "bf16x6", "c128"}},
    {"unknown compute mode", [](auto& d) { d.compute = 5; }, {"compute", "5", "strict"}},
    {"unknown order", [](auto& d) { d.order = 2; }, {"order", "2", "row-major"}},
    {"unknown trans_a", [](auto& d) { d.trans_a = -1; }, {"trans_a", "-1"}},
    {"unknown trans_b", [](auto& d) { d.trans_b = 7; }, {"trans_b", "7"}},
    {"unknown sums", [](auto& d) { d.sums = 2; }, {"sums", "2", "any (0), ordered (1)"}},
    {"whole_n of sums in any order", [](auto& d) { d.whole_n = 9; }, {"whole_n", "9", "set sums = ordered (1)"}},
    {"whole_n below n",
     [](auto& d) { d.sums = TESSERA_SUMS_ORDERED, d.whole_n = d.n - 1; },
     {"whole_n", "or no less than n ="}},
    {"unknown dtype_b", [](auto& d) { d.dtype_b = 99; }, {"dtype_b", "99", "f32"}},
    {"f64 beside 16 bits", [](auto& d) { d.dtype = TESSERA_F64, d.dtype_b = TESSERA_F16; }, {"dtype_b", "f16", "f64"}},
    {"two types of 16 bits",
     [](auto& d) { d.dtype = TESSERA_BF16, d.dtype_b = TESSERA_F16; },
     {"dtype_b", "f16", "bf16"}},
    {"D of the narrower type",
     [](auto& d) { d.dtype = TESSERA_BF16, d.dtype_b = TESSERA_F32, d.dtype_d = TESSERA_BF16; },
     {"dtype_d", "bf16", "must be f32"}},
    {"f64 by parts",
     [](auto& d) { d.dtype_b = TESSERA_F32, d.dtype = TESSERA_F64, d.compute = TESSERA_COMPUTE_BF16X6; },
     {"compute", "bf16x6", "f64"}},
    {"unknown op", [](auto& d) { d.op = 12; }, {"op", "12", "TESSERA_OP_GEMM"}},
    {"struct_size 0", [](auto& d) { d.struct_size = 0; }, {"struct_size", "0"}},
    {"struct_size 3", [](auto& d) { d.struct_size = 3; }, {"struct_size", "3"}},
};

/// A GEMM plan on host arrays of its own, to see that it still works.
struct Working {
  Context context = fake();
  GemmPlan plan{context, {.m = 2, .n = 3, .k = 4}};
  std::vector<float> a = std::vector<float>(8, 1.0f), b = std::vector<float>(12, 2.0f), c = std::vector<float>(6, 0.0f);

  void check() {
    plan.execute(1.0f, a, b, 0.0f, c);
    CHECK(c == std::vector<float>(6, 8.0f));
  }
};

}  // namespace

TEST_CASE("bad GEMM descriptors are refused with the argument, its value and the bound", "[validation]") {
  Context context = fake();
  for (const Bad& bad : kBad) {
    tessera_gemm_desc desc = good();
    bad.spoil(desc);
    tessera_plan* plan = nullptr;
    ErrorText error;
    const tessera_status status =
        tessera_plan_create(context.get(), reinterpret_cast<const tessera_desc*>(&desc), nullptr, &plan, error.get());
    check_error(bad.what, status, error, bad.code, bad.parts);
    CHECK(plan == nullptr);
  }
  Working().check();
}

TEST_CASE("a size that was not set is told from a batch of -1", "[validation]") {
  Context context = fake();
  const std::vector<std::string> unset = {"a descriptor begins with -1"};
  check_throws("no k", ErrorCode::invalid_argument, unset, [&] { GemmPlan(context, {.m = 2, .n = 2}); });
  try {
    GemmPlan(context, {.m = 2, .n = 2, .k = 2, .batch = -1});
    FAIL("a batch of -1 was taken");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "batch = -1: must be at least 0");
  }
}

TEST_CASE("a C without elements may have any stride", "[validation]") {
  Context context = fake();
  for (const GemmDesc& desc : {GemmDesc{.m = 0, .n = 3, .k = 4, .batch = 2, .stride_c = 0},
                               GemmDesc{.m = 3, .n = 0, .k = 4, .ldc = 3, .batch = 5, .stride_c = 1},
                               GemmDesc{.m = 3, .n = 3, .k = 4, .batch = 0, .stride_c = 0}}) {
    GemmPlan plan(context, desc);
    const std::vector<float> a(120, 1.0f), b(120, 1.0f);
    std::vector<float> c;
    plan.execute(1, a, b, 0, c);
    gemm(context, desc, 1, a, b, 0, c);
  }
}

TEST_CASE("a descriptor of a newer version is taken only if its new fields are zero", "[validation]") {
  Context context = fake();
  struct {
    tessera_gemm_desc known;
    std::int64_t later[3];
  } desc{good(), {0, 0, 0}};
  desc.known.struct_size = sizeof desc;
  const auto create = [&](ErrorText& error) {
    tessera_plan* plan = nullptr;
    const tessera_status status =
        tessera_plan_create(context.get(), reinterpret_cast<const tessera_desc*>(&desc), nullptr, &plan, error.get());
    tessera_plan_destroy(plan);
    return status;
  };
  ErrorText fine;
  CHECK(create(fine) == TESSERA_OK);
  desc.later[2] = 1;
  ErrorText error;
  check_error("a field that is not known", create(error), error, TESSERA_UNSUPPORTED, {"GEMM descriptor", "newer"});
}

TEST_CASE("a descriptor of an older version means what it meant", "[validation]") {
  // One that ends before `batch` has batch 0: nothing to do, but legal.
  Context context = fake();
  tessera_gemm_desc desc = good();
  desc.struct_size = offsetof(tessera_gemm_desc, batch);
  desc.batch = desc.stride_a = desc.stride_b = desc.stride_c = -99;  // beyond the size: not to be read
  tessera_plan* plan = nullptr;
  ErrorText error;
  CHECK(tessera_plan_create(context.get(), reinterpret_cast<const tessera_desc*>(&desc), nullptr, &plan, error.get()) ==
        TESSERA_OK);
  tessera_plan_destroy(plan);
}

TEST_CASE("bad operands of a GEMM are refused, and the plan works on", "[validation]") {
  Working w;
  const auto refused = [&](const char* what, auto&& body, const std::vector<std::string>& parts) {
    check_throws(what, ErrorCode::invalid_argument, parts, body);
    w.check();
  };
  float* const none = nullptr;
  refused("null A", [&] { w.plan.execute(1, none, w.b.data(), 0, w.c.data()); }, {"a", "null", "8"});
  refused("null B", [&] { w.plan.execute(1, w.a.data(), none, 0, w.c.data()); }, {"b", "null", "12"});
  refused("null C", [&] { w.plan.execute(1, w.a.data(), w.b.data(), 0, none); }, {"c", "null", "6"});
  refused("null C with alpha 0", [&] { w.plan.execute(0, none, none, 0, none); }, {"c", "null"});
  refused("C is A", [&] { w.plan.execute(1, w.a.data(), w.b.data(), 0, w.a.data()); }, {"c", "overlaps a"});
  refused("C overlaps B's end", [&] { w.plan.execute(1, w.a.data(), w.b.data(), 0, w.b.data() + 11); },
          {"c", "overlaps b"});
  refused("a misaligned pointer",
          [&] {
            w.plan.execute(1, reinterpret_cast<float*>(reinterpret_cast<char*>(w.a.data()) + 2), w.b.data(), 0,
                           w.c.data());
          },
          {"a", "aligned", "4 bytes"});
  std::vector<double> doubles(12);
  refused("doubles for a plan of floats", [&] { w.plan.execute(1, doubles.data(), doubles.data(), 0, doubles.data()); },
          {"dtype", "f32"});
  const std::vector<float> small(7);
  refused("a short span", [&] { w.plan.execute(1.0f, small, w.b, 0.0f, w.c); }, {"a", "7", "8"});
  std::vector<float> short_c(5);
  refused("a short C", [&] { w.plan.execute(1.0f, w.a, w.b, 0.0f, short_c); }, {"c", "5", "6"});
}

TEST_CASE("operands that need not exist may be null", "[validation]") {
  Working w;
  float* const none = nullptr;
  w.plan.execute(0, none, none, 0, w.c.data());
  CHECK(w.c == std::vector<float>(6, 0.0f));
  GemmPlan no_k(w.context, {.m = 2, .n = 3, .k = 0});
  w.c.assign(6, 1.0f);
  no_k.execute(1, none, none, 3, w.c.data());
  CHECK(w.c == std::vector<float>(6, 3.0f));
  GemmPlan(w.context, {.m = 0, .n = 3, .k = 4}).execute(1, none, none, 0, none);
  GemmPlan(w.context, {.m = 2, .n = 0, .k = 4}).execute(1, none, none, 0, none);
  GemmPlan(w.context, {.m = 2, .n = 3, .k = 4, .batch = 0}).execute(1, none, none, 0, none);
}

TEST_CASE("blocks of one parent array are legal, and one shared element is not", "[validation]") {
  // Interleaved blocks of an 8 x 8 parent: A = top left, B = top right, C = bottom left, all with ld 8.
  Context context = fake();
  std::vector<float> parent(64, 1.0f);
  GemmPlan plan(context, {.m = 4, .n = 4, .k = 4, .lda = 8, .ldb = 8, .ldc = 8});
  plan.execute(1, &parent[0], &parent[4], 0, &parent[32]);
  CHECK(parent[32] == 4.0f);
  CHECK(parent[36] == 1.0f);
  plan.execute(1, &parent[0], &parent[32], 0, &parent[4]);  // C between the rows of A
  CHECK(parent[4] == 16.0f);
  check_throws("one column shared", ErrorCode::invalid_argument, {"c", "overlaps a"},
               [&] { plan.execute(1, &parent[0], &parent[36], 0, &parent[3]); });
  check_throws("one element shared", ErrorCode::invalid_argument, {"c", "overlaps a"},
               [&] { plan.execute(1, &parent[0], &parent[4], 0, &parent[27]); });
  plan.execute(1, &parent[0], &parent[0], 0, &parent[36]);  // A and B may share
}

TEST_CASE("bad executions through the C interface", "[validation]") {
  Working w;
  tessera_operand operands[3] = {{w.a.data(), TESSERA_F32, TESSERA_ROLE_A},
                                 {w.b.data(), TESSERA_F32, TESSERA_ROLE_B},
                                 {w.c.data(), TESSERA_F32, TESSERA_ROLE_C}};
  tessera_scalar scalars[2] = {{TESSERA_F32, 0, 1.0, 0.0}, {TESSERA_F32, 0, 0.0, 0.0}};
  const tessera_execution fine{sizeof fine, operands, sizeof *operands, 3, scalars, sizeof *scalars, 2, nullptr, 0, 0};
  const auto refused = [&](const char* what, auto&& spoil, const std::vector<std::string>& parts) {
    tessera_execution e = fine;
    spoil(e);
    ErrorText error;
    check_error(what, tessera_plan_execute(w.plan.get(), &e, error.get()), error, TESSERA_INVALID_ARGUMENT, parts);
  };
  CHECK(tessera_plan_execute(w.plan.get(), &fine, nullptr) == TESSERA_OK);
  refused("two operands", [](auto& e) { e.operand_count = 2; },
          {"operand_count = 2: must be 3 (a, b, c), or 4 with d where D is another matrix than C"});
  refused("no operands", [](auto& e) { e.operands = nullptr; }, {"operands", "null"});
  refused("one scalar", [](auto& e) { e.scalar_count = 1; }, {"scalar_count = 1: must be 2 (alpha, beta)"});
  refused("no scalars", [](auto& e) { e.scalars = nullptr; }, {"scalars", "null"});
  refused("short operands", [](auto& e) { e.operand_size = 8; }, {"operand_size", "8"});
  refused("a workspace", [&](auto& e) { e.workspace = w.c.data(); }, {"workspace"});
  refused("struct_size 0", [](auto& e) { e.struct_size = 0; }, {"struct_size", "0"});
  scalars[1].dtype = TESSERA_F64;
  refused("a scalar of another type", [](auto&) {}, {"beta is of type f64", "f32"});
  scalars[1].dtype = TESSERA_F32;
  ErrorText error;
  check_error("no execution", tessera_plan_execute(w.plan.get(), nullptr, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"null"});
  check_error("no plan", tessera_plan_execute(nullptr, &fine, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"plan", "null"});
  w.check();
}

}  // namespace tessera::test
