// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products and stencils in one call, what operands may be, and numbers of any integral type.

#include "errors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace tessera::test {

namespace {

const std::vector<double> kA = {1, 2, 3, 4, 5, 6};  // 2 x 3
const std::vector<double> kB = {1, 0, 0, 1, 1, 1};  // 3 x 2
const std::vector<double> kC = {4, 5, 10, 11};
const GemmDesc kDesc{.m = 2, .n = 2, .k = 3};

template <class T>
std::vector<T> cast(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class T>
Buffer<T> upload(Context& context, const std::vector<T>& values) {
  Buffer<T> buffer(context, values.size());
  buffer.upload(values);
  return buffer;
}

template <class T>
std::vector<T> download(const Buffer<T>& buffer) {
  std::vector<T> values(std::size_t(buffer.size()));
  buffer.download(values);
  return values;
}

template <class T>
void check_both_forms_on_host(Context& context) {
  const std::vector<T> a = cast<T>(kA), b = cast<T>(kB);
  std::vector<T> c(4), pointers(4);
  gemm(context, kDesc, 1, a, b, 0, c);
  CHECK(c == cast<T>(kC));
  gemm(context, kDesc, 1, a.data(), b.data(), 0, pointers.data());
  CHECK(pointers == c);
  std::array<T, 4> array{};
  gemm(context, kDesc, 1, std::span(a), std::span(b), 0, array);
  CHECK(std::vector<T>(array.begin(), array.end()) == c);
  gemm(context, kDesc, 2, a, b, 1, std::span(array));
  CHECK(array[3] == 33);
  std::vector<T> sums(6);
  stencil(context, {.extents = {6}, .taps = taps::box(1, 1) + taps::box(1, 1) + taps::box(1, 1)}, a, sums);
  CHECK(sums[1] == 6);
  stencil(context, {.extents = {6}, .taps = taps::identity(1)}, a.data(), sums.data());
  CHECK(sums == a);
}

template <class T>
void check_buffers(Context& context) {
  const Buffer<T> a = upload(context, cast<T>(kA)), b = upload(context, cast<T>(kB));
  Buffer<T> c(context, 4), d(context, 6);
  gemm(context, kDesc, 1, a, b, 0, c);
  CHECK(download(c) == cast<T>(kC));
  stencil(context, {.extents = {6}, .taps = taps::identity(1)}, a, d);
  CHECK(download(d) == cast<T>(kA));
}

}  // namespace

TEST_CASE("a product and a stencil in one call, of the type of their arrays", "[one call]") {
  Context context = fake();
  check_both_forms_on_host<float>(context);
  check_both_forms_on_host<double>(context);
  check_buffers<float>(context);
  check_buffers<double>(context);
}

TEST_CASE("one call without a context runs where the environment says", "[one call]") {
  std::vector<float> c(4), out(6);
  gemm(kDesc, 1, cast<float>(kA), cast<float>(kB), 0, c);
  CHECK(c == cast<float>(kC));
  stencil({.extents = {6}, .taps = taps::identity(1)}, cast<float>(kA), out);
  CHECK(out == cast<float>(kA));
  check_throws("an algorithm that is not there", ErrorCode::unsupported, {"nonsense"},
               [&] { gemm(kDesc, 1, cast<float>(kA), cast<float>(kB), 0, c, {.algorithm = "nonsense"}); });
}

TEST_CASE("one call from C", "[one call]") {
  Context context = fake();
  const tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, 2, 2, 3);
  std::vector<double> c(4);
  ErrorText error;
  CHECK(tessera_gemm(context.get(), &desc, 1.0, kA.data(), kB.data(), 0.0, c.data(), error.get()) == TESSERA_OK);
  CHECK(c == kC);
  check_error("nothing", tessera_gemm(context.get(), nullptr, 1.0, nullptr, nullptr, 0.0, nullptr, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"desc", "null"});
  check_error("no array", tessera_gemm(context.get(), &desc, 1.0, kA.data(), nullptr, 0.0, c.data(), error.get()),
              error, TESSERA_INVALID_ARGUMENT, {"b = null", "6 elements"});
  const tessera_gemm_desc single = tessera_packed_gemm(TESSERA_F32, 1, 1, 1);
  const float one = 1;
  float rounded = 0;
  CHECK(tessera_gemm(context.get(), &single, 0.1, &one, &one, 0.0, &rounded, error.get()) == TESSERA_OK);
  CHECK(rounded == 0.1f);
}

TEST_CASE("operands of one call whose types do not go together are named", "[one call]") {
  Context context = fake();
  const std::vector<float> a = cast<float>(kA), b = cast<float>(kB);
  std::vector<float> c(4);
  std::vector<double> wide(6);
  const auto refused = [](const char* message, auto&& body) {
    check_throws(message, ErrorCode::invalid_argument, {message}, body);
  };
  refused("c is of type f32: must be f64, the type of a and b", [&] { gemm(context, kDesc, 1, a, kB, 0, c); });
  refused("c is of type f64: must be f32, the type of a and b", [&] { gemm(context, kDesc, 1, a, b, 0, wide); });
  refused("in is of type f32: must be f64, the type of out",
          [&] { stencil(context, {.extents = {6}, .taps = taps::identity(1)}, a, wide); });
}

