// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plugins that are broken, hostile or old, all in one process: each stays in the list with its reason, none does harm.

#include "message_of.hpp"
#include "process.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <exception>
#include <map>
#include <string>
#include <vector>

using namespace tessera;
using Catch::Matchers::ContainsSubstring;
using tessera::test::message_of;

namespace {

struct Listed {
  bool available;
  std::string reason;
  std::int64_t index;
};

std::map<std::string, Listed> listed() {
  std::map<std::string, Listed> result;
  for (std::int64_t i = 0; i < tessera_backend_count(); ++i) {
    tessera_backend_info info{};
    info.struct_size = sizeof info;
    REQUIRE(tessera_get_backend_info(i, &info, nullptr) == TESSERA_OK);
    CHECK(result.emplace(info.name, Listed{info.available != 0, info.reason, i}).second);
  }
  return result;
}

const GemmDesc kSmall{.m = 2, .n = 2, .k = 2};
const float kValues[4] = {1, 2, 3, 4};

/// Why each cannot be used.
const std::map<std::string, std::string> kReasons = {
    {"unavailable", "the moon is not full"},
    {"unloadable", "libtessera_test_missing"},
    {"wrongversion", "made for a later Tessera (plugin ABI v2), this library is Tessera 0."},
    {"tablesaysv2", "made for a later Tessera (plugin ABI v2), this library is Tessera 0."},
    {"otherminor", "made for Tessera 0." + std::to_string(TESSERA_VERSION_MINOR + 1) + " (plugin ABI v1), this"},
    {"unknownminor", "made for a Tessera before 0.2 (plugin ABI v1), this library is Tessera 0." +
                         std::to_string(TESSERA_VERSION_MINOR) + " (plugin ABI v1): build the plugin"},
    {"noentry", "tessera_backend_v1"},
    {"garbage", "not an ELF file"},
    {"empty", "empty"},
    {"directory", "not a regular file"},
    {"shorttable", "bytes"},
    {"holeintable", "lacks a required function"},
    {"othername", "somebody"},
    {"nulltable", "null"},
    {"nodevice", "no device"},
    {"lessdevices", "-1 devices"},
    {"manydevices", "2147483647 devices"},
    {"namelessdevice", "device 0 has no name"},
    {"lostdevice", "device 0 cannot be described"},
    {"manyalgorithms", "18446744073709551615 algorithms"},
    {"nullalgorithm", "algorithm 1 for products is null or empty"},
    {"emptyalgorithm", "algorithm 1 for products is null or empty"},
    {"longalgorithm", "more than 64 characters"},
    {"illalgorithm", "another character"},
    {"twinalgorithm", "'zero', as one before it"},
    {"throwsentry", "tessera_backend_v1 threw an exception: one of unknown type"},
    {"throwsavailable", "available threw an exception: thrown by an entry"},
    {"throwscount", "device_count threw an exception: thrown by an entry"},
    {"throwsinfo", "device_info threw an exception: thrown by an entry"},
    {"throwsalgorithms", "algorithm_count threw an exception: thrown by an entry"},
    {"throwsnames", "algorithm_name threw an exception: thrown by an entry"},
    {"throwssmall", "small_gemm threw an exception: thrown by an entry"},
    {"throwsentrystatic", "tessera_backend_v1 threw an exception: one of unknown type"},
    {"throwsavailablestatic", "available threw an exception: thrown by an entry"},
    {"throwscountstatic", "device_count threw an exception: thrown by an entry"},
    {"throwsinfostatic", "device_info threw an exception: thrown by an entry"},
    {"throwsalgorithmsstatic", "algorithm_count threw an exception: thrown by an entry"},
    {"throwsnamesstatic", "algorithm_name threw an exception: thrown by an entry"},
    {"throwssmallstatic", "small_gemm threw an exception: thrown by an entry"},
};

}  // namespace

