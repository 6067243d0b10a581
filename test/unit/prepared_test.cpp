// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// B of products prepared once: what plans of it compute, whom they refuse, and when its memory goes. On the emulated
/// device, which has no form but the matrix.

#include "errors.hpp"
#include "scene.hpp"

#include "../plugins/fake_stats.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

std::int64_t live_allocations() {
  Context context = fake();
  return static_cast<const FakeStats*>(context.native_stream())->allocations_of_process;
}

const GemmDesc kRows3{.m = 3, .n = 5, .k = 4};
const std::vector<float> kA = counted(12), kB = counted(20);

std::vector<float> product(const GemmDesc& desc, const std::vector<float>& a, const std::vector<float>& b) {
  Context context = fake();
  std::vector<float> c(std::size_t(std::int64_t(desc.m) * desc.n * desc.batch));
  GemmPlan(context, desc).execute(1.0f, a, b, 0.0f, c);
  return c;
}

}  // namespace

TEST_CASE("plans of any number of rows take a prepared B, in both orders of storage", "[prepared]") {
  Context context = fake();
  for (const Order order : {Order::row_major, Order::column_major})
    for (const Transpose trans : {Transpose::no, Transpose::yes}) {
      GemmDesc desc = kRows3;
      desc.order = order, desc.trans_b = trans;
      std::vector<float> b = counted(20), c(15);
      const PreparedOperand prepared = prepare(context, desc, b);
      b.assign(20, -1.0f);  // it may be changed
      CHECK(prepared.form() == "matrix");
      CHECK(prepared.bytes() == 256);  // 4 or 5 rows of 8, in whole pieces
      for (const std::int64_t m : {3, 1, 2}) {
        desc.m = m;
        const std::vector<float> a(kA.begin(), kA.begin() + 4 * m);
        GemmPlan plan(context, desc, {.prepared = &prepared});
        c.resize(std::size_t(5 * m));
        plan.execute(1.0f, a, nullptr, 0.0f, c);
        CHECK(c == product(desc, a, kB));
        GemmPlan twin = plan.clone();
        c.assign(c.size(), 0.0f);
        twin.execute(1.0f, a, nullptr, 0.0f, c);
        CHECK(c == product(desc, a, kB));
      }
    }
}

TEST_CASE("a prepared B in memory of the device, with gaps, and in a batch", "[prepared]") {
  Context context = fake();
  GemmDesc desc{.m = 2, .n = 2, .k = 2, .ldb = 3, .batch = 2, .stride_b = 7};
  const std::vector<float> b = counted(12), a = counted(8);
  Buffer<float> on_device(context, 12);
  on_device.upload(b);
  const PreparedOperand prepared = prepare(context, desc, on_device);
  std::vector<float> c(8);
  GemmDesc asked = desc;
  asked.ldb = kPacked, asked.stride_b = kPacked;  // nobody looks at them
  GemmPlan(context, asked, {.prepared = &prepared}).execute(1.0f, a, nullptr, 0.0f, c);
  CHECK(c == product(desc, a, b));

  desc.batch = 1;
  const PreparedOperand one = prepare(context, desc, b);
  asked.stride_b = 0;
  const std::vector<float> first(b.begin(), b.begin() + 5);
  GemmPlan(context, asked, {.prepared = &one}).execute(1.0f, a, nullptr, 0.0f, c);
  desc.batch = 2, desc.stride_b = 0;
  CHECK(c == product(desc, a, first));
}

TEST_CASE("a product in one call, and what a plan says of a prepared B", "[prepared]") {
  Scene scene;
  Context& context = scene.context();
  std::optional<PreparedOperand> prepared = prepare(context, kRows3, kB);
  CHECK(scene.said("prepared b of gemm f32 m=3 n=5 k=4 NN row-major | fake | device 0 | as matrix | 256 bytes"));
  std::vector<float> c(15);
  gemm(kRows3, 1.0f, kA, *prepared, 0.0f, c);
  CHECK(c == product(kRows3, kA, kB));
  GemmPlan plan(context, kRows3, {.prepared = &*prepared});
  check_message(plan.describe(), {"b prepared as matrix, by the model 1.00 times as fast as without"});
  CHECK(plan.operand_range(Role::b) == std::pair<std::int64_t, std::int64_t>(0, 0));

  const auto idle = plan_cache::info().idle, alive = live_allocations();
  prepared.reset();
  CHECK(plan_cache::info().idle == idle - 1);  // that of the call
  c.assign(15, 0.0f);
  plan.execute(1.0f, kA, nullptr, 0.0f, c);  // keeps it alive
  CHECK(c == product(kRows3, kA, kB));
  plan = GemmPlan(context, kRows3);
  CHECK(live_allocations() < alive);
}

TEST_CASE("wisdom of a prepared B is its own, and measuring times it", "[prepared]") {
  Scene scene;
  const PreparedOperand prepared = prepare(scene.context(), kRows3, kB);
  GemmPlan(scene.context(), kRows3, {.effort = Effort::measure});
  CHECK(scene.said("measured tuned"));
  GemmPlan plan(scene.context(), kRows3, {.effort = Effort::measure, .prepared = &prepared});
  CHECK(scene.said("measured tuned"));
  std::vector<float> c(15);
  plan.execute(1.0f, kA, nullptr, 0.0f, c);
  CHECK(c == product(kRows3, kA, kB));
  GemmPlan again(scene.context(), kRows3, {.prepared = &prepared});
  check_message(again.describe(), {"from wisdom"});
}

