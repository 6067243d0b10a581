// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Tuning by words and by a program's log, and files of wisdom.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;

namespace {

class Folder {
 public:
  std::string operator/(const std::string& name) const { return directory_.path() / name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(*this / name) << text; }

 private:
  TemporaryDirectory directory_;
};

/// Runs it, and checks that it succeeds.
Outcome succeed(const std::vector<std::string>& arguments, const Environment& environment = {}) {
  Outcome outcome = tessera_run(arguments, environment);
  CAPTURE(arguments, outcome.output, outcome.errors);
  REQUIRE(outcome.exit_code == 0);
  return outcome;
}

void check_refused(const std::vector<std::string>& arguments, int code, const std::string& message) {
  const Outcome outcome = tessera_run(arguments);
  CAPTURE(arguments, outcome.output);
  CHECK(outcome.exit_code == code);
  CHECK_THAT(outcome.errors, ContainsSubstring(message));
}

}  // namespace

TEST_CASE("a product that was tuned by words is what a program takes from wisdom", "[tune]") {
  need_backend();
  const Folder folder;
  const Outcome tuned = succeed({"tune", "gemm", "24x20x16", "--dtype", "f64", "--trans-b", "--bias", "column",
                                 "--activation", "gelu", "-o", folder / "w"});
  CHECK_THAT(tuned.output, ContainsSubstring("gemm f64 m=24 n=20 k=16 NT row-major bias=per_column activation=gelu"));
  CHECK_THAT(tuned.output, ContainsSubstring("<- taken"));
  CHECK_THAT(tuned.output, ContainsSubstring("by the model"));
  write_npy(folder / "a.npy", std::vector<double>(24 * 16, 0.5), {24, 16});
  write_npy(folder / "b.npy", std::vector<double>(20 * 16, 0.5), {20, 16});
  write_npy(folder / "v.npy", std::vector<double>(20, 1.0), {20});
  const std::vector<std::string> product = {"gemm",   folder / "a.npy", folder / "b.npy", "--trans-b",
                                            "--bias", folder / "v.npy", "--activation",   "gelu",
                                            "-o",     folder / "d.npy"};
  CHECK_THAT(succeed(product, {{"TESSERA_WISDOM", folder / "w"}}).output, ContainsSubstring("| from wisdom"));
  CHECK_THAT(succeed(product).output, ContainsSubstring("| estimated"));
  std::vector<std::string> other = product;
  other.erase(other.begin() + 3);
  CHECK_THAT(tessera_run(other, {{"TESSERA_WISDOM", folder / "w"}}).output, !ContainsSubstring("| from wisdom"));
}

TEST_CASE("a stencil that was tuned by words is what a program takes from wisdom", "[tune]") {
  need_backend();
  const Folder folder;
  succeed({"tune", "stencil", "40x30", "--named", "heat:2:0.1", "--boundary", "constant:1,mirror", "--steps", "3",
           "--sums", "ordered", "-o", folder / "w"});
  write_npy(folder / "u.npy", std::vector<float>(40 * 30, 1.0f), {40, 30});
  const Outcome outcome = succeed({"stencil", folder / "u.npy", "--named", "heat:2:0.1", "--boundary",
                                   "constant:1,mirror", "--steps", "3", "--sums", "ordered", "-o", folder / "v.npy"},
                                  {{"TESSERA_WISDOM", folder / "w"}});
  CHECK_THAT(outcome.output, ContainsSubstring("| from wisdom"));
}

