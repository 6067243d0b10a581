// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Input that is deep, long or large: an error at once, with a message that a terminal can hold.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t kLongest = 10000;  // bytes of a message: a file's name, or the library's 8192

class Workplace {
 public:
  Workplace() {
    write_npy<float>(path("a.npy"), std::vector<float>(6, 1.0f), {2, 3});
    write_npy<float>(path("b.npy"), std::vector<float>(6, 1.0f), {3, 2});
    write_npy<float>(path("volume.npy"), std::vector<float>(8, 1.0f), {2, 2, 2});
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }

  void check_fails(const std::vector<std::string>& arguments, int exit_code, const std::string& message) const {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = tessera_run(arguments);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(outcome.signal == 0);
    CHECK(outcome.exit_code == exit_code);
    CHECK(outcome.errors.size() < kLongest);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK(seconds.count() < 20.0);  // what this is to find takes minutes, or memory without end
    CHECK_FALSE(std::filesystem::exists(path("new.npy")));
  }
  void check_gemm_fails(std::vector<std::string> more, int exit_code, const std::string& message) const {
    more.insert(more.begin(), {"gemm", path("a.npy"), path("b.npy"), "-o", path("new.npy")});
    check_fails(more, exit_code, message);
  }
  void check_stencil_fails(std::vector<std::string> more, int exit_code, const std::string& message) const {
    more.insert(more.begin(), {"stencil", path("a.npy"), "-o", path("new.npy")});
    check_fails(more, exit_code, message);
  }

 private:
  TemporaryDirectory folder_;
};

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("taps that are deep or long", "[limits]") {
  const Workplace w;
  constexpr int kMany = 200000;
  const std::string start = R"([{"offset": [0, 0], "coefficient": )";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {repeated("[", kMany), "entry 0 is an array"},
      {repeated("{\"offset\":", kMany), "expected [{"},
      {"[" + repeated("{\"offset\":", kMany), "entry 0: offset is an object"},
      {"[{\"offset\": " + repeated("[", kMany), "entry 0: offset[0] is an array"},
      {start + repeated("[", kMany) + repeated("]", kMany) + "}]", "entry 0: coefficient is an array"},
      {start + "\"" + repeated("x", kMany) + "\"}]", "coefficient is \"xxx"},
      {start + repeated("x", kMany) + "}]", "is not JSON"},
      {start + repeated("9", kMany) + "}]", "has a number beyond the range of double"},
      {start + "1, \"" + repeated("x", kMany) + "\": 1}]", "xxx...\" is unknown"},
      {"[{\"offset\": [" + repeated("0,", kMany) + "0]}]", "entry 0: offset has 3 or more numbers; expected 2"},
      {"[{\"offset\": [0]}]", "entry 0: offset has 1 numbers; expected 2"},
      {start + "1, \"coefficient\": 1}]", "entry 0: key \"coefficient\" is there twice"},
      {start + "1}, {\"offset\": [0, 1025]}]", "entry 1: offset[1] is 1025; expected a whole number within +-1024"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(message);
    write_file(w.path("bad.json"), text);
    w.check_stencil_fails({"--taps", w.path("bad.json")}, 1, message);
  }
  std::filesystem::resize_file(w.path("bad.json"), (std::uintmax_t{1} << 28) + 1);
  w.check_stencil_fails({"--taps", w.path("bad.json")}, 1, "taps are read from files of at most 268435456");
}

TEST_CASE("many taps in any order are read at once", "[limits]") {
  const Workplace w;
  constexpr std::int64_t kCount = 600000, kStep = 77777;  // coprime: every offset once
  std::string text = "[";
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t offset = i * kStep % kCount;
    text += (i > 0 ? ",{\"offset\": [" : "{\"offset\": [") + std::to_string(offset / 1000) + ", " +
            std::to_string(offset % 1000) + "], \"coefficient\": 1}";
  }
  write_file(w.path("taps.json"), text + "]");
  w.check_fails({"stencil", w.path("a.npy"), "--taps", w.path("taps.json"), "-o", w.path("no/such/folder.npy")}, 1,
                "No such file");
}

TEST_CASE("arguments that are long", "[limits]") {
  const Workplace w;
  const std::string text = repeated("x", 100000);
  for (const char* start : {"", "laplacian:", "heat:2:", "identity:"})
    w.check_stencil_fails({"--named", start + text}, 2, "xxx...'");
  w.check_stencil_fails({"--named", repeated(":", 100000)}, 2, "are unknown");
  for (const char* start : {"", "constant:", "fixed,", "fixed/", "fixed/fixed/", "fixed:"})
    w.check_stencil_fails({"--named", "identity", "--boundary", start + text}, 2, "xxx...'");
  w.check_stencil_fails({"--named", "identity", "--steps", text}, 2, "xxx...'");
  w.check_stencil_fails({"--taps", text}, 1, "xxx...: cannot be read");
  w.check_gemm_fails({"--alpha", text}, 2, "xxx...'");
  w.check_gemm_fails({"--" + text}, 2, "xxx...");
  w.check_gemm_fails({text}, 2, "xxx...");
  w.check_fails({"gemm", text, text, "-o", w.path("new.npy")}, 1, "xxx...: cannot be read");
  w.check_fails({"gemm", w.path("a.npy"), w.path("b.npy"), "-o", text}, 1, "xxx...: cannot be written");
  w.check_fails({text}, 2, "subcommand");
  w.check_gemm_fails({"--backend", text}, 1, "xxx");
  w.check_gemm_fails({"--algorithm", text}, 1, "");
}

TEST_CASE("numbers beyond their range", "[limits]") {
  const Workplace w;
  for (const char* steps : {"99999999999999999999", "9223372036854775808", "-1", "1.5", "1e3", "0x10", "", " 1", "1 "})
    w.check_stencil_fails({"--named", "identity", "--steps", steps}, 2, "--steps");
  for (const char* number : {"1e999", "-1e999", "nan", "inf", "0x10", "", "1 2"}) {
    w.check_stencil_fails({"--named", "laplacian:2", "--spacing", number}, 2, "--spacing");
    w.check_stencil_fails({"--named", "identity", "--value", number}, 2, "--value");
    w.check_gemm_fails({"--alpha", number}, 2, "--alpha");
    w.check_gemm_fails({"--c", w.path("a.npy"), "--beta", number}, 2, "--beta");
  }
  w.check_gemm_fails({"--c", ""}, 1, "cannot be read");
  w.check_stencil_fails({"--named", ""}, 2, "taps '' are unknown");
}

TEST_CASE("numbers beyond the range of the elements", "[limits]") {
  need_backend();
  const Workplace w;
  w.check_gemm_fails({"--alpha", "1e39"}, 1, "--alpha = 1e+39: must be finite when rounded to f32");
  w.check_stencil_fails({"--named", "identity", "--boundary", "constant:1e39"}, 1,
                        "the value of a boundary = 1e+39: must be finite when rounded to f32");
}

TEST_CASE("boxes without bound", "[limits]") {
  const Workplace w;
  w.check_stencil_fails({"--named", "box:100000"}, 1, "radius = 100000: must lie in [0, 1024]");
  w.check_stencil_fails({"--named", "box:1025"}, 1, "radius = 1025");
  w.check_fails({"stencil", w.path("volume.npy"), "--named", "box:128", "-o", w.path("new.npy")}, 1,
                "radius = 128: the box of rank 3 has more than 2^24 points");
}
