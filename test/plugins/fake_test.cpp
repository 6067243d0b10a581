// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// How the core uses a device: staging, lifetimes, queued work, parameters. The emulated device keeps count.

#include "fake_stats.hpp"
#include "message_of.hpp"
#include "process.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <optional>
#include <thread>
#include <vector>

using namespace tessera;
using Catch::Matchers::ContainsSubstring;
using tessera::test::FakeStats;
using tessera::test::message_of;
using tessera::test::ScopedVariable;

namespace {

const FakeStats& stats(Context& context) { return *static_cast<const FakeStats*>(context.native_stream()); }

const GemmDesc kSmall{.m = 2, .n = 3, .k = 2};
const float kA[4] = {1, 2, 3, 4}, kB[6] = {1, 2, 3, 4, 5, 6}, kProduct[6] = {9, 12, 15, 19, 26, 33};

}  // namespace

TEST_CASE("host operands are staged, and only what is read is copied") {
  Context context("fake");
  GemmPlan plan(context, kSmall);
  float c[6] = {1, 1, 1, 1, 1, 1};
  const auto copies = [&](float alpha, float beta, const float* a, const float* b) {
    const std::int64_t before = stats(context).copies;
    plan.execute(alpha, a, b, beta, c);
    return stats(context).copies - before;
  };
  CHECK(copies(1, 0, kA, kB) == 3);  // A, B up, C down
  for (int i = 0; i < 6; ++i) CHECK(c[i] == kProduct[i]);
  CHECK(copies(1, 1, kA, kB) == 4);  // C up as well
  CHECK(c[5] == 66);
  CHECK(copies(0, 2, nullptr, nullptr) == 2);  // only C
  CHECK(c[5] == 132);
  CHECK(copies(0, 0, nullptr, nullptr) == 1);
  CHECK(c[5] == 0);
}

TEST_CASE("staged operands leave alone what D has beside a triangle") {
  Context context("fake");
  const float c[4] = {1, 10, 2, 3};
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    GemmPlan plan(context, {.m = 2, .n = 2, .k = 2, .triangle = triangle});
    const bool lower = triangle == Triangle::lower;
    for (const float beta : {0.0f, 1.0f}) {
      float d[4] = {7, 7, 7, 7};
      plan.execute(1, kA, kA, beta, c, d);
      CHECK(d[0] == 7 + beta);
      CHECK(d[1] == (lower ? 7 : 10 + 10 * beta));
      CHECK(d[2] == (lower ? 15 + 2 * beta : 7));
      CHECK(d[3] == 22 + 3 * beta);
    }
    float in_place[4] = {1, 10, 2, 3};
    const std::int64_t before = stats(context).copies;
    plan.execute(1, kA, kA, 1, in_place);
    CHECK(stats(context).copies - before == 4);  // A, B, D up, D down
    CHECK(in_place[0] == 8);
    CHECK(in_place[1] == (lower ? 10 : 20));
    CHECK(in_place[2] == (lower ? 17 : 2));
    CHECK(in_place[3] == 25);
  }
}

TEST_CASE("executions allocate nothing, and everything is freed at the end") {
  Context context("fake");
  {
    GemmPlan plan(context, kSmall, {.algorithm = "tuned"});
    Buffer<float> buffer(context, 10);
    float c[6];
    plan.execute(1, kA, kB, 0, c);
    const std::int64_t allocations = stats(context).allocations;
    for (int i = 0; i < 5; ++i) plan.execute(1, kA, kB, 0, c);
    CHECK(stats(context).allocations == allocations);
    CHECK(stats(context).live_allocations > 0);
    CHECK(stats(context).live_plans == 1);
  }
  CHECK(stats(context).live_allocations == 0);
  CHECK(stats(context).live_plans == 0);
}