TEST_CASE("a log is tuned problem by problem, each once", "[tune]") {
  need_backend();
  const Folder folder;
  write_npy(folder / "a.npy", std::vector<float>(144, 1.0f), {12, 12});
  const std::vector<std::string> product = {"gemm", folder / "a.npy", folder / "a.npy", "-o", folder / "d.npy"};
  const std::vector<std::string> stencil = {"stencil", folder / "a.npy", "--named", "identity", "-o", folder / "d.npy"};
  const Environment verbose{{"TESSERA_VERBOSE", "1"}};
  const std::string said = succeed(product, verbose).errors + succeed(stencil, verbose).errors +
                           succeed(product, verbose).errors + "another line\n";
  folder.write("log", said);
  const Outcome tuned = succeed({"tune", "--log", folder / "log", "-o", folder / "w"});
  CHECK_THAT(tuned.output, ContainsSubstring("gemm f32 m=12 n=12 k=12"));
  CHECK_THAT(tuned.output, ContainsSubstring("stencil f32 12x12"));
  CHECK(tuned.output.find("gemm f32") == tuned.output.rfind("gemm f32"));
  for (const auto& command : {product, stencil})
    CHECK_THAT(succeed(command, {{"TESSERA_WISDOM", folder / "w"}}).output, ContainsSubstring("| from wisdom"));

  // What cannot be tuned is told of, and the rest is done.
  const std::size_t begin = said.find("problem {"), end = said.find('\n', begin);
  const std::string line = said.substr(begin, end - begin + 1);
  folder.write("mixed", line.substr(0, line.size() / 2) + "\n" + said);
  const Outcome mixed = tessera_run({"tune", "--log", folder / "mixed", "-o", folder / "w2"});
  CHECK(mixed.exit_code == 1);
  CHECK_THAT(mixed.errors,
             ContainsSubstring("the line is cut or no JSON") && ContainsSubstring("1 of 3 problems were not tuned"));
  CHECK_THAT(succeed(product, {{"TESSERA_WISDOM", folder / "w2"}}).output, ContainsSubstring("| from wisdom"));
}

TEST_CASE("mistakes in a log's problem name the member", "[tune]") {
  need_backend();
  const Folder folder;
  const std::string good =
      R"({"op": "stencil", "dtype": "f32", "extents": [8], "in_strides": [1], "out_strides": [1], )"
      R"("boundary": [["fixed", "fixed"]], "boundary_value": [[0, 0]], "steps": 1, "taps": [[-1, 0.5], [1, 0.5]], )"
      R"("operands": "host"})";
  const auto check = [&](const std::string& from, const std::string& to, const std::string& message) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    folder.write("log", "tessera: problem " + bad + "\n");
    check_refused({"tune", "--log", folder / "log", "-o", folder / "w"}, 1, message);
    CHECK_FALSE(std::filesystem::exists(folder / "w"));
  };
  check("\"extents\": [8]", "\"extents\": [8, 8]", "member 'taps' of the problem is [-1,0.5]; expected a list of 3");
  check("\"steps\": 1", "\"steps\": 1, \"sums\": \"sorted\"",
        "member 'sums' of the problem is \"sorted\"; expected one of any, ordered");
  check("\"extents\": [8]", "\"extents\": []", "member 'extents' of the problem is []; expected a list of 1 to 3");
  check("\"extents\": [8]", "\"extents\": [1.5]", "member 'extents' of the problem is 1.5; expected a whole number");
  check("\"steps\": 1", "\"step\": 1", "the problem has no member 'steps'");
  check("\"stencil\"", "\"fft\"", "member 'op' of the problem is \"fft\"; expected gemm or stencil");
  check("\"f32\"", "\"f12\"", "dtype: 'f12' is not a type");
  check("\"fixed\"", "\"wall\"", "member 'boundary' of the problem is \"wall\"; expected a mode");
  check("\"host\"", "\"moon\"", "member 'operands' of the problem is \"moon\"; expected one of host, device");
  check("[[-1, 0.5], [1, 0.5]]", "[]", "member 'taps' of the problem is []; expected a list of taps");
  check("0.5", "\"a\"", "member 'taps' of the problem is \"a\"; expected a number");
  check("\"steps\": 1", "\"steps\": -1", "steps = -1");
  folder.write("log", "tessera: problem " + good + "\n");
  succeed({"tune", "--log", folder / "log", "-o", folder / "w"});
}

