// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// tessera-mpi by mpiexec beside `tessera`: the same files, and what it says where it fails.

#include "npy_file.hpp"
#include "png_file.hpp"
#include "process.hpp"
#include "random.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;
using Environment = std::map<std::string, std::optional<std::string>>;

/// A folder with files, and programs that find them by name.
class Workplace {
 public:
  explicit Workplace(Environment environment = {{"TESSERA_BACKEND", "cpu"}}) : environment_(std::move(environment)) {
    environment_["TESSERA_NUM_THREADS"] = "1";
    for (const char* const name : {"TESSERA_VERBOSE", "TESSERA_STENCIL_ALGORITHM", "TESSERA_GEMM_ALGORITHM"})
      environment_.try_emplace(name, std::nullopt);
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string bytes(const std::string& name) const { return read_file(path(name)); }
  bool same_files(const std::string& one, const std::string& other) const { return bytes(one) == bytes(other); }

  Outcome alone(const Strings& arguments) const { return run_program(TESSERA_PROGRAM, arguments); }
  Outcome on_ranks(int ranks, const Strings& arguments) const {
    return run_program(TESSERA_MPIEXEC, all({"-n", std::to_string(ranks), TESSERA_MPI_PROGRAM}, arguments));
  }
  /// The second rank has another value of a variable.
  Outcome with_another(const std::string& variable, const Strings& arguments) const {
    const Strings first = all({"-n", "1", TESSERA_MPI_PROGRAM}, arguments);
    const Strings second = all({":", "-n", "1", "env", variable, TESSERA_MPI_PROGRAM}, arguments);
    return run_program(TESSERA_MPIEXEC, all(first, second));
  }

 private:
  static Strings all(Strings first, const Strings& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  Outcome run_program(const std::string& program, const Strings& arguments) const {
    const Strings shell{"/bin/sh", "-c", "cd \"$0\" && exec timeout 60 \"$@\"", folder_.path().string(), program};
    return run(all(shell, arguments), environment_);
  }
  TemporaryDirectory folder_;
  Environment environment_;
};

template <class T>
std::vector<T> draw(std::int64_t count, int least, int most) {
  Random random("arrays of tessera-mpi");
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(T(float(random.integer(least, most))));
  return values;
}

/// It went well, and one rank alone has printed one report.
void check_done(const Outcome& outcome, const std::string& part) {
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.errors == "");
  CHECK_THAT(outcome.output, ContainsSubstring(part));
  CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') <= 2);  // the plan; what became of numbers
}

/// Rank 0 alone has said why.
void check_failed(const Outcome& outcome, int code, const std::string& part) {
  CAPTURE(outcome.output, outcome.errors);
  CHECK(outcome.exit_code == code);
  CHECK_THAT(outcome.errors, ContainsSubstring("tessera-mpi: error: " + part));
  CHECK(outcome.errors.find("tessera-mpi: error: ") == outcome.errors.rfind("tessera-mpi: error: "));
}

}  // namespace

TEST_CASE("A stencil by ranks writes the file that one process writes", "[stencil]") {
  const Workplace here;
  write_npy(here.path("field.npy"), draw<float>(40 * 31, -1000, 1000), {40, 31});
  write_npy(here.path("fortran.npy"), draw<double>(40 * 31, -1000, 1000), {40, 31}, true);
  write_npy(here.path("volume.npy"), draw<std::uint8_t>(24 * 11 * 9, 0, 255), {24, 11, 9});
  struct Row {
    int ranks;
    Strings arguments;
    Strings cut;
    std::string described;
  };
  const Row rows[] = {
      {1, {"field.npy", "--named", "heat:4:0.1", "--steps", "7"}, {}, "rank 0 of 1x1"},
      {2,
       {"field.npy", "--named", "heat:4:0.1", "--steps", "7", "--boundary", "constant:3/mirror,periodic"},
       {"--depth", "2"},
       "steps between exchanges 2"},
      {3,
       {"volume.npy", "--named", "box:1", "--steps", "3", "--output-type", "f32", "--boundary", "nearest"},
       {"--ranks", "1x3x1", "--halos", "host"},
       "rank 0 of 1x3x1"},
      {2, {"fortran.npy", "--taps", "taps.json", "--steps", "2"}, {"--ranks", "1x0"}, "rank 0 of 1x2"},
  };
  write_file(here.path("taps.json"),
             R"([{"offset": [-1, 2], "coefficient": 2}, {"offset": [2, 0], "coefficient": -1}])");
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    Strings arguments{"stencil"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    arguments.insert(arguments.end(), {"--sums", "ordered", "-o", "alone.npy"});
    const Outcome alone = here.alone(arguments);
    REQUIRE(alone.exit_code == 0);
    arguments.back() = "ranks.npy";
    arguments.insert(arguments.end(), row.cut.begin(), row.cut.end());
    check_done(here.on_ranks(row.ranks, arguments), row.described);
    CHECK(here.same_files("ranks.npy", "alone.npy"));
  }
}

