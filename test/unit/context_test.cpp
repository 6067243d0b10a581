// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Contexts, buffers, the choice by environment, and the lines of TESSERA_VERBOSE.

#include "errors.hpp"

#include "../plugins/fake_stats.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace tessera::test {

namespace {

const GemmDesc kSmall{.m = 2, .n = 2, .k = 2};

/// The lines of TESSERA_VERBOSE while it lives.
class Listener {
 public:
  Listener() {
    tessera_set_verbose_callback(
        [](const char* line, void* user) { static_cast<Listener*>(user)->lines.emplace_back(line); }, this);
  }
  ~Listener() { tessera_set_verbose_callback(nullptr, nullptr); }
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("what cannot be a backend is refused", "[context]") {
  check_throws("an unknown name", ErrorCode::backend_unavailable, {"backend", "nosuch", "fake"},
               [] { Context c("nosuch"); });
  check_throws("a device too many", ErrorCode::backend_unavailable, {"fake:7", "device"}, [] { Context c("fake:7"); });
  check_throws("a malformed device", ErrorCode::invalid_argument, {"backend", "fake:x"}, [] { Context c("fake:x"); });
  check_throws("a path", ErrorCode::invalid_argument, {"../fake"}, [] { Context c("../fake"); });
  ContextOptions options;
  options.threads = -1;
  check_throws("negative threads", ErrorCode::invalid_argument, {"threads", "-1", "at least 0"},
               [&] { Context c("fake", options); });
  CHECK(fake().backend() == "fake");
}

TEST_CASE("malformed variables are errors, not ignored", "[environment]") {
  struct Bad {
    const char* name;
    const char* value;
  };
  for (const Bad& bad : {Bad{"TESSERA_BACKEND", "fake:one"}, Bad{"TESSERA_BACKEND", "nosuch"}}) {
    const ScopedVariable variable(bad.name, bad.value);
    INFO(bad.name << "=" << bad.value);
    CHECK_THROWS_AS(Context(), Error);
    CHECK_THROWS_AS(GemmPlan(kSmall), Error);
  }
  Context context = fake();
  for (const Bad& bad : {Bad{"TESSERA_GEMM_ALGORITHM", "tuned:"}, Bad{"TESSERA_GEMM_ALGORITHM", "nosuch"},
                         Bad{"TESSERA_GEMM_ALGORITHM", "tuned:tile=7"}, Bad{"TESSERA_VERBOSE", "loud"}}) {
    const ScopedVariable variable(bad.name, bad.value);
    check_throws(bad.value, std::string(bad.value) == "nosuch" ? ErrorCode::unsupported : ErrorCode::invalid_argument,
                 {}, [&] { GemmPlan plan(context, kSmall); });
  }
  const ScopedVariable threads("TESSERA_NUM_THREADS", "none");
  check_throws("threads", ErrorCode::invalid_argument, {"TESSERA_NUM_THREADS", "none"}, [] { Context c("fake"); });
}

TEST_CASE("the environment chooses where code does not, and code beats it", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake:1"), algorithm("TESSERA_GEMM_ALGORITHM", "fake/tuned:split=2");
  CHECK(Context().backend() == "fake");
  CHECK(Context().device() == 1);
  CHECK(Context("fake").device() == 0);
  check_throws("a name in capitals", ErrorCode::backend_unavailable, {"did you mean 'fake'?"}, [] { Context("FAKE"); });
  CHECK(GemmPlan(kSmall).backend() == "fake");
  CHECK(GemmPlan(kSmall).device() == 1);
  CHECK(GemmPlan(kSmall).algorithm() == "tuned:tile=16,split=2");
  CHECK(GemmPlan(kSmall, {.algorithm = "plain"}).algorithm() == "plain");
  CHECK(StencilPlan({.extents = {4}, .taps = taps::identity(1)}).algorithm() ==
        "sweep");  // the other variable's business
  const ScopedVariable other("TESSERA_GEMM_ALGORITHM", "throwing/throws");
  CHECK(GemmPlan(kSmall).algorithm() == "plain");  // it concerns another backend's plans alone
}

TEST_CASE("what describe() prints can be given back", "[environment]") {
  Context context("fake:1");
  const std::string line = GemmPlan(context, kSmall, {.algorithm = "tuned:tile=8,split=2"}).describe();
  const std::string bar = " | ";
  const std::size_t first = line.find(bar) + bar.size();
  const std::string printed = line.substr(first, line.find(bar, first) - first);
  CHECK(printed == "fake/tuned:tile=8,split=2");
  CHECK(line.find(" | device 1 | ") != std::string::npos);
  CHECK(GemmPlan(context, kSmall, {.algorithm = printed}).describe() == line);
  const ScopedVariable variable("TESSERA_GEMM_ALGORITHM", printed.c_str());
  CHECK(GemmPlan(context, kSmall).describe() == line);
}

TEST_CASE("where a backend is not installed, the plugin that is missing is named", "[environment]") {
  const std::vector<std::string> parts = {"no plugin libtessera_backend_cuda-x.so or libtessera_backend_cuda-x-*.so",
                                          "searched for plugins: /", "(TESSERA_BACKEND_PATH)", "(beside libtessera)"};
  check_throws("a context", ErrorCode::backend_unavailable, parts, [] { Context c("cuda-x"); });
  check_throws("an algorithm", ErrorCode::backend_unavailable, parts,
               [] { GemmPlan plan(kSmall, {.algorithm = "cuda-x/naive"}); });
}

TEST_CASE("an algorithm of a backend of Tessera's that was not built says so", "[environment]") {
  const char* option = nullptr;
  for (std::int64_t i = 0; const char* name = tessera_unbuilt_backend(i, &option); ++i)
    check_throws(name, ErrorCode::backend_unavailable,
                 {"Tessera has this backend, but it was not built into this installation", option},
                 [&] { GemmPlan plan(kSmall, {.algorithm = std::string(name) + "/naive"}); });
  CHECK(tessera_unbuilt_backend(-1, nullptr) == nullptr);
  CHECK(tessera_unbuilt_backend(1000, &option) == nullptr);
}

TEST_CASE("an algorithm of a backend that does not exist is an error", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake"), algorithm("TESSERA_GEMM_ALGORITHM", "nosuch/plain");
  check_throws("nosuch/plain", ErrorCode::backend_unavailable, {"nosuch", "fake"}, [] { GemmPlan plan(kSmall); });
}

TEST_CASE("the environment is read once, and again where the program says so", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake"), algorithm("TESSERA_GEMM_ALGORITHM", "tuned");
  CHECK(GemmPlan(kSmall).algorithm() == "tuned:tile=16,split=1");
  setenv("TESSERA_GEMM_ALGORITHM", "plain", 1);
  CHECK(GemmPlan(kSmall).algorithm() == "tuned:tile=16,split=1");
  REQUIRE(tessera_reload_environment(nullptr) == TESSERA_OK);
  CHECK(GemmPlan(kSmall).algorithm() == "plain");
}

TEST_CASE("plans may be made while another thread changes the environment", "[environment]") {
  Context context("oldtable");  // a plugin that does not look at the environment itself
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (int i = 0; !done; ++i) setenv(("TESSERA_TEST_" + std::to_string(i % 500)).c_str(), "x", 1);
  });
  for (int i = 0; i < 3000; ++i) GemmPlan plan(context, kSmall);
  done = true;
  other.join();
  for (int i = 0; i < 500; ++i) unsetenv(("TESSERA_TEST_" + std::to_string(i)).c_str());
}