TEST_CASE("a command line of tuning that is wrong shows the grammar", "[tune]") {
  const Folder folder;
  const std::string w = folder / "w";
  check_refused({"tune"}, 2, "say one of gemm SIZE, stencil EXTENTS, --log FILE");
  check_refused({"tune", "gemm", "64", "-o", w, "--log", "x"}, 2, "not expected here: --log");
  check_refused({"tune", "--log", "x"}, 2, "--output is required");
  check_refused({"tune", "gemm", "64"}, 2, "--output is required");
  check_refused({"tune", "gemm", "3x4", "-o", w}, 2, "'3x4' has two sizes: expected N, MxNxK or MxNxKxBATCH");
  check_refused({"tune", "gemm", "3x4x5x6x7", "-o", w}, 2, "expected N, MxNxK or MxNxKxBATCH");
  check_refused({"tune", "gemm", "3xx5", "-o", w}, 2, "expected N, MxNxK or MxNxKxBATCH");
  check_refused({"tune", "gemm", "axbxc", "-o", w}, 2, "'a' is not a whole number");
  check_refused({"tune", "gemm", "64", "--dtype", "f8", "-o", w}, 2, "--dtype: 'f8' is not a type");
  check_refused({"tune", "gemm", "64", "--bias", "both", "-o", w}, 2,
                "--bias: 'both' is unknown; there are row|column");
  check_refused({"tune", "stencil", "8x8x8x8", "--named", "identity", "-o", w}, 2, "expected N, NxN or NxNxN");
  check_refused({"tune", "stencil", "8x8", "--named", "identity", "--boundary", "fixed,fixed,fixed", "-o", w}, 2,
                "--boundary names the modes of 3 axes, and the grid has 2");
  check_refused({"tune", "--log", folder / "none", "-o", w}, 1, "none: cannot be read");
  folder.write("empty", "nothing\n");
  check_refused({"tune", "--log", folder / "empty", "-o", w}, 1, "holds no problem");
  CHECK_FALSE(std::filesystem::exists(w));
}

TEST_CASE("a file of wisdom that cannot be written is an error", "[tune]") {
  need_backend();
  const Folder folder;
  check_refused({"tune", "gemm", "8", "-o", folder / "no/w"}, 1, "cannot be written");
  check_refused({"tune", "gemm", "0", "-o", folder / "w"}, 1, "there is nothing to tune");
  check_refused({"tune", "gemm", "8", "--backend", "warp", "-o", folder / "w"}, 1, "there is no such backend");
  CHECK_FALSE(std::filesystem::exists(folder / "w"));
}

TEST_CASE("wisdom is listed, checked and merged", "[tune]") {
  need_backend();
  const Folder folder;
  succeed({"tune", "gemm", "8", "-o", folder / "a"});
  succeed({"tune", "gemm", "9", "-o", folder / "b"});
  const std::string a = succeed({"wisdom", "list", folder / "a"}).output;
  CHECK_THAT(a, ContainsSubstring("gemm f32->f32 strict 8x8x8x1 NN"));
  succeed({"wisdom", "merge", folder / "a", folder / "b", "-o", folder / "c"});
  const std::string c = succeed({"wisdom", "list", folder / "c"}).output;
  CHECK_THAT(c, ContainsSubstring("strict 8x8x8x1 NN") && ContainsSubstring("strict 9x9x9x1 NN"));
  CHECK_THAT(
      succeed({"wisdom", "check", folder / "a", folder / "c"}).output,
      Matches("[^]*: [1-9] for backends and devices here, [0-9] choices among backends, 0 for others; 0 lines[^]*"));

  folder.write("bad", R"({"tessera_wisdom": 99, "problem": "x"})"
                      "\nno \x1b[31m JSON\n"
                      R"({"tessera_wisdom": 1, "problem": "p", "machine": "tessera 0.0.1, cpu", "algorithm": "q", )"
                      R"("seconds": 1, "estimated_seconds": 2})"
                      "\n");
  const Outcome bad = tessera_run({"wisdom", "check", folder / "bad"});
  CHECK(bad.exit_code == 1);
  CHECK_THAT(bad.output, ContainsSubstring("1 entries: 0 for backends and devices here") &&
                             ContainsSubstring("1 for others; 2 lines"));
  CHECK_THAT(bad.output, ContainsSubstring("unreadable: no ?[31m JSON"));
  CHECK_THAT(bad.errors, ContainsSubstring("2 lines cannot be read"));
  CHECK_THAT(succeed({"wisdom", "merge", folder / "bad", "-o", folder / "c"}).errors,
             ContainsSubstring("left out are lines that this version cannot read: 2"));
  CHECK_THAT(succeed({"wisdom", "list", folder / "c"}).output, ContainsSubstring("3 entries, 0 lines"));
  check_refused({"wisdom", "list", folder / "none"}, 1, "No such file");
  check_refused({"wisdom", "merge", folder / "a"}, 2, "--output is required");
  check_refused({"wisdom"}, 2, "subcommand");
}
