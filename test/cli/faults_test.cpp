// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Every allocation, file operation and dlopen of a run fails in turn: an error with a message, and an output that is
/// the old one or the new one. TESSERA_TEST_ALL=1 takes each allocation, not a sample of them.

#include "faults.hpp"
#include "folder.hpp"
#include "png_file.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <algorithm>
#include <csignal>

using namespace tessera::test;

namespace {

/// What is run: "image" is a stencil with a dense kernel on a PNG image, or on integers where there is no libpng.
const std::vector<std::string> kRuns = {"gemm", "stencil", "image"};

/// A folder with a program's inputs and its output, which nobody else may read.
class Workplace : public Folder {
 public:
  explicit Workplace(const std::string& run_name) {
    write("taps.json", R"([{"offset": [0, 1], "coefficient": 2}, {"offset": [0, 0], "coefficient": 1}])");
    write_npy<std::int8_t>("kernel.npy", {1, 0, 2}, {1, 3});
    fill("image.npy", std::uint8_t{3}, {2, 3});
    write("image.png", png_file({3, 2, 8, PngColour::grey_alpha}, std::vector<unsigned>(12, 3)));
    const std::string extension = TESSERA_TEST_PNG ? ".png" : ".npy";
    out_ = run_name == "image" ? "out" + extension : "out.npy";
    line_ = run_name == "gemm"      ? "gemm a.npy b.npy"
            : run_name == "stencil" ? "stencil a.npy --taps taps.json"
                                    : "stencil image" + extension + " --taps kernel.npy";
    line_ += " -o " + out_;
    old_ = read("old.npy");
    REQUIRE(run().exit_code == 0);
    new_ = read(out_);
    REQUIRE(new_.size() > old_.size());
    names_ = names();
  }
  Faults& faults() { return faults_; }

  /// Runs with what is armed, and removes what a run left, once it was checked. Whether anything was hit.
  bool check(bool may_end, bool may_leave) {
    write(out_, old_);
    std::filesystem::permissions(*this / out_, std::filesystem::perms(0600));
    const Outcome outcome = run();
    const std::string out = read(out_);
    CAPTURE(faults_.calls(), faults_.hits(), outcome.exit_code, outcome.signal, outcome.errors);
    if (outcome.signal == SIGKILL && may_end) {
      CHECK((out == old_ || out == new_));
    } else {
      CHECK((outcome.exit_code == 0 || outcome.exit_code == 1));
      CHECK(out == (outcome.exit_code == 0 ? new_ : old_));
      CHECK((outcome.exit_code == 0 || !outcome.errors.empty()));
    }
    CHECK(rights(out_) == 0600);
    for (const std::string& name : names())
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        CAPTURE(name);
        CHECK((may_leave && outcome.signal == SIGKILL));
        CHECK(rights(name) == 0600);
        std::filesystem::remove(*this / name);
      }
    return faults_.hits() > 0;
  }

 private:
  Outcome run() const {
    Environment environment = faults_.environment();
    environment["TESSERA_NUM_THREADS"] = "1";
    environment["TESSERA_BACKEND"] = "cpu";
    return Folder::run(line_, environment);
  }

  Faults faults_{TESSERA_FAULTS_SHIM};
  std::vector<std::string> names_;
  std::string line_, out_, old_, new_;
};

void need_shim() {
  if (kSanitized) SKIP("a sanitizer replaces the functions that the shim would");
  for (const auto& backend : listed_backends())
    if (backend.at("name") == "cpu" && backend.at("available").get<bool>()) return;
  SKIP("the backend cpu is not usable");
}

/// Hits one call after another until a run has fewer: of allocations each of the first ones, then every fifth.
void sweep(Workplace& w, const std::string& what, tessera_fault_mode mode, bool no_tmpfile, bool may_leave = false) {
  constexpr std::uint64_t kEach = 64;
  const char* const all = std::getenv("TESSERA_TEST_ALL");
  const bool sampled = what == "alloc" && (all == nullptr || *all != '1');
  std::uint64_t at = 1;
  while (true) {
    CAPTURE(what, at, int(mode), no_tmpfile);
    w.faults().arm(what, at, mode, no_tmpfile);
    if (!w.check(mode == TESSERA_FAULT_KILL, may_leave)) break;
    at += sampled && at >= kEach ? 5 : 1;
  }
  CHECK(at > 1);
}

}  // namespace

TEST_CASE("file operations that fail, libraries that cannot be opened, memory that ends", "[faults]") {
  need_shim();
  Workplace w(GENERATE(from_range(kRuns)));
  const auto [what, no_tmpfile] =
      GENERATE(table<std::string, bool>({{"file", false}, {"file", true}, {"dlopen", false}, {"alloc", false}}));
  sweep(w, what, TESSERA_FAULT_ONCE, no_tmpfile);
  sweep(w, what, TESSERA_FAULT_FOR_GOOD, no_tmpfile);
}

TEST_CASE("a program that is killed at a file operation", "[faults]") {
  need_shim();
  Workplace w("gemm");
  SECTION("nothing is left by a temporary without a name, but between its naming and the rename") {
    for (const char* function : {"open", "write", "fchown", "fchmod", "fsync", "linkat"})
      sweep(w, function, TESSERA_FAULT_KILL, false);
  }
  SECTION("what is left is private") { sweep(w, "file", TESSERA_FAULT_KILL, true, true); }
}

TEST_CASE("reads and writes that take a part of what is asked for, or are interrupted", "[faults]") {
  need_shim();
  Workplace w(GENERATE(from_range(kRuns)));
  for (const char* function : {"read", "write"}) {
    w.faults().arm(function, 1, TESSERA_FAULT_SHORT);
    CHECK(w.check(false, false));
    CHECK(w.faults().calls() > 8);
  }
}

TEST_CASE("the file and its folder reach the disk", "[faults]") {
  need_shim();
  Workplace w("gemm");
  w.faults().arm("fsync", 3, TESSERA_FAULT_FOR_GOOD);
  CHECK_FALSE(w.check(false, false));
  CHECK(w.faults().calls() == 2);
}
