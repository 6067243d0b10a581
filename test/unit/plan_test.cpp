// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What a plan promises of itself: one execution at a time, clones, what its operands may be, what it says.

#include "errors.hpp"

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace tessera::test {

namespace {

const GemmDesc kSmall{.m = 2, .n = 2, .k = 2};
const float kOnes[4] = {1, 1, 1, 1};

/// Sets a callback while it lives; the lines arrive with a level of 2.
class Listener {
 public:
  using Callback = void (*)(const char*, void*);
  Listener(Callback callback, void* user) { tessera_set_verbose_callback(callback, user); }
  ~Listener() { tessera_set_verbose_callback(nullptr, nullptr); }

 private:
  ScopedVariable level_{"TESSERA_VERBOSE", "2"};
};

}  // namespace

TEST_CASE("a plan refuses a second execution before the first has returned", "[plan]") {
  struct Again {
    GemmPlan* plan = nullptr;
    int refused = 0, lines = 0;
  } again;
  const Listener listener(
      [](const char*, void* user) {
        Again& a = *static_cast<Again*>(user);
        ++a.lines;
        if (a.plan == nullptr) return;
        float c[4];
        check_throws("a second execution", ErrorCode::invalid_argument, {"plan", "has not returned", "clone"},
                     [&] { a.plan->execute(1, kOnes, kOnes, 0, c); });
        ++a.refused;
      },
      &again);
  Context context = fake();
  GemmPlan plan(context, kSmall);
  again.plan = &plan;  // its executions speak before they return
  float c[4] = {};
  plan.execute(1, kOnes, kOnes, 0, c);
  CHECK(again.refused == 1);
  CHECK(c[3] == 2);
  plan.execute(2, kOnes, kOnes, 0, c);  // and it stays usable
  CHECK(c[3] == 4);
  CHECK(again.lines == 4);
}

TEST_CASE("two threads on one plan: each execution is right or refused", "[plan]") {
  Context context = fake();
  GemmPlan plan(context, {.m = 16, .n = 16, .k = 16});
  std::atomic<int> wrong{0}, right{0};
  const auto work = [&](float value) {
    const std::vector<float> a(256, value), b(256, 1.0f);
    for (int i = 0; i < 300; ++i) {
      std::vector<float> c(256, -1.0f);
      try {
        plan.execute(1.0f, a, b, 0.0f, c);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument || c != std::vector<float>(256, -1.0f)) ++wrong;
        continue;
      }
      ++(c == std::vector<float>(256, 16 * value) ? right : wrong);
    }
  };
  std::thread other(work, 2.0f);
  work(3.0f);
  other.join();
  CHECK(wrong == 0);
  CHECK(right > 0);
}

TEST_CASE("a clone runs the same algorithm in a workspace of its own", "[plan]") {
  Context context = fake();
  GemmPlan plan(context, kSmall, {.algorithm = "tuned:tile=8,split=3"});
  GemmPlan clone = plan.clone();
  CHECK(clone.algorithm() == plan.algorithm());
  CHECK(clone.describe() == plan.describe());
  CHECK(clone.workspace_bytes() == 3 * 4096);
  float c[4] = {};
  { const GemmPlan gone = std::move(plan); }
  clone.execute(1, kOnes, kOnes, 0, c);
  CHECK(c[0] == 2);
  const StencilPlan sweep(context, {.extents = {3}, .taps = taps::identity(1), .steps = 3});
  CHECK(sweep.clone().describe() == sweep.describe());
  check_throws("nothing to clone", ErrorCode::invalid_argument, {"plan", "null"}, [&] { plan.clone(); });
  ErrorText error;
  check_error("no place", tessera_plan_clone(clone.get(), nullptr, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"clone", "null"});
}

