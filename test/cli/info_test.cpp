// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy_file.hpp"
#include "program.hpp"

#include <tessera/version.h>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

const std::string kVersion = std::to_string(TESSERA_VERSION_MAJOR) + "." + std::to_string(TESSERA_VERSION_MINOR) + "." +
                             std::to_string(TESSERA_VERSION_PATCH);

void check_backend(const json& backend) {
  CAPTURE(backend.dump());
  CHECK(backend.at("name").is_string());
  CHECK(backend.at("variant").is_string());
  CHECK(backend.at("path").is_string());
  CHECK(backend.at("build").is_string());
  CHECK(backend.at("score").is_number());
  CHECK(backend.at("reason").get<std::string>().empty() == backend.at("available").get<bool>());
  for (const json& device : backend.at("devices")) {
    CHECK(!device.at("name").get<std::string>().empty());
    CHECK(device.at("memory_bytes").get<std::uint64_t>() > 0);
  }
  for (const char* operation : {"gemm", "stencil"})
    for (const json& name : backend.at("algorithms").at(operation)) CHECK(!name.get<std::string>().empty());
  if (!backend.at("available").get<bool>()) return;
  CHECK(!backend.at("devices").empty());
  CHECK(backend.at("algorithms").at("gemm").size() + backend.at("algorithms").at("stencil").size() > 0);
}

}  // namespace

TEST_CASE("JSON and text tell of the same backends", "[info]") {
  need_backend();
  const Outcome outcome = tessera_run({"info", "--json"});
  CHECK(outcome.errors == "");
  REQUIRE(outcome.exit_code == 0);
  const json info = json::parse(outcome.output);
  CHECK(info.at("version") == kVersion);
  const Outcome text = tessera_run({"info"});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.output, StartsWith("tessera " + kVersion + "\n"));
  for (const json& backend : info.at("backends")) {
    check_backend(backend);
    CHECK_THAT(text.output, ContainsSubstring("\n" + backend.at("name").get<std::string>()));
    for (const json& names : backend.at("algorithms"))  // also of a backend that lacks its device
      for (const json& name : names) CHECK_THAT(text.output, ContainsSubstring(name.get<std::string>()));
  }
  for (const json& unbuilt : info.at("not_built")) {
    const std::string name = unbuilt.at("name"), option = unbuilt.at("option");
    CHECK_THAT(text.output, ContainsSubstring("\n" + name + ": not built into this installation\n  option    -D" +
                                              option + "=ON\n"));
    for (const json& backend : info.at("backends")) CHECK(backend.at("name") != name);
  }
}

TEST_CASE("a plugin that cannot be loaded is listed with the reason", "[info]") {
  const TemporaryDirectory folder;
  write_file(folder.path() / "libtessera_backend_broken.so", "this is not a shared library");
  const Environment environment{{"TESSERA_BACKEND_PATH", folder.path().string()}};
  const Outcome outcome = tessera_run({"info", "--json"}, environment);
  const json backends = json::parse(outcome.output).at("backends");
  const auto broken =
      std::find_if(backends.begin(), backends.end(), [](const json& b) { return b.at("name") == "broken"; });
  REQUIRE(broken != backends.end());
  check_backend(*broken);
  CHECK(broken->at("available") == false);
  const Outcome text = tessera_run({"info"}, environment);
  CHECK_THAT(text.output,
             ContainsSubstring("broken: not usable") && ContainsSubstring(broken->at("reason").get<std::string>()));
}

TEST_CASE("the directories searched are listed", "[info]") {
  need_backend();
  const TemporaryDirectory folder;  // without a plugin: allowed
  const Environment environment{{"TESSERA_BACKEND_PATH", folder.path().string()}};
  const Outcome outcome = tessera_run({"info", "--json"}, environment), text = tessera_run({"info"}, environment);
  CHECK(outcome.exit_code == 0);
  const json searched = json::parse(outcome.output).at("searched");
  REQUIRE(searched.size() >= 2);
  CHECK(searched[0] == json{{"path", std::filesystem::canonical(folder.path()).string()},
                            {"origin", "TESSERA_BACKEND_PATH"},
                            {"error", ""}});
  CHECK(searched[1].at("path").get<std::string>().starts_with("/"));
  for (const json& directory : searched) CHECK_THAT(text.output, ContainsSubstring(directory.at("path")));
}