TEST_CASE("plugins that cannot be used stay in the list with the reason") {
  const auto all = listed();
  for (const auto& [name, reason] : kReasons) {
    INFO(name);
    REQUIRE(all.contains(name));
    CHECK_FALSE(all.at(name).available);
    CHECK_THAT(all.at(name).reason, ContainsSubstring(reason));
    CHECK_THAT(message_of(ErrorCode::backend_unavailable, [&n = name] { Context context(n); }),
               ContainsSubstring(reason));
    tessera_device_info device{};
    device.struct_size = sizeof device;
    CHECK(tessera_get_device_info(all.at(name).index, 0, &device, nullptr) != TESSERA_OK);
    tessera_algorithm_name(all.at(name).index, TESSERA_OP_GEMM, 0);  // must not crash
  }
  CHECK_FALSE(all.contains("something"));
  CHECK(std::uncaught_exceptions() == 0);
}

TEST_CASE("a bad plugin spoils neither the list nor an automatic choice") {
  CHECK(backends().size() == std::size_t(tessera_backend_count()));
  GemmPlan plan(kSmall);
  float c[4];
  plan.execute(1, kValues, kValues, 0, c);
  CHECK(c[0] == 7);
}

TEST_CASE("an offered time that is no number never wins, and says so") {
  for (const char* name : {"nantime", "endlesstime"}) {
    INFO(name);
    {
      const test::ScopedVariable backend("TESSERA_BACKEND", name);
      CHECK_THAT(message_of(ErrorCode::unsupported, [&] { GemmPlan plan(kSmall); }),
                 ContainsSubstring(std::string(name) + " (the time that it offers is not a positive number)"));
    }
    CHECK(GemmPlan(kSmall).backend() != name);
  }
}

TEST_CASE("a backend that shows more offers than are wanted is judged by the first, the cheapest") {
  const test::ScopedVariable backend("TESSERA_BACKEND", "secondoffer");
  CHECK(GemmPlan(kSmall).backend() == "secondoffer");  // no finite number is behind it
}

TEST_CASE("a plan that breaks the contract is an error of the plugin, and nothing is kept of it") {
  const std::pair<const char*, const char*> broken[] = {
      {"namelessplan", "does not name"}, {"greedyplan", "workspace of 18446744073709551615"}, {"noplan", "no plan"}};
  for (const auto& [name, reason] : broken) {
    INFO(name);
    Context context(name);
    CHECK_THAT(message_of(ErrorCode::internal, [&] { GemmPlan plan(context, kSmall); }),
               ContainsSubstring(name) && ContainsSubstring(reason));
    context.synchronize();
  }
}

TEST_CASE("usable plugins are listed as such, in alphabetical order") {
  const auto all = listed();
  for (const char* name : {"fake", "fakestatic", "fatal", "throwing", "throwingstatic", "oldtable"}) {
    INFO(name);
    REQUIRE(all.contains(name));
    CHECK(all.at(name).reason == "");
    CHECK(all.at(name).available);
  }
  std::int64_t expected = 0;
  for (const auto& [name, backend] : all) CHECK(backend.index == expected++);
}

TEST_CASE("an unknown backend is an error that lists what there is") {
  const std::string message = message_of(ErrorCode::backend_unavailable, [] { Context context("nosuch"); });
  for (const char* part : {"nosuch", "fake", "the moon is not full", "unloadable", "garbage"})
    CHECK_THAT(message, ContainsSubstring(part));
  const std::string long_name(2000, 'x');  // as long as the paths of a deep directory may make the list
  CHECK_THAT(message_of(ErrorCode::backend_unavailable, [&] { Context context(long_name); }),
             ContainsSubstring(long_name) && ContainsSubstring("unloadable"));
  CHECK_THAT(message_of(ErrorCode::backend_unavailable, [] { Context context("fake:2"); }),
             ContainsSubstring("fake:2"));
  CHECK(Context("fake:1").device() == 1);
}

