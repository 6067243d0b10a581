// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Where plugins are searched: never where an attacker can choose.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

using namespace tessera::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

}  // namespace

TEST_CASE("a relative library path and a later chdir lead nowhere else", "[shared]") {
  const TemporaryDirectory place;
  const fs::path ours = fs::canonical(place.path()) / "ours and (deleted)", theirs = place.path() / "theirs";
  for (const fs::path& tree : {ours, theirs}) fs::create_directories(tree / "lib" / "tessera");
  for (const auto& entry : fs::directory_iterator(fs::path(TESSERA_LIBRARY).parent_path()))
    if (entry.path().filename().string().starts_with("libtessera.so"))
      fs::copy(entry.path(), ours / "lib" / entry.path().filename(), fs::copy_options::copy_symlinks);
  const fs::path good = fs::path(TESSERA_TEST_PLUGINS) / "libtessera_backend_fake.so";
  fs::copy_file(good, ours / "lib/tessera/libtessera_backend_fake.so");
  fs::copy_file(good, theirs / "lib/tessera/libtessera_backend_theirs.so");
  const std::string start =
      "cd '" + ours.string() + "' && LD_LIBRARY_PATH=lib exec '" TESSERA_LIST "' --go '" + theirs.string() + "'";
  const Outcome list = run({"/bin/sh", "-c", start}, {{"TESSERA_BACKEND_PATH", std::nullopt}});
  CHECK(lines(list.output) == std::vector<std::string>{"fake", ""});
  const Outcome searched = run({"/bin/sh", "-c", start + " --searched"}, {{"TESSERA_BACKEND_PATH", std::nullopt}});
  CHECK(lines(searched.output) == std::vector<std::string>{"ordinary", (ours / "lib/tessera").string()});
}

TEST_CASE("a static library searches beside its program, then where it is installed", "[static]") {
  const fs::path folder = fs::canonical(fs::path(TESSERA_STATIC_LIST).parent_path());
  const Outcome outcome = run({TESSERA_STATIC_LIST, "--searched"}, {{"TESSERA_BACKEND_PATH", std::nullopt}});
  CHECK(lines(outcome.output) == std::vector<std::string>{"ordinary", folder.string() + "/../lib/tessera",
                                                          folder.string() + "/tessera", "/nowhere/tessera"});
}

TEST_CASE("a set-uid program searches the installation alone", "[setuid]") {
  if (geteuid() != 0) SKIP("only root can make a program set-uid for somebody else");
  const TemporaryDirectory folder;
  struct statvfs system {};
  REQUIRE(statvfs(folder.path().c_str(), &system) == 0);
  if ((system.f_flag & ST_NOSUID) != 0) SKIP(folder.path() << " is mounted nosuid");
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  const fs::path program = folder.path() / "list";
  fs::copy_file(TESSERA_STATIC_LIST, program);
  REQUIRE(chmod(program.c_str(), 04755) == 0);
  // As nobody: the program has root's rights, its caller has not.
  const Outcome outcome =
      run({program, "--user", "65534", "--searched"}, {{"TESSERA_BACKEND_PATH", folder.path().string()}});
  REQUIRE(outcome.exit_code == 0);
  const std::vector<std::string> found = lines(outcome.output);
  REQUIRE(!found.empty());
  if (found[0] != "secure") SKIP("set-uid has no effect here (no_new_privs?)");
  CHECK(found == std::vector<std::string>{"secure", "/nowhere/tessera"});
}
