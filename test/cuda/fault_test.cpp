// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A fault of the device, in a process of its own: it is reported, everything says so afterwards, and the program ends
/// in peace.

#include "cuda_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <vector>

namespace tessera::test {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("an illegal device pointer kills the context, which says so from then on", "[.fault]") {
  Context context = open_cuda();
  constexpr std::int64_t n = 1024;
  Buffer<float> buffer(context, n * n), target(context, n * n);
  GemmPlan plan(context, {.m = n, .n = n, .k = n}, {.operands = Memory::device}),
      other(context, {.m = 2, .n = 2, .k = 2});
  auto* const illegal = reinterpret_cast<float*>(std::uintptr_t{0x10});
  std::vector<float> values(4, 1.0f), result(4);

  const auto device_error = [](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::device_error);
      return std::string(error.what());
    }
    FAIL_CHECK("nothing was thrown");
    return std::string();
  };
  const std::string first = device_error([&] {
    plan.execute(1.0f, illegal, illegal, 0.0f, target.data());
    context.synchronize();
  });
  CHECK_FALSE(first.empty());
  const auto says_so = [&](auto&& body) { CHECK_THAT(device_error(body), ContainsSubstring("no more work")); };
  says_so([&] { context.synchronize(); });
  says_so([&] { plan.execute(1.0f, buffer.data(), buffer.data(), 0.0f, target.data()); });
  says_so([&] { other.execute(1.0f, values.data(), values.data(), 0.0f, result.data()); });
  says_so([&] { buffer.download(result); });
  says_so([&] { Buffer<float> more(context, 4); });
  says_so([&] { GemmPlan more(context, {.m = 2, .n = 2, .k = 2}); });
}

}  // namespace tessera::test