TEST_CASE("a forced algorithm of a backend that wins and cannot run it is an error", "[environment]") {
  // The emulated device says that it is the fastest for 7777 rows; its `picky` wants an even number.
  const GemmDesc odd{.m = 7777, .n = 2, .k = 2};
  const ScopedVariable none("TESSERA_BACKEND", std::nullopt);
  REQUIRE(GemmPlan(odd).backend() == "fake");
  const ScopedVariable algorithm("TESSERA_GEMM_ALGORITHM", "fake/picky");
  Context context = fake();
  CHECK(GemmPlan(context, kSmall).algorithm() == "picky");
  check_throws("odd", ErrorCode::unsupported, {"TESSERA_GEMM_ALGORITHM", "fake/picky", "m must be even"},
               [&] { GemmPlan plan(odd); });
  CHECK(GemmPlan(odd, {.algorithm = "fakestatic/plain"}).backend() == "fakestatic");  // code beats it
  Context other("fakestatic");
  CHECK(GemmPlan(other, odd).algorithm() == "plain");  // the variable does not concern this backend
}

TEST_CASE("a prediction counts transfers, and the threads that the context will have", "[environment]") {
  const ScopedVariable none("TESSERA_BACKEND", std::nullopt);
  const auto backend_of = [](std::int64_t m, std::int64_t n) { return GemmPlan({.m = m, .n = n, .k = 2}).backend(); };
  CHECK(backend_of(7777, 2) == "fake");
  CHECK(backend_of(7777, 3) == "fakestatic");  // the other one takes a quarter of a second for operands
  CHECK(backend_of(7776, 2) == "fakestatic");
  const ScopedVariable threads("TESSERA_NUM_THREADS", "3");
  CHECK(backend_of(7776, 2) == "fake");  // whose `spy` likes three threads
}