TEST_CASE("Channels of an image by ranks", "[stencil]") {
  if (!TESSERA_TEST_PNG) SKIP("built without libpng");
  const Workplace here;
  const PngHeader header{.width = 23, .height = 31, .colour = PngColour::rgb_alpha};
  write_file(here.path("in.png"), png_file(header, draw<unsigned>(23 * 31 * 4, 0, 255)));
  const Strings stencil{"stencil", "in.png", "--named", "box:2", "--boundary", "mirror", "--sums", "ordered", "-o"};
  Strings alone = stencil, ranks = stencil;
  alone.push_back("alone.png"), ranks.push_back("ranks.png");
  REQUIRE(here.alone(alone).exit_code == 0);
  check_done(here.on_ranks(2, ranks), "channels");
  CHECK(here.same_files("ranks.png", "alone.png"));
}

TEST_CASE("Ranks of a host take a backend's devices in turn", "[stencil]") {
  const Workplace here(
      {{"TESSERA_BACKEND", "fake"}, {"TESSERA_BACKEND_PATH", TESSERA_TEST_PLUGINS}, {"TESSERA_VERBOSE", "1"}});
  write_npy(here.path("field.npy"), draw<float>(40 * 31, -1000, 1000), {40, 31});
  const Strings stencil{"stencil", "field.npy", "--named", "heat:4:0.1", "--sums", "ordered", "-o", "alone.npy"};
  REQUIRE(here.alone(stencil).exit_code == 0);
  Strings ranks = stencil;
  ranks.back() = "ranks.npy";
  const Outcome outcome = here.on_ranks(3, ranks);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.errors, ContainsSubstring("| device 0 |") && ContainsSubstring("| device 1 |"));
  CHECK(here.same_files("ranks.npy", "alone.npy"));
  ranks.insert(ranks.end(), {"--backend", "fake:1"});
  CHECK_THAT(here.on_ranks(2, ranks).errors, !ContainsSubstring("| device 0 |"));
}

TEST_CASE("A product by ranks writes the file that one process writes", "[gemm]") {
  // Small integers: all sums are exact.
  const Workplace here;
  write_npy(here.path("a.npy"), draw<float>(37 * 50, -3, 3), {37, 50});
  write_npy(here.path("b.npy"), draw<float>(50 * 29, -3, 3), {50, 29}, true);
  write_npy(here.path("c.npy"), draw<float>(37 * 29, -3, 3), {37, 29});
  write_npy(here.path("half.npy"), draw<float16>(50 * 37, -3, 3), {50, 37});
  struct Row {
    int ranks;
    Strings arguments;
    Strings cut;
    std::string described;
  };
  const Row rows[] = {
      {1, {"a.npy", "b.npy"}, {}, "rank 0 of 1x1"},
      {2, {"a.npy", "b.npy", "--c", "c.npy", "--alpha", "2", "--beta", "-3"}, {}, "rank 0 of 2x1"},
      {3,
       {"half.npy", "half.npy", "--trans-a", "--output-type", "f32"},
       {"--layout", "1x3", "--block", "5x4x20"},
       "rank 0 of 1x3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    Strings arguments{"gemm"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    arguments.insert(arguments.end(), {"-o", "alone.npy"});
    REQUIRE(here.alone(arguments).exit_code == 0);
    arguments.back() = "ranks.npy";
    arguments.insert(arguments.end(), row.cut.begin(), row.cut.end());
    check_done(here.on_ranks(row.ranks, arguments), row.described);
    CHECK(here.same_files("ranks.npy", "alone.npy"));
  }
}

TEST_CASE("What fails is said once, and leaves the output as it was", "[failures]") {
  const Workplace here;
  write_npy(here.path("field.npy"), draw<float>(40 * 31, -1000, 1000), {40, 31});
  write_file(here.path("old.npy"), "the old output");
  const Strings stencil{"stencil", "field.npy", "--named", "heat:4:0.1", "-o", "old.npy"};
  const auto with = [&](const Strings& more) {
    Strings arguments = stencil;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return here.on_ranks(2, arguments);
  };
  check_failed(with({"--ranks", "2x1x1"}), 1, "field.npy: holds 40 x 31 <f4, but --ranks names those along 3 axes");
  check_failed(with({"--depth", "4294967297"}), 2, "--depth = 4294967297");
  check_failed(here.with_another("TESSERA_BACKEND=nosuch", stencil), 1,
               "rank 1: backend = 'nosuch': there is no such backend");
  CHECK(here.bytes("old.npy") == "the old output");
  CHECK(list(here.path("")) == Strings{"field.npy", "old.npy"});
}

TEST_CASE("Help and version are printed once", "[failures]") {
  const Workplace here;
  CHECK(here.on_ranks(2, {"--version"}).output == "tessera-mpi " + std::string(tessera_version()) + "\n");
  const std::string help = here.on_ranks(2, {"gemm", "--help"}).output;
  CHECK_THAT(help, ContainsSubstring("--block MxNxK"));
  CHECK(help.find("Usage: ") == help.rfind("Usage: "));
}

}  // namespace tessera::test