TEST_CASE("device operands are queued, and pass through the core untouched") {
  Context context("fake");
  Buffer<float> a(context, 4), b(context, 6), c(context, 6);
  a.upload(kA);
  b.upload(kB);
  GemmPlan plan(context, kSmall, {.operands = Memory::device});
  const std::int64_t copies = stats(context).copies;
  plan.execute(1, a.data(), b.data(), 0, c.data());
  CHECK(stats(context).copies == copies);
  float result[6];
  c.download(result);
  for (int i = 0; i < 6; ++i) CHECK(result[i] == kProduct[i]);
}

TEST_CASE("a plan that is destroyed waits for its queued work") {
  Context context("fake");
  Buffer<float> a(context, 4), b(context, 6), c(context, 6);
  a.upload(kA);
  b.upload(kB);
  for (const char* algorithm : {"plain", "tuned"}) {  // without and with a workspace
    const std::vector<float> zeros(6, 0.0f);
    c.upload(zeros);
    std::optional<GemmPlan> plan(std::in_place, context, kSmall,
                                 PlanOptions{.operands = Memory::device, .algorithm = algorithm});
    plan->execute(1, a.data(), b.data(), 0, c.data());
    plan.reset();
    CHECK(stats(context).executions_of_dead_plans == 0);
    float result[6];
    c.download(result);
    for (int i = 0; i < 6; ++i) CHECK(result[i] == kProduct[i]);
  }
}

TEST_CASE("a buffer that is destroyed waits for queued work that uses it") {
  Context context("fake");
  Buffer<float> a(context, 4), c(context, 6);
  std::optional<Buffer<float>> b(std::in_place, context, 6);
  a.upload(kA);
  b->upload(kB);
  GemmPlan plan(context, kSmall, {.operands = Memory::device});
  plan.execute(1, a.data(), b->data(), 0, c.data());
  b.reset();
  float result[6];
  c.download(result);
  CHECK(result[5] == kProduct[5]);
}

TEST_CASE("plans and buffers keep their context alive") {
  std::optional<Context> context(std::in_place, "fake");
  Buffer<float> buffer(*context, 6);
  GemmPlan plan(*context, kSmall);
  context.reset();
  buffer.upload(kB);
  float c[6];
  plan.execute(1, kA, kB, 0, c);
  CHECK(c[5] == kProduct[5]);
  buffer.download(c);
  CHECK(c[5] == 6);
}

TEST_CASE("an illegal device pointer is reported when the work is waited for, and the context lives on") {
  Context context("fake");
  Buffer<float> c(context, 6);
  GemmPlan plan(context, kSmall, {.operands = Memory::device});
  plan.execute(1, &kA[0], &kB[0], 0, c.data());  // host pointers
  CHECK_THAT(message_of(ErrorCode::device_error, [&] { context.synchronize(); }), ContainsSubstring("host pointer"));
  context.synchronize();
}

TEST_CASE("forced algorithms, parameters and workspaces") {
  Context context("fake");
  const auto made = [&](const std::string& algorithm, const PlanOptions& others = {}) {
    PlanOptions options = others;
    options.algorithm = algorithm;
    return GemmPlan(context, kSmall, options).algorithm();
  };
  CHECK(made("plain") == "plain");
  CHECK(made("fake/plain") == "plain");
  CHECK(made("") == "plain");
  CHECK(made("tuned") == "tuned:tile=16,split=1");
  CHECK(made("tuned:split=3") == "tuned:tile=16,split=3");
  CHECK(made("fake/tuned:split=2,tile=32") == "tuned:tile=32,split=2");
  CHECK(made("picky") == "picky");

  const auto fails = [&](ErrorCode code, const std::string& algorithm, const char* part,
                         const PlanOptions& others = {}) {
    INFO(algorithm);
    CHECK_THAT(message_of(code, [&] { made(algorithm, others); }), ContainsSubstring(part));
  };
  fails(ErrorCode::unsupported, "nosuch", "plain, tuned, picky");
  fails(ErrorCode::unsupported, "throwing/throws", "throwing/throws");
  fails(ErrorCode::invalid_argument, "tuned:tile=7", "must be one of 8, 16, 32");
  fails(ErrorCode::invalid_argument, "tuned:split=5", "must lie in [1, 4]");
  fails(ErrorCode::invalid_argument, "tuned:width=5", "has no parameter width; it has tile, split");
  fails(ErrorCode::invalid_argument, "plain:tile=8", "it has none");
  for (const char* malformed :
       {"tuned:", "tuned:tile", "tuned:tile=", "tuned:tile=8,", "tuned:tile=8x", "/tuned", "fake/", "tuned:=8",
        "tuned:tile=8,tile=8", "tu ned", "fake/tuned/x", "tuned:tile=99999999999999999999"})
    fails(ErrorCode::invalid_argument, malformed, malformed);
  CHECK_THAT(
      message_of(ErrorCode::unsupported, [&] { GemmPlan(context, {.m = 3, .n = 3, .k = 3}, {.algorithm = "picky"}); }),
      ContainsSubstring("m must be even"));

  fails(ErrorCode::unsupported, "tuned:split=4", "16384", {.workspace_limit = 10000});
}

