// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Long marches of the algorithms for waves, whose blocks meet on their way, which the domains of the conformance suite
/// are too short for: integers, exact in any order of operations, so that every algorithm gives the same bits.

#include "cuda_support.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

constexpr std::int64_t kPlanes = 300, kMiddle = 330, kRow = 332, kPoints = kPlanes * kMiddle * kRow;
/// Up to 8 at first, times at most 1 + 2 + 1 + 6 * 4 in a step: below 2^23 after so many, and f32 has 24 bits.
constexpr std::int64_t kSteps = 4, kReceivers = 3;

/// The steps of a wave in a medium of integers, with a source and receivers.
StencilSystem integer_wave(DType dtype, int radius) {
  Taps star(3, {{{0, 0, 0}, -1.0}});
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (int distance = 1; distance <= radius; ++distance)
      for (const int side : {-1, 1}) {
        std::array<std::int64_t, 3> offset{};
        offset[axis] = side * distance;
        star.add(offset, double(axis == 1 ? -side : side));
      }
  StencilSystem system({kPlanes, kMiddle, kRow}, dtype);
  const auto u = system.state("u", {.levels = 2});
  system.update(u) = 2 * u - u[-1] + system.array("a") * u.under(star);
  system.inject(u, {{{{150, 61, 63}}}, {1.0}, {0}, 1});
  system.record(u, {{{{0, 0, 0}}, {{151, 62, 63}}, {{299, 329, 331}}}, {1.0, 1.0, 1.0}, {0, 1, 2}, kReceivers});
  return system;
}

template <class T>
std::vector<T> integers(std::int64_t count, int most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = T(int(random() % unsigned(2 * most + 1)) - most);
  return values;
}

/// The arrays of a run, and what it leaves.
template <class T>
class Run {
 public:
  explicit Run(Context& context)
      : context_(context),
        start_(integers<T>(2 * kPoints, 8, 1)),
        levels_(context, 2 * kPoints),
        medium_(context, kPoints),
        source_(context, kSteps),
        traces_(context, kSteps * kReceivers) {
    medium_.upload(integers<T>(kPoints, 1, 2));
    source_.upload(integers<T>(kSteps, 8, 3));
  }

  /// Both levels and the traces after the steps.
  std::vector<T> operator()(const StencilSystem& system, const std::string& algorithm) {
    SystemPlan plan(context_, system, kSteps, {.operands = Memory::device, .algorithm = algorithm});
    levels_.upload(start_);
    plan.execute({{system.field("u"), levels_.data(), levels_.data() + kPoints}, {system.field("a"), medium_.data()}},
                 {{source_.data()}, {traces_.data()}});
    std::vector<T> result(std::size_t(2 * kPoints)), traces(std::size_t(kSteps * kReceivers));
    levels_.download(result);
    traces_.download(traces);
    result.insert(result.end(), traces.begin(), traces.end());
    return result;
  }

 private:
  Context& context_;
  std::vector<T> start_;
  Buffer<T> levels_, medium_, source_, traces_;
};

/// With kernels for the radius.
template <class T>
std::vector<std::string> wave_algorithms(int radius) {
  constexpr std::array kDeepest = sizeof(T) == 8 ? std::array{4, 2, 0, 0} : std::array{4, 3, 2, 0};
  std::vector<std::string> names{"streaming"};
  for (int depth = 1; depth <= kDeepest[std::size_t(radius - 1)]; ++depth)
    if (depth != 3) names.push_back("temporal:depth=" + std::to_string(depth));  // 4 steps: 2 passes of 2
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("waves in marches whose blocks meet have the bits of single points", "[system]", float, double) {
  Context context = open_cuda();
  require_hopper();
  const int radius = GENERATE(1, 2, 3, 4);
  const StencilSystem system = integer_wave(kDType<TestType>, radius);
  Run<TestType> run(context);
  const std::vector<TestType> expected = run(system, "direct");
  for (const std::string& algorithm : wave_algorithms<TestType>(radius))
    for (int again = 0; again < 2; ++again) {  // the counters of the meetings are in order after the first run
      CAPTURE(radius, algorithm, again);
      REQUIRE(run(system, algorithm) == expected);
    }
}

}  // namespace tessera::test