TEST_CASE("a plugin with an older, shorter table works without what came later") {
  Context context("oldtable");
  CHECK(context.backend() == "oldtable");
  GemmPlan plan(context, kSmall);
  float c[4] = {5, 6, 7, 8};
  plan.execute(1, kValues, kValues, 0, c);
  CHECK(plan.algorithm() == "zero");
  const std::string message = message_of(ErrorCode::unsupported, [&] { context.native_stream(); });
  CHECK_THAT(message, ContainsSubstring("oldtable"));
  CHECK_THROWS_AS(StencilPlan(context, {.extents = {4}, .taps = taps::identity(1)}), Error);
}

TEST_CASE("whatever a plugin throws arrives as an error, and everything can be used after") {
  for (const std::string name : {"throwing", "throwingstatic"}) {
    INFO(name);
    const auto check = [&](std::int64_t kind, const char* where, auto&& body) {
      INFO(where << ", kind " << kind);
      const ErrorCode codes[] = {ErrorCode::internal, ErrorCode::internal, ErrorCode::out_of_memory};
      const std::string parts[] = {std::string("thrown by ") + where, "unknown type", "memory"};
      CHECK_THAT(message_of(codes[kind], body), ContainsSubstring(parts[kind]));
    };
    Context context(name);
    float c[4] = {};
    for (std::int64_t kind = 0; kind < 3; ++kind) {
      check(kind, "the context", [&] { Context other(name + ":" + std::to_string(kind + 1)); });
      check(kind, "allocate", [&] { Buffer<char> buffer(context, 1000 + kind); });
      check(kind, "make",
            [&] { GemmPlan plan(context, kSmall, {.algorithm = "throws:kind=" + std::to_string(kind)}); });
      GemmPlan plan(context, kSmall, {.algorithm = "throws:kind=" + std::to_string(kind + 3)});
      for (int repeat = 0; repeat < 2; ++repeat)
        check(kind, "execute", [&] { plan.execute(1, kValues, kValues, 0, c); });
      Buffer<char> buffer(context, 6);
      char bytes[6] = {};
      check(kind, "copy", [&] { buffer.upload(std::span<const char>(bytes, std::size_t(3 + kind))); });
      check(kind, "copy", [&] { buffer.download(std::span<char>(bytes, std::size_t(3 + kind))); });
    }
    check(0, "synchronize", [&] { context.synchronize(); });
    check(1, "native_stream", [&] { context.native_stream(); });
    message_of(ErrorCode::unsupported, [&] { GemmPlan plan(context, kSmall, {.algorithm = "undecided"}); });
    message_of(ErrorCode::internal, [&] { GemmPlan plan(context, {.m = 7, .n = 2, .k = 2}); });  // its offers throw
  }
}

TEST_CASE("a device fault that kills the context is said by everything of it from then on") {
  Context dead("fatal");
  Buffer<float> buffer(dead, 4), other(dead, 4), target(dead, 4);
  buffer.upload(kValues);
  GemmPlan plan(dead, kSmall, {.operands = Memory::device}), idle(dead, kSmall);
  plan.execute(1, buffer.data(), other.data(), 0, target.data());  // asynchronous: nothing is known yet
  const std::string first = message_of(ErrorCode::device_error, [&] { dead.synchronize(); });
  CHECK_THAT(first, ContainsSubstring("fell off the bus"));
  float values[4];
  const auto says_so = [](auto&& body) {
    const std::string message = message_of(ErrorCode::device_error, body);
    CHECK_THAT(message, ContainsSubstring("no more work") && ContainsSubstring("fell off the bus"));
  };
  says_so([&] { dead.synchronize(); });
  says_so([&] { plan.execute(1, buffer.data(), other.data(), 0, target.data()); });
  says_so([&] { idle.execute(1, kValues, kValues, 0, values); });
  says_so([&] { buffer.download(values); });
  says_so([&] { buffer.upload(kValues); });
  says_so([&] { Buffer<float> more(dead, 4); });
  says_so([&] { GemmPlan more(dead, kSmall); });
  says_so([&] { dead.native_stream(); });
  CHECK_FALSE(plan.describe().empty());  // what needs no device still answers

  Context alive("fatal");  // another context of the same backend lives
  Buffer<float> works(alive, 4);
  works.upload(kValues);
  works.download(values);
  CHECK(values[3] == 4);
}
