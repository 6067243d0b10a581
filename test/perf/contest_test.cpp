// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A competitor that has several ways to run a problem: those that refuse and those that are wrong are no choice.

#include "contest.hpp"
#include "cases.hpp"
#include "host_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::perf;

namespace {

constexpr std::int64_t kSize = 16;

/// The product in double, rounded once.
void multiply(const void* const* in, void* out) {
  const auto at = [](const void* data, std::int64_t i) { return double(float(static_cast<const bfloat16*>(data)[i])); };
  for (std::int64_t i = 0; i < kSize; ++i)
    for (std::int64_t j = 0; j < kSize; ++j) {
      double sum = 0.0;
      for (std::int64_t t = 0; t < kSize; ++t) sum += at(in[0], i * kSize + t) * at(in[1], t * kSize + j);
      static_cast<bfloat16*>(out)[i * kSize + j] = bfloat16(float(sum));
    }
}

void refuse(const void* const*, void*) { throw std::runtime_error("it refuses"); }
void clear(const void* const*, void* out) { std::fill_n(static_cast<bfloat16*>(out), kSize * kSize, bfloat16(0.0f)); }
void multiply_late(const void* const* in, void* out) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  multiply(in, out);
}

class Several : public Competitor {
 public:
  explicit Several(std::vector<Candidate> ways) : ways_(std::move(ways)) {}
  std::string name() const override { return "peer:several"; }
  std::string unsupported(const Problem&) const override { return ""; }
  Execute prepare(const Problem&) override { return ways_.front().execute; }
  std::vector<Candidate> candidates(const Problem&) override {
    ++prepared;
    return ways_;
  }
  int prepared = 0;

 private:
  std::vector<Candidate> ways_;
};

/// What comes of it in two passes, between which its ways are not kept.
Outcome outcome_of(Several& several) {
  Platform platform;
  platform.device = std::make_unique<HostMemory>();
  const Problem p = resolve(gemm_case("16:bf16"));
  Fixture fixture(*platform.device, p, 3);
  Ceilings ceilings(platform);
  Speeds speeds;
  double plan_bytes = -1.0;
  const std::atomic<bool> stop{false};
  Contest contest(p, false);
  contest.add(several);
  for (std::int64_t pass = 0; pass < 2; ++pass)
    if (contest.wants(pass))
      contest.run(pass, fixture, {{.seconds = 0.1, .repetitions = 8, .passes = 2}, stop, ceilings, speeds, plan_bytes});
  return contest.outcome(0);
}

}  // namespace

TEST_CASE("of the ways to run a problem the fastest counts that is right") {
  Several several({{refuse}, {clear}, {multiply_late}, {multiply, Rounding::in_parts}, {multiply_late}});
  const Outcome outcome = outcome_of(several);
  CHECK(outcome.failure == "");
  CHECK(outcome.left_out == "");
  CHECK(outcome.in_parts);
  CHECK(outcome.accuracy.ulps <= 0.5);
  CHECK(outcome.time.repetitions == 4);  // every other round chooses
  CHECK(outcome.time.passes.size() == 2);
  CHECK(outcome.time.max < 3e-3);
  CHECK(several.prepared == 2);
}

TEST_CASE("where no way is right, the first one's error is told") {
  using Catch::Matchers::ContainsSubstring;
  Several refusing({{refuse}, {clear}}), wrong({{clear}, {refuse}}), alone({{refuse}});
  CHECK(outcome_of(refusing).failure == "it refuses");
  CHECK_THAT(outcome_of(wrong).failure, ContainsSubstring("wrong result"));
  CHECK(outcome_of(alone).failure == "it refuses");
}