TEST_CASE("a forced algorithm without a backend is ranked by its own predicted time", "[environment]") {
  // Both say that they are the fastest for 7777 rows; `tuned` reaches half of that in one and all of it in the other.
  const GemmDesc desc{.m = 7777, .n = 2, .k = 2};
  const ScopedVariable none("TESSERA_BACKEND", std::nullopt);
  CHECK(GemmPlan(desc).backend() == "fake");
  CHECK(GemmPlan(desc, {.algorithm = "tuned"}).backend() == "fakestatic");
  CHECK(GemmPlan(desc, {.algorithm = "fake/tuned"}).backend() == "fake");
  const ScopedVariable algorithm("TESSERA_GEMM_ALGORITHM", "tuned");
  CHECK(GemmPlan(desc).backend() == "fakestatic");
}

TEST_CASE("an algorithm that a present plugin does not have is an error, whoever would run", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake");
  for (const char* name : {"fake/nosuch", "nodevice/nosuch", "unavailable/nosuch"}) {
    const ScopedVariable algorithm("TESSERA_GEMM_ALGORITHM", name);
    check_throws(name, ErrorCode::unsupported, {name, "no such algorithm", " has "}, [] { GemmPlan plan(kSmall); });
    Context context = fake();
    check_throws(name, ErrorCode::unsupported, {name, "no such algorithm"}, [&] { GemmPlan plan(context, kSmall); });
  }
  const ScopedVariable algorithm("TESSERA_GEMM_ALGORITHM", "nodevice/zero");
  CHECK(GemmPlan(kSmall).backend() == "fake");  // it is there, and concerns others
}

TEST_CASE("a variant that is not in use is an error", "[environment]") {
  const auto refused = [](auto&& body) {
    check_throws("v2", ErrorCode::backend_unavailable, {"leveled-v2/plain", "in use", "TESSERA_BACKEND=leveled-v2"},
                 body);
  };
  const ScopedVariable algorithm("TESSERA_GEMM_ALGORITHM", "leveled-v2/plain");
  Context best("leveled"), other("leveled-v2");
  if (best.backend() != "leveled-v3") SKIP("this processor has less than x86-64-v3");
  refused([&] { GemmPlan plan(best, kSmall); });
  CHECK(GemmPlan(other, kSmall).algorithm() == "plain");
  const ScopedVariable none("TESSERA_BACKEND", std::nullopt);
  refused([&] { GemmPlan plan(kSmall); });
  const ScopedVariable chosen("TESSERA_BACKEND", "leveled-v2");
  CHECK(GemmPlan(kSmall).backend() == "leveled-v2");
}

TEST_CASE("threads: code beats TESSERA_NUM_THREADS, which reaches plans without a context, too", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "fake"), threads("TESSERA_NUM_THREADS", "3");
  const auto seen = [](Context&& context) { return static_cast<FakeStats*>(context.native_stream())->threads; };
  CHECK(seen(Context()) == 3);
  ContextOptions five;
  five.threads = 5;
  CHECK(seen(Context("fake", five)) == 5);
  const GemmPlan plan(kSmall, {.algorithm = "spy"});
  CHECK(plan.algorithm() == "spy:threads=3");
  const ScopedVariable unset("TESSERA_NUM_THREADS", std::nullopt);
  CHECK(seen(Context()) == 0);
}

TEST_CASE("a context that was moved from is refused", "[context]") {
  static_assert(!std::is_constructible_v<Context, int> && !std::is_constructible_v<Context, std::nullptr_t>);
  static_assert(!std::is_constructible_v<Context, int, ContextOptions>);
  static_assert(std::is_constructible_v<Buffer<float>, const Context&, int>);
  Context context = fake();
  const Context taken = std::move(context);
  const auto refused = [](const char* what, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, {"context", "moved from"}, body);
  };
  refused("a plan", [&] { GemmPlan plan(context, kSmall); });
  refused("its name", [&] { context.backend(); });
  refused("its device", [&] { context.device(); });
  const char* const null = nullptr;
  check_throws("no name", ErrorCode::invalid_argument, {"backend", "null"}, [&] { Context none(null); });
}

TEST_CASE("device operands need a context", "[context]") {
  check_throws("none", ErrorCode::invalid_argument, {"operands", "context"},
               [] { GemmPlan plan(kSmall, {.operands = Memory::device}); });
}

