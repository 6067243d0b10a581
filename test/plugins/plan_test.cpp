// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What a plan refuses leaves nothing behind; where its threads come from. The emulated device keeps count.

#include "fake_stats.hpp"
#include "message_of.hpp"
#include "process.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tessera;
using tessera::test::FakeStats;
using tessera::test::message_of;
using tessera::test::ScopedVariable;

namespace {

const FakeStats& stats(Context& context) { return *static_cast<const FakeStats*>(context.native_stream()); }

const GemmDesc kSmall{.m = 2, .n = 2, .k = 2};

}  // namespace

TEST_CASE("an overlap is refused as often as it is tried, and what lies apart is not") {
  Context context("fake");
  GemmPlan plan(context, kSmall);
  const float b[4] = {1, 0, 0, 1};
  float both[9] = {1, 2, 3, 4, 0, 0, 0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    for (const int distance : {3, 3, 2, 2})
      message_of(ErrorCode::invalid_argument, [&] { plan.execute(1, both, b, 0, both + distance); });
    plan.execute(1, both, b, 0, both + 4);
    CHECK(both[7] == 4);
  }
}

TEST_CASE("a workspace that is refused leaves no plan behind, and one aligned to 256 bytes is taken") {
  Context context("fake");
  Buffer<char> memory(context, 1 << 16);
  const auto make = [&](std::int64_t offset, std::uint64_t bytes) {
    return GemmPlan(context, kSmall,
                    {.operands = Memory::device,
                     .algorithm = "tuned",
                     .workspace = memory.data() + offset,
                     .workspace_bytes = bytes});
  };
  for (const std::int64_t offset : {1, 16, 64, 128})
    message_of(ErrorCode::invalid_argument, [&] { make(offset, 8192); });
  CHECK(stats(context).live_plans == 0);
  CHECK(make(256, 4096).workspace_bytes() == 4096);
  const StencilDesc two_steps{.extents = {16}, .taps = taps::identity(1), .steps = 2};  // takes 64 bytes
  message_of(ErrorCode::invalid_argument,
             [&] { StencilPlan plan(context, two_steps, {.workspace = memory.data(), .workspace_bytes = 63}); });
  CHECK(stats(context).live_plans == 0);
}

TEST_CASE("threads: what code asks for beats the variable, which speaks for plans without a context, too") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake"), threads("TESSERA_NUM_THREADS", "7");
  ContextOptions options;
  options.threads = 3;
  Context three("fake", options), seven("fake");
  CHECK(stats(three).threads == 3);
  CHECK(stats(seven).threads == 7);
  options.threads = 5;
  Context five("fake", options);
  GemmPlan plan(kSmall);
  Context probe("fake", options);
  CHECK(stats(probe).threads_of_the_one_before == 7);
}