TEST_CASE("the sums of a bias's gradient keep to no multiprocessors, and say so") {
  Context context("fake");
  GemmDesc summed = kSmall;
  summed.bias = Bias::gradient_per_column;
  CHECK_NOTHROW(GemmPlan(context, summed));
  CHECK_THAT(message_of(ErrorCode::unsupported, [&] { GemmPlan(context, summed, {.sm_limit = 5}); }),
             ContainsSubstring("keeps no sm_limit: it must be 0"));
}

TEST_CASE("a plan keeps to some of a device's multiprocessors, or says by name what cannot") {
  Context context("fake");  // 16 of them; `tuned` can
  const auto made = [&](const PlanOptions& options) {
    GemmPlan plan(context, kSmall, options);
    CHECK(plan.algorithm().starts_with(stats(context).multiprocessors == 0 ? "plain" : "tuned"));
    return stats(context).multiprocessors;
  };
  for (const auto& [limit, kept] : {std::pair(0, 0), {1, 1}, {15, 15}, {16, 0}, {2147483647, 0}}) {
    INFO(limit);
    CHECK(made({.sm_limit = limit}) == kept);
  }
  {
    const ScopedVariable told("TESSERA_SM_LIMIT", "7");
    CHECK(made({}) == 7);
    CHECK(made({.sm_limit = 3}) == 3);
    CHECK(made({.sm_limit = 16}) == 0);
  }
  const GemmPlan plan(context, kSmall, {.sm_limit = 5});
  made({});
  const GemmPlan clone = plan.clone();
  CHECK(stats(context).multiprocessors == 5);
  const auto said = [&](ErrorCode code, const PlanOptions& options) {
    return message_of(code, [&] { GemmPlan(context, kSmall, options); });
  };
  CHECK_THAT(said(ErrorCode::unsupported, {.algorithm = "plain", .sm_limit = 5}),
             ContainsSubstring("plain: cannot keep to sm_limit = 5 multiprocessors"));
  const StencilDesc stencil{.extents = {5, 6}, .taps = taps::laplacian(2)};
  CHECK_THAT(message_of(ErrorCode::unsupported, [&] { StencilPlan(context, stencil, {.sm_limit = 5}); }),
             ContainsSubstring("cannot keep to sm_limit = 5"));
  CHECK_THAT(said(ErrorCode::invalid_argument, {.sm_limit = -1}),
             ContainsSubstring("sm_limit = -1: must be at least 0 multiprocessors; 0 means all"));
  for (const char* malformed : {"-1", "all", "1.5", "2147483648"}) {
    const ScopedVariable told("TESSERA_SM_LIMIT", malformed);
    CHECK_THAT(said(ErrorCode::invalid_argument, {}),
               ContainsSubstring("TESSERA_SM_LIMIT = '" + std::string(malformed) + "'") &&
                   ContainsSubstring("must be a whole number in [0, 2147483647]"));
  }
}