TEST_CASE("columns of a wider product are prepared as such", "[prepared]") {
  Context context = fake();
  GemmDesc desc = kRows3;
  desc.sums = Sums::ordered;
  const PreparedOperand prepared = prepare(context, desc, kB);
  desc.whole_n = 9;
  check_throws("of five", ErrorCode::invalid_argument, {"whole_n = 9", "prepared for 0"},
               [&] { GemmPlan(context, desc, {.prepared = &prepared}); });
  const PreparedOperand of_nine = prepare(context, desc, kB);
  CHECK_NOTHROW(GemmPlan(context, desc, {.prepared = &of_nine}));
}

TEST_CASE("what a plan and its execution refuse of a prepared B", "[prepared]") {
  Context context = fake();
  const PreparedOperand prepared = prepare(context, kRows3, kB);
  const auto refuses = [&](const std::vector<std::string>& parts, auto change) {
    GemmDesc desc = kRows3;
    change(desc);
    check_throws(parts.front().c_str(), ErrorCode::invalid_argument, parts,
                 [&] { GemmPlan(context, desc, {.prepared = &prepared}); });
  };
  refuses({"n = 6", "prepared for 5"}, [](GemmDesc& d) { d.n = 6; });
  refuses({"k = 3", "prepared for 4"}, [](GemmDesc& d) { d.k = 3; });
  refuses({"dtype = f64", "prepared for f32"}, [](GemmDesc& d) { d.dtype = DType::f64; });
  refuses({"dtype_b = bf16", "prepared for f32"}, [](GemmDesc& d) { d.dtype_b = DType::bf16; });
  refuses({"trans_b = 1", "prepared for 0"}, [](GemmDesc& d) { d.trans_b = Transpose::yes; });
  refuses({"order"}, [](GemmDesc& d) { d.order = Order::column_major; });
  refuses({"compute = bf16x6", "prepared for strict"}, [](GemmDesc& d) { d.compute = Compute::bf16x6; });
  refuses({"sums = ordered", "prepared for any"}, [](GemmDesc& d) { d.sums = Sums::ordered; });
  refuses({"triangle = lower", "pass the matrix"}, [](GemmDesc& d) { d.m = d.n, d.triangle = Triangle::lower; });
  refuses({"batch = 2", "2 matrices", "prepared as 1", "stride_b = 0"}, [](GemmDesc& d) { d.batch = 2; });

  Context other("fake:1"), beside = fake();
  check_throws("another device", ErrorCode::invalid_argument, {"prepared = an operand of fake:0", "fake:1"},
               [&] { GemmPlan(other, kRows3, {.prepared = &prepared}); });
  CHECK(GemmPlan(beside, kRows3, {.prepared = &prepared}).device() == 0);
  check_throws("a stencil", ErrorCode::invalid_argument, {"prepared", "matrix products"},
               [&] { StencilPlan(context, {.extents = {8}, .taps = taps::laplacian(1)}, {.prepared = &prepared}); });
  GemmPlan plan(context, kRows3, {.prepared = &prepared});
  std::vector<float> c(15, 7.0f);
  check_throws("b beside it", ErrorCode::invalid_argument, {"b", "must be null"},
               [&] { plan.execute(1.0f, kA, kB.data(), 0.0f, c); });
  CHECK(c == std::vector<float>(15, 7.0f));
  plan.execute(1.0f, kA, nullptr, 0.0f, c);
  CHECK(c == product(kRows3, kA, kB));

  PreparedOperand moved = prepare(context, kRows3, kB);
  const PreparedOperand taken = std::move(moved);
  check_throws("what was moved from", ErrorCode::invalid_argument, {"prepared", "moved from"},
               [&] { GemmPlan(context, kRows3, {.prepared = &moved}); });
}

TEST_CASE("what cannot be prepared", "[prepared]") {
  Context context = fake();
  check_throws("too few elements", ErrorCode::invalid_argument, {"b = 19 elements", "20"},
               [&] { (void)prepare(context, kRows3, counted(19)); });
  check_throws("nothing", ErrorCode::invalid_argument, {"b = null", "20 elements"},
               [&] { (void)prepare(context, kRows3, static_cast<const float*>(nullptr)); });
  check_throws("another type", ErrorCode::invalid_argument, {"b is of type f64", "f32"},
               [&] { (void)prepare(context, kRows3, std::vector<double>(20)); });
  check_throws("a descriptor without m", ErrorCode::invalid_argument, {"m = -1"},
               [&] { (void)prepare(context, {.n = 5, .k = 4}, kB); });
  const PreparedOperand prepared = prepare(context, kRows3, kB);
  check_throws("twice", ErrorCode::invalid_argument, {"prepared", "must be null"},
               [&] { (void)prepare(context, kRows3, kB, {.prepared = &prepared}); });
  CHECK(tessera_prepare(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr) == TESSERA_INVALID_ARGUMENT);
  tessera_prepared_destroy(nullptr);
  std::vector<float> c(15);
  gemm(GemmDesc{.m = 3, .n = 5, .k = 0}, 1.0f, kA, prepare(context, {.m = 3, .n = 5, .k = 0}, kB), 0.0f, c);
  CHECK(c == std::vector<float>(15));
}

}  // namespace tessera::test