TEST_CASE("a plan for device operands takes no ranges", "[plan]") {
  Context context = fake();
  const PlanOptions device{.operands = Memory::device};
  std::vector<float> a(4, 1.0f), c(4, 5.0f);
  GemmPlan gemm(context, kSmall, device);
  check_throws("a product", ErrorCode::invalid_argument, {"a is a range", "device operands", "buffers"},
               [&] { gemm.execute(1.0f, a, a, 0.0f, c); });
  StencilPlan stencil(context, {.extents = {4}, .taps = taps::identity(1)}, device);
  check_throws("a sweep", ErrorCode::invalid_argument, {"in is a range", "device operands"},
               [&] { stencil.execute(a, c); });
  CHECK(c == std::vector<float>(4, 5.0f));
}

TEST_CASE("sizes that were not set are refused", "[validation]") {
  Context context = fake();
  check_throws("k", ErrorCode::invalid_argument, {"k = -1", "not set"},
               [&] { GemmPlan plan(context, {.m = 2, .n = 2}); });
  check_throws("m", ErrorCode::invalid_argument, {"m = -1", "not set"}, [&] { GemmPlan plan(context, {}); });
}

TEST_CASE("a plan says where no point ever changes", "[plan]") {
  Context context = fake();
  const auto text = [&](std::int64_t extent, Boundaries boundary, std::int64_t steps = 1) {
    return StencilPlan(context, {.extents = {extent, 9}, .taps = taps::box(2, 2), .boundary = boundary, .steps = steps})
        .describe();
  };
  const std::string copy = "every point is fixed";
  CHECK(text(4, Boundary::fixed).find(copy) != std::string::npos);
  CHECK(text(5, Boundary::fixed).find(copy) == std::string::npos);
  CHECK(text(2, {BoundaryAxis(Boundary::nearest, Boundary::fixed), Boundary::periodic}).find(copy) !=
        std::string::npos);
  CHECK(text(3, {BoundaryAxis(Boundary::nearest, Boundary::fixed), Boundary::periodic}).find(copy) ==
        std::string::npos);
  CHECK(text(4, Boundary::fixed, 0).find(copy) == std::string::npos);
  CHECK(text(0, Boundary::fixed).find(copy) == std::string::npos);
}

TEST_CASE("periodic stands on both sides of an axis or on none", "[validation]") {
  Context context = fake();
  for (const bool low : {false, true}) {
    const BoundaryAxis half =
        low ? BoundaryAxis(Boundary::periodic, Boundary::nearest) : BoundaryAxis(Boundary::nearest, Boundary::periodic);
    check_throws("one side", ErrorCode::invalid_argument, {"boundary[1]", "periodic on one side alone", "both"}, [&] {
      StencilPlan plan(context, {.extents = {4, 4}, .taps = taps::identity(2), .boundary = {Boundary::periodic, half}});
    });
  }
}

TEST_CASE("unknown bytes of operands and scalars are refused, zeros are not", "[validation]") {
  struct LongOperand {
    tessera_operand known;
    std::int64_t later;
  };
  struct LongScalar {
    tessera_scalar known;
    std::int64_t later;
  };
  Context context = fake();
  GemmPlan plan(context, kSmall);
  float c[4] = {};
  LongOperand operands[3] = {};
  for (int i = 0; i < 3; ++i)
    operands[i].known = {i < 2 ? const_cast<float*>(kOnes) : c, TESSERA_F32, TESSERA_ROLE_A + i};
  LongScalar scalars[] = {{{TESSERA_F32, 0, 1.0, 0.0}, 0}, {{TESSERA_F32, 0, 0.0, 0.0}, 0}};
  const tessera_execution good{
      sizeof good, &operands[0].known, sizeof(LongOperand), 3, &scalars[0].known, sizeof(LongScalar), 2, nullptr, 0, 0};
  ErrorText error;
  CHECK(tessera_plan_execute(plan.get(), &good, error.get()) == TESSERA_OK);
  CHECK(c[0] == 2);
  const auto refused = [&](const char* what, auto& field, auto value, tessera_status code, const char* part) {
    const auto before = field;
    field = value;
    c[0] = -7;
    check_error(what, tessera_plan_execute(plan.get(), &good, error.get()), error, code, {part});
    CHECK(c[0] == -7);
    field = before;
  };
  refused("a later field of an operand", operands[1].later, 1, TESSERA_UNSUPPORTED, "newer version");
  refused("a later field of a scalar", scalars[1].later, 1, TESSERA_UNSUPPORTED, "newer version");
  refused("a role that there is not", operands[2].known.role, 99, TESSERA_INVALID_ARGUMENT, "role = 99");
  refused("reserved of a scalar", scalars[0].known.reserved, 4, TESSERA_INVALID_ARGUMENT, "reserved of alpha");
  refused("an imaginary part", scalars[0].known.imaginary, 1.0, TESSERA_INVALID_ARGUMENT, "imaginary of alpha");
  tessera_execution absurd = good;
  absurd.operand_size = UINT64_MAX / 4;
  check_error("operand_size", tessera_plan_execute(plan.get(), &absurd, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"operand_size"});
  CHECK(tessera_plan_execute(plan.get(), &good, error.get()) == TESSERA_OK);
}

