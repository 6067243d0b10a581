// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Memory fails in everything that a program does with systems of fields; their executions take none.

#include "every_fault.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::test {
namespace {

constexpr std::int64_t kPlanes = 6, kRows = 7, kColumns = 9, kPoints = kPlanes * kRows * kColumns, kSteps = 3;
constexpr std::int64_t kPlane = kRows * kColumns, kSource = 2 * kPlane + 3 * kColumns + 4,
                       kReceiver = kSource + kColumns;

/// A wave with fixed sides, a source and a receiver. Its values are whole numbers, so that they are compared exactly.
struct SmallWave {
  StencilSystem system{{kPlanes, kRows, kColumns}};
  SystemField u = system.state("u", {.levels = 2}), c2 = system.array("c2");
  const std::vector<float> speed, source{1, 2, 3};
  std::vector<float> now, before, seismogram;
  const std::vector<FieldArrays> fields;
  const SystemSeries series;

  SmallWave()
      : speed(kPoints, 2),
        now(kPoints),
        before(kPoints),
        seismogram(kSteps),
        fields{{u, now, before}, {c2, speed}},
        series{.injected = {source}, .recorded = {seismogram}} {
    system.update(u) = 2 * u - u[-1] + c2 * u.under(taps::laplacian(3));
    system.inject(u, {{{2, 3, 4}}, {1.0}, {0}, 1});
    system.record(u, {{{2, 4, 4}}, {1.0}, {0}, 1});
  }
  SmallWave(const SmallWave&) = delete;

  void execute(SystemPlan& plan) {
    std::ranges::fill(now, 0.0f);  // in place, since `fields` has its address
    std::ranges::fill(before, 0.0f);
    plan.execute(fields, series);
    check(plan);
  }

  void check(const SystemPlan& plan) const {
    std::vector<float> u0(kPoints), u1(kPoints), record;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      std::vector<float> next = u1;  // of fixed points, never read
      for (std::int64_t p = 0; p < kPoints; ++p)
        next[std::size_t(p)] = is_inside(p) ? stepped(u0, u1, p) : u0[std::size_t(p)];
      next[kSource] += source[std::size_t(step)];
      record.push_back(next[kReceiver]);
      u1 = u0, u0 = next;
    }
    if ((plan.newest(u) == 0 ? now : before) != u0) throw WrongResult("the wave is wrong");
    if (seismogram != record) throw WrongResult("the seismogram is wrong");
  }

 private:
  static bool is_inside(std::int64_t p) {
    const std::int64_t i = p / kPlane, j = p / kColumns % kRows, k = p % kColumns;
    return i > 0 && i + 1 < kPlanes && j > 0 && j + 1 < kRows && k > 0 && k + 1 < kColumns;
  }
  static float stepped(const std::vector<float>& u, const std::vector<float>& v, std::int64_t p) {
    const auto at = [&](std::int64_t q) { return u[std::size_t(q)]; };
    const float sum = at(p - kPlane) + at(p + kPlane) + at(p - kColumns) + at(p + kColumns) + at(p - 1) + at(p + 1);
    return 2 * at(p) - v[std::size_t(p)] + 2 * (sum - 6 * at(p));
  }
};

template <class Work>
void each_algorithm(const std::vector<std::string>& names, Work&& work) {
  int algorithms = 0;
  for (const BackendInfo& info : backends()) {
    if (!info.available || std::ranges::count(names, info.name) == 0) continue;
    Context context(info.name, {std::nullopt, 2});
    for (const std::string& algorithm : info.system_algorithms) {
      INFO(info.name << " " << algorithm);
      work(context, algorithm);
      ++algorithms;
    }
  }
  CHECK(algorithms > 0);
}

}  // namespace

TEST_CASE("plans of systems survive every fault", "[use]") {
  SmallWave wave;
  each_algorithm({"faulty", "cpu", "kokkos-openmp"}, [&](Context& context, const std::string& algorithm) {
    every_fault(Family::memory, [&] {
      SystemPlan plan(context, wave.system, kSteps, {.operands = Memory::host, .algorithm = algorithm});
      wave.execute(plan);
      SystemPlan other = plan.clone();
      wave.execute(other);
    });
  });
}

TEST_CASE("an execution of a system takes no memory", "[use]") {
  SmallWave wave;
  each_algorithm({"cpu", "kokkos-openmp"}, [&](Context& context, const std::string& algorithm) {
    SystemPlan plan(context, wave.system, kSteps, {.operands = Memory::host, .algorithm = algorithm});
    wave.execute(plan);
    bool hit = false;
    {
      const Injection injection(Family::memory, Extent::for_good, 1);
      plan.execute(wave.fields, wave.series);
      hit = injection.hit();
    }
    CHECK_FALSE(hit);
  });
}

}  // namespace tessera::test
