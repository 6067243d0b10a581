// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Contexts beside others: several handles of one, one that waits for another, one that goes first.

#include "errors.hpp"

#include "../plugins/fake_stats.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

const FakeStats& stats_of(Context& context) { return *static_cast<FakeStats*>(context.native_stream()); }

/// A product of one element that is queued on a context.
class Queued {
 public:
  explicit Queued(Context& context)
      : plan_(context, {.m = 1, .n = 1, .k = 1}, {.operands = Memory::device}),
        a_(context, 1),
        b_(context, 1),
        c_(context, 1) {
    a_.upload(one_), b_.upload(one_), c_.upload(one_);
    plan_.execute(1.0f, a_, b_, 0.0f, c_);
  }

 private:
  std::vector<float> one_{1.0f};
  GemmPlan plan_;
  Buffer<float> a_, b_, c_;
};

}  // namespace

TEST_CASE("a context lives until its last handle is destroyed", "[context]") {
  Context other = fake();
  const auto contexts = [&] { return stats_of(other).contexts_of_process; };
  const std::int64_t before = contexts();
  tessera_context *first = nullptr, *second = nullptr;
  const tessera_context_options options{sizeof options, "fake:1", nullptr, 0, 0, 0};
  REQUIRE(tessera_context_create(&options, &first, nullptr) == TESSERA_OK);
  REQUIRE(tessera_context_share(first, &second, nullptr) == TESSERA_OK);
  CHECK(first != second);
  void *stream = nullptr, *same = nullptr;
  REQUIRE(tessera_context_native_stream(first, &stream, nullptr) == TESSERA_OK);
  REQUIRE(tessera_context_native_stream(second, &same, nullptr) == TESSERA_OK);
  CHECK(stream == same);
  CHECK(contexts() == before + 1);
  tessera_context_destroy(first);
  CHECK(contexts() == before + 1);
  CHECK(std::string(tessera_context_backend(second)) == "fake");
  CHECK(tessera_context_device(second) == 1);
  CHECK(tessera_context_synchronize(second, nullptr) == TESSERA_OK);
  tessera_context_destroy(second);
  CHECK(contexts() == before);

  ErrorText error;
  check_error("nothing to share", tessera_context_share(nullptr, &second, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"context = null"});
  check_error("no place for it", tessera_context_share(other.get(), nullptr, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"same = null"});
}

TEST_CASE("where a backend has no wait_for, the earlier context is waited for", "[context]") {
  Context earlier = fake(), later = fake();
  {
    const ScopedVariable fault("TESSERA_FAKE_FAULT", "synchronize:1");
    check_throws("the earlier one", ErrorCode::device_error, {"synchronize fails"}, [&] { later.wait_for(earlier); });
  }
  CHECK_NOTHROW(later.wait_for(earlier));
  CHECK_NOTHROW(later.wait_for(later));
  CHECK(stats_of(later).waits == 0);
}

TEST_CASE("another backend's context is waited for, and no other", "[context]") {
  Context earlier("fatal"), later = fake(), same("fatal");
  const Queued kills(earlier);
  CHECK_NOTHROW(earlier.wait_for(later));
  check_throws("what is queued", ErrorCode::device_error, {"the device fell off the bus"},
               [&] { later.wait_for(earlier); });
  for (Context* context : {&later, &same})
    check_throws("a context that died", ErrorCode::device_error, {"can do no more work", "fell off the bus"},
                 [&] { context->wait_for(earlier); });
  check_throws("of one that died", ErrorCode::device_error, {"can do no more work"}, [&] { earlier.wait_for(same); });
  CHECK_NOTHROW(later.synchronize());
  CHECK_NOTHROW(same.synchronize());
}

TEST_CASE("a backend with wait_for queues it, and nobody waits", "[context]") {
  Context earlier("fatal"), later("fatal");
  const Queued kills(earlier);
  CHECK_NOTHROW(later.wait_for(earlier));
  CHECK(stats_of(later).waits == 1);
  CHECK(stats_of(earlier).waits == 0);
  check_throws("what is queued", ErrorCode::device_error, {"the device fell off the bus"},
               [&] { later.synchronize(); });
}

TEST_CASE("null contexts do not wait", "[context]") {
  Context context = fake();
  ErrorText error;
  check_error("nobody", tessera_context_wait_for(nullptr, context.get(), error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"context = null"});
  check_error("for nobody", tessera_context_wait_for(context.get(), nullptr, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"earlier = null"});
}

TEST_CASE("a priority reaches the backend", "[context]") {
  Context usual = fake(), first("fake", {.high_priority = true});
  CHECK(stats_of(usual).high_priority == 0);
  CHECK(stats_of(first).high_priority == 1);
}

}  // namespace tessera::test