TEST_CASE("fields of operands and scalars that must be zero are looked at", "[validation]") {
  Context context = fake();
  GemmPlan plan(context, kSmall);
  float c[4] = {};
  float* const a = const_cast<float*>(kOnes);
  tessera_operand operands[] = {
      {a, TESSERA_F32, TESSERA_ROLE_A}, {a, TESSERA_F32, TESSERA_ROLE_B}, {c, TESSERA_F32, TESSERA_ROLE_C}};
  tessera_scalar scalars[] = {{TESSERA_F32, 0, 1.0, 0.0}, {TESSERA_F32, 0, 0.0, 0.0}};
  const tessera_execution execution{sizeof execution, operands, sizeof *operands, 3, scalars,
                                    sizeof *scalars,  2,        nullptr,          0, 0};
  ErrorText error;
  const auto refused = [&](const char* what, auto& field, auto value) {
    field = value;
    check_error(what, tessera_plan_execute(plan.get(), &execution, error.get()), error, TESSERA_INVALID_ARGUMENT,
                {what, "must be 0"});
    field = 0;
    CHECK(tessera_plan_execute(plan.get(), &execution, error.get()) == TESSERA_OK);
  };
  refused("reserved of beta", scalars[1].reserved, -1);
  refused("imaginary of alpha", scalars[0].imaginary, 0.5);
}

TEST_CASE("arguments of another type are named, with what is to be set", "[validation]") {
  Context context = fake();
  GemmPlan plan(context, kSmall);
  const std::vector<double> ones(4, 1.0);
  std::vector<double> c(4);
  const std::vector<float> right(4, 1.0f);
  std::vector<float> d(4);
  const auto refused = [&](const std::string& message, auto&& body) {
    check_throws(message.c_str(), ErrorCode::invalid_argument, {message}, body);
  };
  refused("a is of type f64, the plan takes f32: set .dtype of its descriptor to f64, or pass f32",
          [&] { plan.execute(1, ones, ones, 0, c); });
  refused("b is of type f64, the plan takes f32", [&] { plan.execute(1, right, ones, 0, d); });
  // Products of f32 have no result of another type.
  refused("c is of type f64, the plan takes f32: pass f32", [&] { plan.execute(1, right, right, 0, c); });
  refused("d is of type f64, the plan takes f32: pass f32", [&] { plan.execute(1, right, right, 0, nullptr, c); });
  const std::vector<float16> narrow(4);
  GemmPlan of_halves(context, {.m = 2, .n = 2, .k = 2, .dtype = DType::f16});
  refused("c is of type f32, the plan takes f16: set .dtype_d of its descriptor to f32, or pass f16",
          [&] { of_halves.execute(1, narrow, narrow, 0, d); });
  StencilPlan sweep(context, {.extents = {4}, .taps = taps::identity(1)});
  check_throws("a grid", ErrorCode::invalid_argument, {"in is of type f64", "plan takes f32", ".dtype"},
               [&] { sweep.execute(ones, c); });
  float* const a = const_cast<float*>(kOnes);
  tessera_operand operands[] = {
      {a, TESSERA_F32, TESSERA_ROLE_A}, {a, 77, TESSERA_ROLE_B}, {c.data(), TESSERA_F32, TESSERA_ROLE_C}};
  const tessera_scalar scalars[] = {{TESSERA_F32, 0, 1.0, 0.0}, {TESSERA_F32, 0, 0.0, 0.0}};
  const tessera_execution execution{sizeof execution, operands, sizeof *operands, 3, scalars,
                                    sizeof *scalars,  2,        nullptr,          0, 0};
  ErrorText error;
  check_error("no type", tessera_plan_execute(plan.get(), &execution, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"dtype of b = 77", "f32 (1), f64 (2), f16 (3), bf16 (4)"});
}

