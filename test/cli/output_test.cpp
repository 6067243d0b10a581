// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Where a run may write and print, and what it leaves behind where that fails.

#include "folder.hpp"

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace fs = std::filesystem;

namespace {

/// A folder in which a shell runs, with `$gemm` and `$stencil` for commands that lack an output alone.
class Workplace : public ComputingFolder {
 public:
  Workplace() { fill("a.npy", 1.0f, {64, 1}), fill("b.npy", 2.0f, {1, 64}); }
  Outcome run(const std::string& script) const {
    std::filesystem::current_path(*this / "");
    const std::string program = TESSERA_PROGRAM, limited = "timeout 60 " + program;
    return test::run({"/bin/sh", "-c", script}, quiet({{"tessera", program},
                                                       {"gemm", limited + " gemm a.npy b.npy"},
                                                       {"stencil", limited + " stencil a.npy --named identity"}}));
  }
  std::string succeed(const std::string& script) const {
    const Outcome outcome = run(script);
    CAPTURE(script, outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    return outcome.errors;
  }
  /// The product of the two matrices lies in a file.
  void check_product(const std::string& name) const {
    CAPTURE(name);
    CHECK(read_npy<float>(name, {64, 64}) == std::vector<float>(64 * 64, 2.0f));
  }
  void check_fails(const std::string& script, const std::string& message) const {
    CAPTURE(script);
    const Outcome outcome = run(script);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, says(message));
    CHECK(read("old.npy") == old_);
  }
  void check_names(std::vector<std::string> added) const {
    added.insert(added.end(), {"a.npy", "b.npy", "old.npy"});
    std::sort(added.begin(), added.end());
    CHECK(names() == added);
  }

 private:
  std::string old_ = read("old.npy");
};

}  // namespace

TEST_CASE("standard output takes the array, and standard error the report", "[output]") {
  const Workplace w;
  for (const char* to : {"/dev/stdout > new.npy", "/dev/stdout | cat > new.npy", "$PWD/new.npy > new.npy"}) {
    CHECK_THAT(w.succeed(std::string("$gemm -o ") + to), says("GFLOP/s"));
    w.check_product("new.npy");
  }
  const std::string old = w.read("old.npy");
  w.succeed("$stencil -o /dev/stdout >> old.npy");
  CHECK(w.read("old.npy") == old + w.read("a.npy"));
  w.check_names({"new.npy"});
}

TEST_CASE("a report or help that cannot be printed is a failure, and leaves the output as it was", "[output]") {
  const Workplace w;
  const std::string message = "standard output cannot be written";
  for (const std::string command : {"$gemm -o old.npy", "$gemm -o new.npy", "$stencil -o old.npy"}) {
    if (fs::exists("/dev/full")) w.check_fails(command + " > /dev/full", message);
    w.check_fails(command + " >&-", message);
    // A pipe whose only reader is gone.
    w.check_fails("mkfifo p && exec 4<>p 3>p 4<&- && rm p && " + command + " >&3", message);
  }
  for (const std::string command : {"$gemm --help", "$tessera info --json"})
    if (fs::exists("/dev/full")) w.check_fails(command + " > /dev/full", message);
  w.check_names({});
}

TEST_CASE("an output file is never a standard stream by accident", "[output]") {
  const Workplace w;
  for (const char* closed : {"2>&-", "<&- 2>&-"}) {
    w.succeed(std::string("TESSERA_VERBOSE=2 $gemm -o new.npy ") + closed);
    w.check_product("new.npy");
  }
}

TEST_CASE("a limit of a file's size is an error", "[output]") {
  const Workplace w;  // the product has 16 KiB; units of 512 bytes, or 1024 in some shells
  w.check_fails("ulimit -f 8 && $gemm -o old.npy", "old.npy: cannot be written: File too large");
  w.check_fails("ulimit -f 8 && $gemm -o new.npy", "new.npy: cannot be written: File too large");
  w.check_names({});
}

TEST_CASE("pipes and devices as output, and files without an ending", "[output]") {
  const Workplace w;
  w.succeed("mkfifo pipe pipe.tiff && { cat pipe > new.npy & } && $gemm -o pipe && wait");
  w.succeed("{ (sleep 0.2; cat pipe > late.npy) & } && $gemm -o pipe && wait");
  w.succeed("{ cat pipe.tiff > tiff.npy & } && $gemm -o pipe.tiff && wait");
  w.check_fails("$gemm -o pipe", "pipe: cannot be written: nothing reads");
  w.succeed("$gemm -o - && $gemm -o bare && $gemm -o ./-.npy && $stencil -o .hidden && $gemm -o /dev/null");
  CHECK(fs::is_character_file("/dev/null"));
  for (const char* name : {"new.npy", "late.npy", "tiff.npy", "-", "bare", "-.npy"}) w.check_product(name);
  w.check_names({"-", "-.npy", ".hidden", "bare", "late.npy", "new.npy", "pipe", "pipe.tiff", "tiff.npy"});
}

TEST_CASE("pipes as input are refused at once", "[output]") {
  const Workplace w;
  w.succeed("mkfifo pipe");
  for (const std::string command : {"$gemm --c pipe", "$tessera stencil a.npy --taps pipe"})
    w.check_fails(command + " -o new.npy", "pipe: is not a regular file");
  w.check_names({"pipe"});
}

TEST_CASE("symbolic links stay links", "[output]") {
  const Workplace w;
  w.succeed(
      "mkdir folder && ln -s folder/new.npy dangling && ln -s \"$PWD/dangling\" chain && ln -s old.npy link && "
      "ln -s loop loop");
  w.check_fails("$gemm -o loop", "Too many levels of symbolic links");
  w.succeed("$gemm -o chain && $gemm -o link");
  w.check_product("folder/new.npy");
  w.check_product("old.npy");
  for (const char* name : {"dangling", "chain", "link", "loop"}) CHECK(fs::is_symlink(w / name));
  w.check_names({"chain", "dangling", "folder", "link", "loop"});
}

TEST_CASE("an output has the rights of the file that it replaces, or of any new one", "[output]") {
  const Workplace w;
  for (const unsigned rights : {0600u, 0644u, 0666u}) {
    fs::permissions(w / "old.npy", fs::perms(rights));
    w.succeed("umask 027 && $gemm -o old.npy");
    CHECK(w.rights("old.npy") == rights);
  }
  w.succeed("umask 027 && $gemm -o new.npy");
  CHECK(w.rights("new.npy") == 0640);
}