TEST_CASE("products that permit other arithmetic than strict may take a quarter of the device's memory") {
  Context context("fake");  // 1 GiB, and 32 MiB for each of `split`
  GemmDesc desc = kSmall;
  const auto made = [&](Compute compute, std::uint64_t limit) {
    desc.compute = compute;
    return GemmPlan(context, desc, {.algorithm = "tuned:split=4", .workspace_limit = limit}).workspace_bytes();
  };
  CHECK(made(Compute::strict, 0) == 4 * 4096);
  for (const Compute compute : {Compute::bf16x6, Compute::f16x3, Compute::tf32}) {
    CHECK(made(compute, 0) == std::uint64_t(128) << 20);
    message_of(ErrorCode::unsupported, [&] { made(compute, TESSERA_DEFAULT_WORKSPACE_LIMIT); });
  }
  // Where that is not to be had, they take what others take.
  const auto plan_while = [&](const char* fault, Compute compute) {
    const ScopedVariable told("TESSERA_FAKE_FAULT", fault);
    desc.compute = compute;
    return GemmPlan(context, desc, {.algorithm = "tuned"}).workspace_bytes();
  };
  message_of(ErrorCode::out_of_memory, [&] { plan_while("buffer_allocate:1:memory", Compute::strict); });
  CHECK(plan_while("buffer_allocate:2:memory", Compute::bf16x6) == std::uint64_t(32) << 20);
}

TEST_CASE("a plan takes the caller's workspace") {
  Context context("fake");
  Buffer<char> memory(context, 8192);
  GemmPlan plan(context, kSmall, {.algorithm = "tuned:split=2", .workspace = memory.data(), .workspace_bytes = 8192});
  CHECK(plan.workspace_bytes() == 8192);
  float c[6];
  plan.execute(1, kA, kB, 0, c);
  CHECK(c[5] == kProduct[5]);
}

TEST_CASE("offers are what plans are made of, the cheapest first") {
  Context context("fake", {.native_stream = nullptr, .threads = 3});
  const std::vector<Offer> all = GemmPlan::offers(context, kSmall);
  std::vector<std::string> names;
  for (const Offer& offer : all) names.push_back(offer.algorithm);
  CHECK(names == std::vector<std::string>{"plain", "picky", "spy:threads=3", "tuned:tile=16,split=1"});
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].seconds <= all[i].seconds);
  for (const Offer& offer : all) {
    INFO(offer.algorithm);
    CHECK(offer.transfer_seconds == 0.25);  // host operands
    const GemmPlan plan(context, kSmall, {.algorithm = offer.algorithm});
    CHECK(plan.algorithm() == offer.algorithm);
    CHECK(plan.workspace_bytes() == offer.workspace_bytes);
  }
  CHECK(GemmPlan(context, kSmall).algorithm() == names[0]);

  const PlanOptions forced{.operands = Memory::device, .algorithm = "tuned:split=3"};
  const std::vector<Offer> narrowed = GemmPlan::offers(context, kSmall, forced);
  REQUIRE(narrowed.size() == 1);
  CHECK(narrowed[0].algorithm == "tuned:tile=16,split=3");
  CHECK(narrowed[0].workspace_bytes == 3 * 4096);
  CHECK(narrowed[0].transfer_seconds == 0.0);
  CHECK_THAT(message_of(ErrorCode::invalid_argument,
                        [&] { GemmPlan::offers(context, kSmall, {.algorithm = "tuned:split=9"}); }),
             ContainsSubstring("split = 9") && ContainsSubstring("[1, 4]"));
  CHECK_THAT(message_of(ErrorCode::invalid_argument,
                        [&] { GemmPlan::offers(context, kSmall, {.algorithm = "tuned:depth=1"}); }),
             ContainsSubstring("no parameter depth; it has tile, split"));
  CHECK_THAT(message_of(ErrorCode::unsupported,
                        [&] { GemmPlan::offers(context, {.m = 3, .n = 3, .k = 2}, {.algorithm = "picky"}); }),
             ContainsSubstring("m must be even"));
  CHECK(StencilPlan::offers(context, {.extents = {4}, .taps = taps::identity(1)}).at(0).algorithm == "sweep");
  CHECK_THAT(message_of(ErrorCode::invalid_argument, [&] { GemmPlan::offers(context, {.m = 3, .n = 3}); }),
             ContainsSubstring("k"));
}

