// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The plan cache: who gets which plan, what makes two requests the same, and when plans go.

#include "empty_cache.hpp"
#include "errors.hpp"

#include "../plugins/fake_stats.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

/// Of all contexts of the emulated device.
std::int64_t live_plans() {
  Context context = fake();
  return static_cast<const FakeStats*>(context.native_stream())->plans_of_process;
}

void check_product(GemmPlan& plan) {
  const std::vector<float> ones(4, 1.0f);
  std::vector<float> c(4);
  plan.execute(1.0f, ones, ones, 0.0f, c);
  CHECK(c == std::vector<float>(4, 2.0f));
}

/// Whether a plan of the request is idle in the cache.
bool is_there(const std::function<void()>& borrow) {
  const std::uint64_t made = plan_cache::info().made;
  borrow();
  return plan_cache::info().made == made;
}

}  // namespace

TEST_CASE("a plan that came back is lent again", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  const auto before = plan_cache::info();
  const tessera_plan* first = nullptr;
  {
    GemmPlan plan = GemmPlan::borrow(context, square(2));
    first = plan.get();
    check_product(plan);
    CHECK(plan_cache::info().lent == 1);
    CHECK(plan_cache::info().idle == 0);
  }
  CHECK(plan_cache::info().lent == 0);
  CHECK(plan_cache::info().idle == 1);
  CHECK(plan_cache::info().bytes > 0);
  GemmPlan again = GemmPlan::borrow(context, square(2));
  CHECK(again.get() == first);
  check_product(again);
  const auto after = plan_cache::info();
  CHECK(after.made == before.made + 1);
  CHECK(after.found == before.found + 1);
  CHECK(after.bytes == 0);
}

TEST_CASE("a plan is lent to one caller at a time: others get clones", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  {
    const PlanOptions options{.algorithm = "tuned:tile=8,split=3"};
    GemmPlan first = GemmPlan::borrow(context, square(2), options),
             second = GemmPlan::borrow(context, square(2), options);
    CHECK(first.get() != second.get());
    CHECK(first.describe() == second.describe());
    check_product(first);
    check_product(second);
    CHECK(plan_cache::info().lent == 2);
    const GemmPlan own = second.clone();  // not the cache's
    CHECK(plan_cache::info().lent == 2);
  }
  CHECK(plan_cache::info().idle == 2);
  CHECK(plan_cache::info().lent == 0);
}

TEST_CASE("a plan without a context has its clone at the same place", "[cache]") {
  const EmptyCache cache;
  const ScopedVariable variable("TESSERA_BACKEND", "fake");
  const auto contexts = [] {
    Context context = fake();
    return static_cast<const FakeStats*>(context.native_stream())->contexts_of_process;
  };
  const std::int64_t before = contexts();
  const GemmPlan first = GemmPlan::borrow(square(2)), second = GemmPlan::borrow(square(2)),
                 other = GemmPlan::borrow(square(3));
  CHECK(contexts() == before + 1);  // of all three
}

TEST_CASE("every field that matters makes another plan of a product", "[cache]") {
  const EmptyCache cache;
  Context context = fake(), second = fake();
  const GemmDesc desc{.m = 4, .n = 4, .k = 4};
  const auto there = [&](const Context& c, const GemmDesc& d, const PlanOptions& options = {}) {
    return is_there([&] { GemmPlan::borrow(c, d, options); });
  };
  CHECK_FALSE(there(context, desc));
  CHECK(there(context, desc));
  CHECK_FALSE(there(second, desc));
  for (Integer GemmDesc::*const field :
       {&GemmDesc::m, &GemmDesc::n, &GemmDesc::k, &GemmDesc::lda, &GemmDesc::ldb, &GemmDesc::ldc, &GemmDesc::batch,
        &GemmDesc::stride_a, &GemmDesc::stride_b, &GemmDesc::stride_c}) {
    GemmDesc other = desc;
    other.*field = 77;
    CHECK_FALSE(there(context, other));
    CHECK(there(context, other));
  }
  GemmDesc other = desc;
  other.dtype = DType::f64;
  CHECK_FALSE(there(context, other));
  other = desc, other.order = Order::column_major;
  CHECK_FALSE(there(context, other));
  other = desc, other.trans_a = Transpose::yes;
  CHECK_FALSE(there(context, other));
  other = desc, other.trans_b = Transpose::yes;
  CHECK_FALSE(there(context, other));
  other = desc, other.sums = Sums::ordered;
  CHECK_FALSE(there(context, other));
  other.whole_n = 99;
  CHECK_FALSE(there(context, other));
  CHECK_FALSE(there(context, desc, {.operands = Memory::device}));
  CHECK_FALSE(there(context, desc, {.algorithm = "plain"}));
  CHECK_FALSE(there(context, desc, {.algorithm = "tuned:split=2"}));
  CHECK_FALSE(there(context, desc, {.algorithm = "tuned:split=3"}));
  CHECK_FALSE(there(context, desc, {.workspace_limit = 1 << 20}));
  CHECK_FALSE(there(context, desc, {.sm_limit = 5}));
  CHECK(there(context, desc));
}