TEST_CASE("buffers check sizes and ranges", "[buffer]") {
  Context context = fake();
  check_throws("a negative size", ErrorCode::invalid_argument, {"size", "-1"}, [&] { Buffer<float> b(context, -1); });
  check_throws("a size beyond memory", ErrorCode::invalid_argument, {"size"},
               [&] { Buffer<float> b(context, INT64_MAX); });
  Buffer<float> buffer(context, 10);
  std::vector<float> values(10, 1.0f), eleven(11);
  buffer.upload(values);
  const auto refused = [&](const char* what, auto&& body) {
    check_throws(what, ErrorCode::invalid_argument, {"10"}, body);
  };
  refused("too much up", [&] { buffer.upload(eleven); });
  refused("too much down", [&] { buffer.download(eleven); });
  refused("beyond the end", [&] { buffer.upload(values, 1); });
  refused("before the beginning", [&] { buffer.download(values, -1); });
  refused("an overflow", [&] { buffer.upload(values, INT64_MAX); });
  buffer.upload(std::span<const float>(), 10);
  std::vector<float> back(3);
  buffer.download(back, 7);
  CHECK(back == std::vector<float>(3, 1.0f));
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == 0);
  ErrorText error;
  tessera_buffer* made = nullptr;
  tessera_buffer* ten_bytes = nullptr;
  char bytes[16] = {};
  REQUIRE(tessera_buffer_create(context.get(), 10, &ten_bytes, error.get()) == TESSERA_OK);
  CHECK(tessera_buffer_upload(ten_bytes, 2, bytes, 8, error.get()) == TESSERA_OK);
  check_error("a byte beyond", tessera_buffer_upload(ten_bytes, 2, bytes, 9, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"offset_bytes", "10 bytes"});
  check_error("a byte beyond", tessera_buffer_download(ten_bytes, 3, bytes, 8, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"offset_bytes", "10 bytes"});
  tessera_buffer_destroy(ten_bytes);
  check_error("negative bytes", tessera_buffer_create(context.get(), -8, &made, error.get()), error,
              TESSERA_INVALID_ARGUMENT, {"bytes", "-8", "0"});
}

TEST_CASE("null objects of the C interface", "[context]") {
  ErrorText error;
  const auto refused = [&](const char* what, tessera_status status) {
    check_error(what, status, error, TESSERA_INVALID_ARGUMENT, {"null"});
  };
  Context context = fake();
  refused("a place for the context", tessera_context_create(nullptr, nullptr, error.get()));
  refused("a context", tessera_context_synchronize(nullptr, error.get()));
  refused("a place for the plan", tessera_plan_create(context.get(), nullptr, nullptr, nullptr, error.get()));
  tessera_plan* plan = nullptr;
  refused("a descriptor", tessera_plan_create(context.get(), nullptr, nullptr, &plan, error.get()));
  refused("a buffer", tessera_buffer_upload(nullptr, 0, nullptr, 0, error.get()));
  refused("an info", tessera_get_backend_info(0, nullptr, error.get()));
  tessera_context_destroy(nullptr);
  tessera_buffer_destroy(nullptr);
  tessera_plan_destroy(nullptr);
  CHECK(tessera_algorithm_name(-1, TESSERA_OP_GEMM, 0) == nullptr);
  CHECK(tessera_algorithm_name(0, 99, 0) == nullptr);
  CHECK(tessera_get_backend_info(-1, nullptr, nullptr) == TESSERA_INVALID_ARGUMENT);
  CHECK(std::string(tessera_version()).find('.') != std::string::npos);
}

TEST_CASE("messages are cut to the room there is", "[errors]") {
  char text[8] = "xxxxxxx";
  tessera_error error{sizeof error, TESSERA_OK, 0, text, 5};
  tessera_context_options options{};
  options.struct_size = sizeof options;
  options.backend = "nosuch";
  tessera_context* context = nullptr;
  CHECK(tessera_context_create(&options, &context, &error) == TESSERA_BACKEND_UNAVAILABLE);
  CHECK(std::string(text).size() == 4);
  CHECK(text[5] == 'x');
  tessera_error silent{sizeof silent, TESSERA_OK, 0, nullptr, 0};
  CHECK(tessera_context_create(&options, &context, &silent) == TESSERA_BACKEND_UNAVAILABLE);
  CHECK(silent.status == TESSERA_BACKEND_UNAVAILABLE);
}

TEST_CASE("TESSERA_VERBOSE prints plans, then executions, to the callback", "[verbose]") {
  const float a[4] = {1, 2, 3, 4};
  float c[4];
  for (const int level : {0, 1, 2}) {
    INFO("level " << level);
    const ScopedVariable variable("TESSERA_VERBOSE", std::to_string(level));
    Listener listener;
    Context context = fake();
    GemmPlan plan(context, kSmall, {.algorithm = "tuned"});
    plan.execute(1, a, a, 0, c);
    plan.execute(1, a, a, 0, c);
    REQUIRE(listener.lines.size() == std::size_t(level == 0 ? 0 : level == 1 ? 2 : 4));
    if (level >= 1) check_message(listener.lines[0], {"gemm", "tuned:tile=16,split=1", "fake"});
    if (level >= 1) check_message(listener.lines[1], {"problem {", "\"op\": \"gemm\""});
    if (level == 2) check_message(listener.lines[3], {"ms", "tuned"});
    for (const std::string& line : listener.lines) CHECK(line.find('\n') == std::string::npos);
  }
}

}  // namespace tessera::test