TEST_CASE("a plan tells what it is") {
  Context context("fake:1");
  GemmPlan plan(context, kSmall, {.operands = Memory::device, .algorithm = "tuned"});
  CHECK(plan.backend() == "fake");
  CHECK(plan.device() == 1);
  CHECK(plan.workspace_bytes() == 4096);
  CHECK(plan.algorithm() == "tuned:tile=16,split=1");
  const std::string line = plan.describe();
  for (const char* part : {"gemm", "f32", "2", "3", "fake", "tuned:tile=16,split=1", "4096", "device"})
    CHECK_THAT(line, ContainsSubstring(part));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(plan.operand_range(Role::a) == std::pair<std::int64_t, std::int64_t>(0, 4));
  CHECK(plan.operand_range(Role::c) == std::pair<std::int64_t, std::int64_t>(0, 6));

  StencilPlan stencil(context, {.extents = {4, 5}, .taps = taps::laplacian(2), .boundary = Boundary::halo});
  CHECK(stencil.operand_range(Role::in) == std::pair<std::int64_t, std::int64_t>(-8, 34));
  CHECK(stencil.operand_range(Role::out) == std::pair<std::int64_t, std::int64_t>(0, 20));
  CHECK_THAT(stencil.describe(), ContainsSubstring("stencil") && ContainsSubstring("4x5"));
}

TEST_CASE("streams and thread counts reach the backend") {
  int mine = 0;
  ContextOptions options;
  options.native_stream = &mine;
  options.threads = 5;
  Context context("fake", options);
  CHECK(stats(context).wrapped_stream == &mine);
  CHECK(stats(context).threads == 5);
}

TEST_CASE("too much memory is an error, and the context lives on") {
  Context context("fake");
  for (const std::int64_t bytes : {std::int64_t{1} << 31, INT64_MAX})
    message_of(ErrorCode::out_of_memory, [&] { Buffer<char> buffer(context, bytes); });
  message_of(ErrorCode::out_of_memory, [&] { GemmPlan plan(context, {.m = 65536, .n = 65536, .k = 1}); });
  CHECK(stats(context).live_allocations == 0);
  CHECK(stats(context).live_plans == 0);
  CHECK(Buffer<float>(context, 0).size() == 0);
}

TEST_CASE("the emulated device fails when it is told to, and leaves nothing behind") {
  const auto told = [](const char* fault) { return ScopedVariable("TESSERA_FAKE_FAULT", fault); };
  const auto run_all = [] {
    Context context("fake");
    GemmPlan plan(context, kSmall);
    float c[6];
    plan.execute(1, kA, kB, 0, c);
    context.synchronize();
  };
  for (const std::string entry :
       {"context_create", "buffer_allocate", "copy", "plan_create", "plan_execute", "synchronize"}) {
    INFO(entry);
    {
      const auto fault = told((entry + ":1").c_str());
      CHECK_THAT(message_of(ErrorCode::device_error, run_all), ContainsSubstring(entry));
      run_all();  // once only
    }
    {
      const auto fault = told((entry + ":1+:memory").c_str());
      for (int repeat = 0; repeat < 3; ++repeat) message_of(ErrorCode::out_of_memory, run_all);
    }
    Context context("fake");
    CHECK(stats(context).contexts_of_process == 1);
    CHECK(stats(context).allocations_of_process == 0);
    CHECK(stats(context).plans_of_process == 0);
  }
  Context context("fake");
  GemmPlan plan(context, kSmall);
  float c[6];
  std::thread other([&] { plan.execute(1, kA, kB, 0, c); });
  const std::thread::id thread = other.get_id();
  other.join();
  CHECK(stats(context).executed_by == thread);
}
