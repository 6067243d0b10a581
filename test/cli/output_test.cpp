// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Where a run may write and print, and what it leaves behind where that fails.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace fs = std::filesystem;

namespace {

const std::string kOld = "the old output";

/// A folder in which a shell runs, with `$gemm` and `$stencil` for commands that lack an output alone.
class Workplace {
 public:
  Workplace() {
    need_backend();
    write_npy<float>(path("a.npy"), std::vector<float>(64, 1.0f), {64, 1});
    write_npy<float>(path("b.npy"), std::vector<float>(64, 2.0f), {1, 64});
    write_file(path("old.npy"), kOld);
    before_ = list(folder_.path());
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  Outcome shell(const std::string& script) const {
    const std::string program = TESSERA_PROGRAM;
    const Environment environment{{"gemm", "timeout 60 " + program + " gemm a.npy b.npy"},
                                  {"stencil", "timeout 60 " + program + " stencil a.npy"},
                                  {"TESSERA_VERBOSE", std::nullopt},
                                  {"TESSERA_GEMM_ALGORITHM", std::nullopt},
                                  {"TESSERA_GEMM_COMPUTE", std::nullopt},
                                  {"TESSERA_STENCIL_ALGORITHM", std::nullopt}};
    return run({"/bin/sh", "-c", "cd '" + folder_.path().string() + "' && " + script}, environment);
  }
  /// The product of the two matrices lies in a file.
  void check_product(const std::string& name) const {
    CAPTURE(name);
    CHECK(read_npy<float>(path(name), {64, 64}) == std::vector<float>(64 * 64, 2.0f));
  }
  void check_fails(const std::string& script, const std::string& message) const {
    CAPTURE(script);
    const Outcome outcome = shell(script);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK(read_file(path("old.npy")) == kOld);
    CHECK(list(folder_.path()) == before_);
  }
  void check_names(std::vector<std::string> added) const {
    added.insert(added.end(), before_.begin(), before_.end());
    std::sort(added.begin(), added.end());
    CHECK(list(folder_.path()) == added);
  }
  unsigned rights(const std::string& name) const {
    return unsigned(fs::status(path(name)).permissions() & fs::perms::mask);
  }

 private:
  TemporaryDirectory folder_;
  std::vector<std::string> before_;
};

}  // namespace

TEST_CASE("standard output takes the array, and standard error the report", "[output]") {
  const Workplace w;
  Outcome outcome = w.shell("$gemm -o /dev/stdout > new.npy");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.errors, ContainsSubstring("GFLOP/s"));
  w.check_product("new.npy");
  outcome = w.shell("$gemm -o /dev/stdout | cat > new.npy");
  CHECK_THAT(outcome.errors, ContainsSubstring("GFLOP/s"));
  w.check_product("new.npy");
  outcome = w.shell("$gemm -o $PWD/new.npy > new.npy");
  CHECK_THAT(outcome.errors, ContainsSubstring("GFLOP/s"));
  w.check_product("new.npy");
  CHECK(w.shell("$stencil --named identity -o /dev/stdout >> old.npy").exit_code == 0);
  CHECK(read_file(w.path("old.npy")).substr(kOld.size()) == read_file(w.path("a.npy")));
  w.check_names({"new.npy"});
}

TEST_CASE("a report that cannot be printed leaves the output as it was", "[output]") {
  const Workplace w;
  const std::string message = "standard output cannot be written";
  for (const std::string command : {"$gemm -o old.npy", "$gemm -o new.npy", "$stencil --named identity -o old.npy"}) {
    if (fs::exists("/dev/full")) w.check_fails(command + " > /dev/full", message);
    w.check_fails(command + " >&-", message);
    // A pipe whose only reader is gone.
    w.check_fails("mkfifo p && exec 4<>p 3>p 4<&- && rm p && " + command + " >&3", message);
  }
}

TEST_CASE("help that cannot be printed is a failure", "[output]") {
  if (!fs::exists("/dev/full")) SKIP("there is no /dev/full");
  const Workplace w;
  w.check_fails("$gemm --help > /dev/full", "standard output cannot be written");
}

