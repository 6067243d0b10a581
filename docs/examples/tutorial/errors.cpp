// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's errors: what is thrown, and what it says.

#include <tessera/tessera.hpp>

#include <cstdio>
#include <functional>
#include <vector>

namespace {

/// The code that `work` throws; prints the message.
tessera::ErrorCode code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const tessera::Error& error) {
    std::puts(error.what());
    return error.code();
  }
  return tessera::ErrorCode::internal;
}

}  // namespace

int main() {
  using tessera::ErrorCode;
  tessera::GemmPlan plan({.m = 4, .n = 4, .k = 4});
  std::vector<float> a(16, 1.0f), b(16, 1.0f), c(16), few(3);

  const bool told = code_of([&] { plan.execute(1.0f, a, b, 0.0f, few); }) == ErrorCode::invalid_argument &&
                    code_of([&] { tessera::Context("warp"); }) == ErrorCode::backend_unavailable &&
                    code_of([&] { tessera::GemmPlan({.m = 4, .n = 4}); }) == ErrorCode::invalid_argument;

  plan.execute(1.0f, a, b, 0.0f, c);  // after an error every object is as good as before
  return told && c[0] == 4 ? 0 : 1;
}