TEST_CASE("every field that matters makes another plan of a stencil, and no other", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  const auto constant = [](double value) { return BoundarySide(Boundary::constant, value); };
  const StencilDesc desc{.extents = {5, 6}, .taps = taps::laplacian(2), .boundary = constant(1.0), .steps = 2};
  const auto there = [&](const auto& change) {
    StencilDesc other = desc;
    change(other);
    return is_there([&] { StencilPlan::borrow(context, other); });
  };
  CHECK_FALSE(there([](auto&) {}));
  CHECK(there([](auto&) {}));
  const std::vector<std::function<void(StencilDesc&)>> changes = {
      [](auto& d) { d.extents[1] = 7; },
      [](auto& d) { d.taps = 2.0 * taps::laplacian(2); },
      [](auto& d) { d.taps += taps::identity(2); },
      [](auto& d) { d.taps = taps::box(2, 3); },  // more than a key holds without memory
      [](auto& d) { d.taps = 2.0 * taps::box(2, 3); },
      [&](auto& d) { d.boundary = constant(2.0); },
      [](auto& d) { d.boundary = Boundary::mirror; },
      [&](auto& d) { d.boundary = BoundaryAxis(constant(1.0), constant(3.0)); },
      [](auto& d) { d.steps = 3; },
      [](auto& d) { d.dtype = DType::f64; },
      [](auto& d) { d.sums = Sums::ordered; },
      [](auto& d) {
        d.in_strides = {8, 1};
      },
      [](auto& d) {
        d.out_strides = {8, 1};
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    CHECK_FALSE(there(changes[i]));
    CHECK(there(changes[i]));
  }
  CHECK_FALSE(there([](auto& d) { d.boundary = BoundarySide(Boundary::nearest, 1.0); }));
  CHECK(there([](auto& d) { d.boundary = BoundarySide(Boundary::nearest, 2.0); }));  // nobody reads the value
}

TEST_CASE("taps that come with unknown fields are read like others", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  struct LongTap {
    tessera_tap known;
    std::int64_t later;
  } taps[] = {{{{-1, 0, 0}, 0.5}, 0}, {{{1, 0, 0}, 0.5}, 0}};
  tessera_stencil_desc desc{};
  desc.struct_size = sizeof desc, desc.op = TESSERA_OP_STENCIL, desc.dtype = TESSERA_F32, desc.rank = 1;
  desc.extents[0] = 9, desc.in_strides[0] = desc.out_strides[0] = TESSERA_PACKED;
  desc.taps = &taps[0].known, desc.tap_size = sizeof(LongTap), desc.tap_count = 2, desc.steps = 1;
  const auto there = [&] {
    return is_there([&] {
      tessera_plan* plan = nullptr;
      ErrorText error;
      const auto status =
          tessera_plan_borrow(context.get(), reinterpret_cast<const tessera_desc*>(&desc), nullptr, &plan, error.get());
      INFO(error.message());
      CHECK(status == TESSERA_OK);
      tessera_plan_destroy(plan);
    });
  };
  CHECK_FALSE(there());
  CHECK(there());
  taps[1].known.coefficient = 0.25;
  CHECK_FALSE(there());
  taps[0].later = 1;
  tessera_plan* plan = nullptr;
  ErrorText error;
  check_error(
      "a later field",
      tessera_plan_borrow(context.get(), reinterpret_cast<const tessera_desc*>(&desc), nullptr, &plan, error.get()),
      error, TESSERA_UNSUPPORTED, {"newer version"});
}

TEST_CASE("the least recently borrowed plans go first", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  const auto there = [&](std::int64_t n) { return is_there([&] { GemmPlan::borrow(context, square(n)); }); };
  plan_cache::limit(3, kBytes);
  for (const std::int64_t n : {1, 2, 3, 1, 4}) there(n);  // 2 goes
  CHECK(plan_cache::info().idle == 3);
  CHECK(there(1));
  CHECK(there(3));
  CHECK(there(4));
  CHECK_FALSE(there(2));  // and 1 goes
  CHECK_FALSE(there(1));
  plan_cache::limit(1, kBytes);
  CHECK(plan_cache::info().idle == 1);
  CHECK(there(1));
  plan_cache::limit(0, kBytes);
  CHECK(plan_cache::info().idle == 0);
  CHECK_FALSE(there(1));
  CHECK_FALSE(there(1));
  CHECK(plan_cache::info().max_idle == 0);
  check_throws("fewer than none", ErrorCode::invalid_argument, {"plans = -1", "at least 0"},
               [] { plan_cache::limit(-1, 0); });
  check_throws("less than nothing", ErrorCode::invalid_argument, {"bytes = -5", "at least 0"},
               [] { plan_cache::limit(0, -5); });
}

TEST_CASE("workspaces and copies of host operands count as memory of the cache", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  const auto bytes_with = [&](const PlanOptions& options, std::int64_t n = 2) {
    plan_cache::clear();
    GemmPlan::borrow(context, square(n), options);
    return plan_cache::info().bytes;
  };
  const std::uint64_t plain = bytes_with({.algorithm = "plain"});
  CHECK(bytes_with({.algorithm = "tuned:split=3"}) == plain + 3 * 4096);
  CHECK(bytes_with({.operands = Memory::device, .algorithm = "plain"}) == plain - 3 * 4 * sizeof(float));
  plan_cache::limit(kPlans, std::int64_t(plain));
  bytes_with({.algorithm = "tuned:split=3"});  // larger than all that the cache may hold
  CHECK(plan_cache::info().idle == 0);
  bytes_with({.algorithm = "plain"});
  CHECK(plan_cache::info().idle == 1);
  GemmPlan::borrow(context, square(1), {.algorithm = "plain"});  // there is room for one alone
  CHECK(plan_cache::info().idle == 1);
  CHECK(plan_cache::info().bytes < plain);
  GemmPlan::borrow(context, square(64), {.algorithm = "plain"});  // does not push the smaller one out
  CHECK(plan_cache::info().idle == 1);
}

TEST_CASE("an environment that is read again chooses anew", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  CHECK(GemmPlan::borrow(context, square(2)).algorithm() == "plain");
  {
    GemmPlan lent = GemmPlan::borrow(context, square(2));
    const ScopedVariable variable("TESSERA_GEMM_ALGORITHM", "tuned:tile=8,split=3");
    CHECK(plan_cache::info().lent == 0);  // none that will be kept
    CHECK(GemmPlan::borrow(context, square(2)).algorithm() == "tuned:tile=8,split=3");
    check_product(lent);
  }
  CHECK(plan_cache::info().idle == 0);
  CHECK(GemmPlan::borrow(context, square(2)).algorithm() == "plain");
}

TEST_CASE("the plans of a context go with it", "[cache]") {
  const EmptyCache cache;
  const std::int64_t before = live_plans();
  Context other = fake();
  GemmPlan::borrow(other, square(2));
  {
    Context context = fake();
    for (const std::int64_t n : {1, 2, 3}) GemmPlan::borrow(context, square(n));
    CHECK(live_plans() == before + 4);
  }
  CHECK(live_plans() == before + 1);
  CHECK(plan_cache::info().idle == 1);
  auto context = std::make_unique<Context>(fake());
  GemmPlan lent = GemmPlan::borrow(*context, square(2));
  GemmPlan::borrow(*context, square(3));
  context.reset();
  check_product(lent);  // which keeps what it needs
  CHECK(live_plans() == before + 2);
  { const GemmPlan gone = std::move(lent); }
  CHECK(live_plans() == before + 1);
  plan_cache::clear();
  CHECK(live_plans() == before);
}

TEST_CASE("a plan of a dead context is not kept", "[cache]") {
  const EmptyCache cache;
  Context context("fatal");
  const std::vector<float> ones(4, 1.0f);
  std::vector<float> c(4);
  for (const char* const part : {"fell off the bus", "no more work"})
    check_throws("a dead device", ErrorCode::device_error, {part},
                 [&] { gemm(context, square(2), 1.0f, ones, ones, 0.0f, c); });
  CHECK(plan_cache::info().idle == 0);
  CHECK(plan_cache::info().lent == 0);
}

TEST_CASE("what cannot be made leaves nothing in the cache", "[cache]") {
  const EmptyCache cache;
  Context context = fake();
  const auto refused = [&](const char* what, ErrorCode code, const char* part, const GemmDesc& desc,
                           const PlanOptions& options) {
    check_throws(what, code, {part}, [&] { GemmPlan::borrow(context, desc, options); });
    CHECK(plan_cache::info().idle == 0);
    CHECK(plan_cache::info().lent == 0);
  };
  refused("a size", ErrorCode::invalid_argument, "m = -3", {.m = -3, .n = 1, .k = 1}, {});
  refused("an algorithm", ErrorCode::unsupported, "nonsense", square(2), {.algorithm = "nonsense"});
  alignas(256) static char room[4096];
  refused("a workspace", ErrorCode::invalid_argument, "workspace", square(2),
          {.workspace = room, .workspace_bytes = sizeof room});
  tessera_plan* plan = nullptr;
  ErrorText error;
  check_error("nothing", tessera_plan_borrow(context.get(), nullptr, nullptr, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"desc", "null"});
  tessera_stencil_desc stencil{};
  stencil.struct_size = sizeof stencil, stencil.op = TESSERA_OP_STENCIL, stencil.dtype = TESSERA_F32;
  const auto* const desc = reinterpret_cast<const tessera_desc*>(&stencil);
  check_error("no axes", tessera_plan_borrow(context.get(), desc, nullptr, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"rank = 0"});
  stencil.op = 9;
  check_error("no operation", tessera_plan_borrow(context.get(), desc, nullptr, &plan, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"op = 9"});
  check_error("no place", tessera_plan_borrow(context.get(), desc, nullptr, nullptr, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"plan", "null"});
  CHECK(plan == nullptr);
}

}  // namespace tessera::test