TEST_CASE("an output file is never a standard stream by accident", "[output]") {
  const Workplace w;
  for (const char* closed : {"2>&-", "<&- 2>&-"}) {
    CHECK(w.shell(std::string("TESSERA_VERBOSE=2 $gemm -o new.npy ") + closed).exit_code == 0);
    w.check_product("new.npy");
  }
}

TEST_CASE("a limit of a file's size is an error", "[output]") {
  const Workplace w;  // the product has 16 KiB; units of 512 bytes, or 1024 in some shells
  w.check_fails("ulimit -f 8 && $gemm -o old.npy", "old.npy: cannot be written: File too large");
  w.check_fails("ulimit -f 8 && $gemm -o new.npy", "new.npy: cannot be written: File too large");
}

TEST_CASE("pipes as output", "[output]") {
  const Workplace w;
  REQUIRE(w.shell("mkfifo pipe").exit_code == 0);
  CHECK(w.shell("{ cat pipe > new.npy & } && $gemm -o pipe && wait").exit_code == 0);
  w.check_product("new.npy");
  CHECK(w.shell("{ (sleep 0.2; cat pipe > late.npy) & } && $gemm -o pipe && wait").exit_code == 0);
  w.check_product("late.npy");
  const Outcome outcome = w.shell("$gemm -o pipe");
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.errors, ContainsSubstring("pipe: cannot be written: nothing reads"));
  w.check_names({"late.npy", "new.npy", "pipe"});
}

TEST_CASE("pipes of any name, and files without an ending", "[output]") {
  const Workplace w;
  REQUIRE(w.shell("mkfifo pipe.tiff").exit_code == 0);
  CHECK(w.shell("{ cat pipe.tiff > new.npy & } && $gemm -o pipe.tiff && wait").exit_code == 0);
  CHECK(w.shell("$gemm -o - && $gemm -o bare && $gemm -o ./-.npy && $stencil --named identity -o .hidden").exit_code ==
        0);
  for (const char* name : {"new.npy", "-", "bare", "-.npy"}) w.check_product(name);
  w.check_names({"-", "-.npy", ".hidden", "bare", "new.npy", "pipe.tiff"});
}

TEST_CASE("pipes as input are refused at once", "[output]") {
  const Workplace w;
  REQUIRE(w.shell("mkfifo pipe").exit_code == 0);
  for (const std::string command : {"$gemm --c pipe -o new.npy", "$stencil --taps pipe -o new.npy"}) {
    CAPTURE(command);
    const Outcome outcome = w.shell(command);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring("pipe: is not a regular file"));
  }
  w.check_names({"pipe"});
}

TEST_CASE("symbolic links stay links", "[output]") {
  const Workplace w;
  REQUIRE(
      w.shell("mkdir folder && ln -s folder/new.npy dangling && ln -s \"$PWD/dangling\" chain && ln -s old.npy link && "
              "ln -s loop loop")
          .exit_code == 0);
  CHECK(w.shell("$gemm -o chain").exit_code == 0);
  w.check_product("folder/new.npy");
  CHECK(w.shell("$gemm -o link").exit_code == 0);
  w.check_product("old.npy");
  for (const char* name : {"dangling", "chain", "link", "loop"}) CHECK(fs::is_symlink(w.path(name)));
  const Outcome outcome = w.shell("$gemm -o loop");
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.errors, ContainsSubstring("Too many levels of symbolic links"));
  w.check_names({"chain", "dangling", "folder", "link", "loop"});
}

TEST_CASE("an output has the rights of the file that it replaces, or of any new one", "[output]") {
  const Workplace w;
  for (const unsigned rights : {0600u, 0644u, 0666u}) {
    fs::permissions(w.path("old.npy"), fs::perms(rights));
    REQUIRE(w.shell("umask 027 && $gemm -o old.npy").exit_code == 0);
    CHECK(w.rights("old.npy") == rights);
  }
  REQUIRE(w.shell("umask 027 && $gemm -o new.npy").exit_code == 0);
  CHECK(w.rights("new.npy") == 0640);
}