TEST_CASE("a TESSERA_BACKEND_PATH that cannot be read is a failure", "[info]") {
  const TemporaryDirectory folder;
  write_file(folder.path() / "file", "not a directory");
  for (const char* name : {"absent", "file"}) {
    const std::string entry = folder.path() / name;
    const Outcome json_outcome = tessera_run({"info", "--json"}, {{"TESSERA_BACKEND_PATH", entry}});
    CHECK(json_outcome.exit_code == 1);
    CHECK_THAT(json_outcome.errors, ContainsSubstring("TESSERA_BACKEND_PATH") && ContainsSubstring(entry) &&
                                        ContainsSubstring("irectory") && ContainsSubstring("remove"));
    CHECK(json::parse(json_outcome.output).at("searched")[0].at("error") != "");
    CHECK(tessera_run({"info"}, {{"TESSERA_BACKEND_PATH", entry}}).exit_code == 1);
  }
}

TEST_CASE("no usable backend is a failure", "[info]") {
  // A copy of the program, and of the library where it is one of its own, with no plugin beside it.
  const TemporaryDirectory folder;
  namespace fs = std::filesystem;
  const fs::path program = folder.path() / "bin" / "tessera", lib = fs::path(TESSERA_PROGRAM) / "../../lib";
  fs::create_directories(program.parent_path());
  fs::create_directories(folder.path() / "lib" / "tessera");
  fs::copy_file(TESSERA_PROGRAM, program);
  for (const auto& entry : fs::directory_iterator(lib.lexically_normal()))
    if (entry.path().filename().string().starts_with("libtessera.so"))
      fs::copy(entry.path(), folder.path() / "lib" / entry.path().filename(), fs::copy_options::copy_symlinks);
  const Environment environment{{"TESSERA_BACKEND_PATH", std::nullopt},
                                {"LD_LIBRARY_PATH", (folder.path() / "lib").string()}};
  const std::string place = fs::canonical(folder.path() / "lib" / "tessera");
  const Outcome none = run({program, "info"}, environment);
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, ContainsSubstring(place));
  for (const char* name : {"cpu", "cuda", "kokkos-openmp", "kokkos-cuda"})
    CHECK_THAT(none.output, ContainsSubstring("\n" + std::string(name) + ": not built into this installation\n"));
  CHECK_THAT(none.errors, ContainsSubstring("no backend was found"));
  write_file(folder.path() / "lib" / "tessera" / "libtessera_backend_broken.so", "broken");
  const Outcome unusable = run({program, "info", "--json"}, environment);
  CHECK(unusable.exit_code == 1);
  CHECK(json::parse(unusable.output).at("backends").size() == 1);
  CHECK(json::parse(unusable.output).at("not_built").size() == 4);
  CHECK_THAT(unusable.errors, ContainsSubstring("no backend is usable"));
}

TEST_CASE("a TESSERA_BACKEND that cannot be had is a failure, behind the list", "[info]") {
  need_backend();
  const Outcome outcome = tessera_run({"info"}, {{"TESSERA_BACKEND", "gpu"}});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.output, ContainsSubstring(": usable"));
  CHECK_THAT(outcome.errors, StartsWith("tessera: error: TESSERA_BACKEND = 'gpu': there is no such backend: no plugin "
                                        "libtessera_backend_gpu.so or ") &&
                                 ContainsSubstring("searched for plugins: /"));
  CHECK(tessera_run({"info", "--json"}, {{"TESSERA_BACKEND", "gpu:first"}}).exit_code == 1);
  CHECK_THAT(outcome.errors, !ContainsSubstring("did you mean"));
  CHECK_THAT(tessera_run({"info"}, {{"TESSERA_BACKEND", "AUTO"}}).errors,
             ContainsSubstring("there is no such backend; did you mean 'auto'? no plugin libtessera_backend_AUTO.so"));
  for (const json& backend : backends())
    CHECK(tessera_run({"info"}, {{"TESSERA_BACKEND", backend.at("name").get<std::string>()}}).exit_code ==
          (backend.at("available").get<bool>() ? 0 : 1));
}

TEST_CASE("help and version", "[info]") {
  CHECK(tessera_run({"--version"}).output == "tessera " + kVersion + "\n");
  const std::vector<std::vector<std::string>> rows = {{"--help"}, {"gemm", "--help"}, {"stencil", "--help"}};
  for (const std::vector<std::string>& arguments : rows) {
    const Outcome outcome = tessera_run(arguments);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.output, ContainsSubstring("Usage: tessera"));
    const bool executes = arguments.size() > 1;
    CHECK((outcome.output.find("executed once and, where that takes less than 0.2 s, five times") !=
           std::string::npos) == executes);
  }
  const std::string help = tessera_run({"stencil", "--help"}).output;
  CHECK(help.find("xactly") == help.rfind("xactly"));  // one of the two ways to give taps: said once
}

TEST_CASE("output that cannot be printed is a failure", "[info]") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  CHECK(run({"/bin/sh", "-c", std::string(TESSERA_PROGRAM) + " info --json >/dev/full"}).exit_code == 1);
}