TEST_CASE("sizes of operands are checked in every form", "[one call]") {
  Context context = fake();
  const PlanOptions device{.operands = Memory::device};
  const std::vector<float> a = cast<float>(kA), b = cast<float>(kB), few(5);
  std::vector<float> c(4), small(3), none;
  GemmPlan on_host(context, kDesc), on_device(context, kDesc, device);
  const auto refused = [](const char* part, const char* need, auto&& body) {
    check_throws(part, ErrorCode::invalid_argument, {part, need}, body);
  };
  refused("a has 5 elements", "needs 6", [&] { on_host.execute(1, few, b, 0, c); });
  refused("b has 5 elements", "needs 6", [&] { on_host.execute(1, a, std::span(few), 0, c); });
  refused("c has 3 elements", "needs 4", [&] { on_host.execute(1, a, b, 0, small); });
  refused("c has 0 elements", "needs 4", [&] { gemm(context, kDesc, 1, a, b, 0, none); });
  refused("a has 5 elements", "needs 6", [&] { gemm(context, kDesc, 1, few, b, 0, c); });
  float array[3] = {};
  refused("c has 3 elements", "needs 4", [&] { on_host.execute(1, a, b, 0, array); });

  const Buffer<float> da = upload(context, a), db = upload(context, b), dfew = upload(context, few);
  Buffer<float> dc(context, 4), dsmall(context, 3);
  refused("a has 5 elements", "needs 6", [&] { on_device.execute(1, dfew, db, 0, dc); });
  refused("b has 5 elements", "needs 6", [&] { on_device.execute(1, da, dfew, 0, dc); });
  refused("c has 3 elements", "needs 4", [&] { on_device.execute(1, da, db, 0, dsmall); });
  refused("c has 3 elements", "needs 4", [&] { gemm(context, kDesc, 1, da, db, 0, dsmall); });
  on_device.execute(1, da, db, 0, dc);
  CHECK(download(dc) == cast<float>(kC));

  const StencilDesc sweep{.extents = {6}, .taps = taps::identity(1)};
  StencilPlan stencil_on_host(context, sweep), stencil_on_device(context, sweep, device);
  Buffer<float> dout(context, 6);
  refused("in has 5 elements", "needs 6", [&] { stencil_on_host.execute(few, c); });
  refused("out has 4 elements", "needs 6", [&] { stencil(context, sweep, a, c); });
  refused("in has 5 elements", "needs 6", [&] { stencil_on_device.execute(dfew, dout); });
  refused("out has 3 elements", "needs 6", [&] { stencil(context, sweep, da, dsmall); });
  stencil_on_device.execute(da, dout);
  CHECK(download(dout) == a);
}

TEST_CASE("buffers are no operands of a plan for host memory", "[one call]") {
  Context context = fake();
  Buffer<float> buffer(context, 6), other(context, 6);
  GemmPlan plan(context, kDesc);
  check_throws("a product", ErrorCode::invalid_argument, {"a is a buffer", "host operands", "Memory::device"},
               [&] { plan.execute(1, buffer, buffer, 0, other); });
  StencilPlan sweep(context, {.extents = {6}, .taps = taps::identity(1)});
  check_throws("a stencil", ErrorCode::invalid_argument, {"in is a buffer", "host operands"},
               [&] { sweep.execute(buffer, other); });
  check_throws("no context", ErrorCode::invalid_argument, {"without a context"},
               [&] { gemm(kDesc, 1, buffer, buffer, 0, other); });
}

TEST_CASE("numbers of any integral type", "[integer]") {
  static_assert(std::is_aggregate_v<GemmDesc> && std::is_aggregate_v<StencilDesc>);
  static_assert(!std::is_convertible_v<double, Integer> && !std::is_convertible_v<bool, Integer>);
  constexpr GemmDesc constant{.m = std::uint8_t{3}, .n = 4u, .k = std::size_t{5}, .lda = short{7}};
  static_assert(constant.m == 3 && constant.n == 4 && constant.k == 5 && constant.lda == 7 && constant.ldb == kPacked);
  const std::vector<float> v(6);
  const GemmDesc desc{.m = v.size(), .n = v.size(), .k = 1, .batch = int{2}};
  CHECK(desc.m == 6);
  CHECK(Integer(std::int64_t{-3}) == -3);
  constexpr std::uint64_t most = std::uint64_t((std::numeric_limits<std::int64_t>::max)());
  CHECK(Integer(most) == (std::numeric_limits<std::int64_t>::max)());
  check_throws("2^63", ErrorCode::invalid_argument, {"9223372036854775808", "at most 9223372036854775807"},
               [] { static_cast<void>(Integer(most + 1)); });
  Context context = fake();
  const std::vector<float> empty;
  check_throws("less than nothing", ErrorCode::invalid_argument, {"18446744073709551615", "subtracted"},
               [&] { GemmPlan plan(context, {.m = empty.size() - 1, .n = 1, .k = 1}); });
  check_throws("a negative one", ErrorCode::invalid_argument, {"n = -2", "at least 0"},
               [&] { GemmPlan plan(context, {.m = 1, .n = short{-2}, .k = 1}); });

  const std::array<unsigned, 2> shape = {2, 3};
  const StencilDesc grid{.extents = shape, .taps = taps::identity(2), .steps = v.size(), .in_strides = {v.size(), 1}};
  CHECK(grid.extents == Integers{2, 3});
  CHECK(grid.in_strides == std::vector<std::int64_t>{6, 1});
  CHECK(grid.steps == 6);
  CHECK(Integers{shape.begin(), shape.end()} == grid.extents);
  const Buffer<float> buffer(context, v.size());
  CHECK(buffer.size() == 6);
}

}  // namespace tessera::test