TEST_CASE("options that mean nothing are refused", "[validation]") {
  Context context = fake();
  tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F32, 1, 1, 1);
  const auto* const problem = reinterpret_cast<const tessera_desc*>(&desc);
  tessera_plan* plan = nullptr;
  ErrorText error;
  tessera_plan_options options{};
  options.struct_size = sizeof options;
  options.effort = 3;
  check_error("effort", tessera_plan_create(context.get(), problem, &options, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"effort = 3", "estimate (1), measure (2)"});
  options.effort = TESSERA_EFFORT_DEFAULT;
  options.workspace_bytes = 4096;
  check_error("bytes of nothing", tessera_plan_create(context.get(), problem, &options, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"workspace_bytes", "4096"});
  tessera_context_options stream{};
  stream.struct_size = sizeof stream;
  stream.backend = "fake";
  stream.native_stream = &stream;
  tessera_context* made = nullptr;
  check_error("a stream that is not wrapped", tessera_context_create(&stream, &made, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"native_stream", "wrap_stream"});
  desc.struct_size = std::uint64_t{1} << 40;
  check_error("an absurd size", tessera_plan_create(context.get(), problem, nullptr, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"struct_size"});
  CHECK(plan == nullptr);
}

TEST_CASE("a callback may use the library, set another, and throw", "[verbose]") {
  static int calls;
  calls = 0;
  Context context = fake();
  {
    const Listener listener(
        [](const char*, void* user) {
          ++calls;
          GemmPlan inner(*static_cast<Context*>(user), kSmall);  // its lines are dropped
        },
        &context);
    GemmPlan plan(context, kSmall);
    CHECK(calls == 2);
  }
  {
    const Listener listener(
        [](const char*, void*) { tessera_set_verbose_callback([](const char*, void*) { calls += 10; }, nullptr); },
        nullptr);
    const GemmPlan first(context, kSmall), second(context, kSmall);
    CHECK(calls == 32);
  }
  const Listener listener([](const char*, void*) { throw std::runtime_error("from the callback"); }, nullptr);
  GemmPlan plan(context, kSmall);
  float c[4] = {};
  plan.execute(1, kOnes, kOnes, 0, c);
  CHECK(c[0] == 2);
}

TEST_CASE("more arrays than a plan remembers go round", "[plan]") {
  Context context = fake();
  StencilPlan plan(context, {.extents = {8}, .taps = taps::identity(1)});
  std::vector<std::vector<float>> arrays(24, std::vector<float>(8, 1.0f));
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i + 1 < arrays.size(); ++i) plan.execute(arrays[i], arrays[i + 1]);
  for (int round = 0; round < 3; ++round)  // what was refused is not remembered as free
    check_throws("in place", ErrorCode::invalid_argument, {"out", "overlaps in"},
                 [&] { plan.execute(arrays[0], arrays[0]); });
}

}  // namespace tessera::test
