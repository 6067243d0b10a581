// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// An operation on given data with what must come out, and its execution on a backend.
#pragma once

#include "reference.hpp"

#include <tessera/tessera.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace showcase {

template <tessera::Element T>
struct GemmCase {
  std::string name;
  tessera::GemmDesc desc;
  std::vector<T> a, b;
  Expected expected;

  static constexpr const char* kUnit = "GFLOP/s";
  double work() const { return 2.0 * double(desc.m) * double(desc.n) * double(desc.k); }
};

template <tessera::Element T>
struct StencilCase {
  std::string name;
  tessera::StencilDesc desc;
  std::vector<T> in;
  Expected expected;

  static constexpr const char* kUnit = "GStencil/s";
  double work() const { return double(in.size()) * double(desc.steps); }
};

template <tessera::Element T>
struct Measured {
  double seconds;  ///< median after a warm-up; the one execution where that took long
  double fastest;
  std::string algorithm;
  std::vector<T> result;
};

/// Executes with operands in the device's memory, so that the time is that of the operation alone.
template <tessera::Element T, class Execute>
Measured<T> measured(tessera::Context& context, tessera::Buffer<T>& out, const tessera::Plan& plan, Execute&& execute) {
  constexpr double kPatience = 0.1;  // seconds of repetitions
  constexpr std::size_t kMostRuns = 15;
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    execute();
    context.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<T> result(std::size_t(out.size()), std::numeric_limits<T>::quiet_NaN());
  out.upload(result);  // an element that is not written shall not look right
  const double first = timed();
  std::vector<double> seconds;
  double total = first;
  while (seconds.empty() ? first < 0.5 : total < kPatience && seconds.size() < kMostRuns) {
    seconds.push_back(timed());
    total += seconds.back();
  }
  if (seconds.empty()) seconds.push_back(first);
  std::sort(seconds.begin(), seconds.end());
  out.download(result);
  return {seconds[seconds.size() / 2], seconds.front(), plan.algorithm(), std::move(result)};
}

template <tessera::Element T>
tessera::Buffer<T> uploaded(tessera::Context& context, const std::vector<T>& values) {
  tessera::Buffer<T> buffer(context, std::int64_t(values.size()));
  buffer.upload(values);
  return buffer;
}

template <tessera::Element T>
Measured<T> run(const GemmCase<T>& c, tessera::Context& context, const std::string& algorithm) {
  tessera::GemmPlan plan(context, c.desc, {.operands = tessera::Memory::device, .algorithm = algorithm});
  const tessera::Buffer<T> a = uploaded(context, c.a), b = uploaded(context, c.b);
  tessera::Buffer<T> out(context, c.desc.m * c.desc.n);
  return measured(context, out, plan, [&] { plan.execute(T(1), a.data(), b.data(), T(0), out.data()); });
}

template <tessera::Element T>
Measured<T> run(const StencilCase<T>& c, tessera::Context& context, const std::string& algorithm) {
  tessera::StencilPlan plan(context, c.desc, {.operands = tessera::Memory::device, .algorithm = algorithm});
  const tessera::Buffer<T> in = uploaded(context, c.in);
  tessera::Buffer<T> out(context, std::int64_t(c.in.size()));
  return measured(context, out, plan, [&] { plan.execute(in.data(), out.data()); });
}

}  // namespace showcase
