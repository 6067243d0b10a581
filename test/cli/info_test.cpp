// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "folder.hpp"

#include <tessera/version.h>

#include <algorithm>

using namespace tessera::test;
using nlohmann::json;

namespace {

const std::string kVersion = std::to_string(TESSERA_VERSION_MAJOR) + "." + std::to_string(TESSERA_VERSION_MINOR) + "." +
                             std::to_string(TESSERA_VERSION_PATCH);

void check_backend(const json& backend) {
  CAPTURE(backend.dump());
  for (const char* text : {"name", "variant", "path", "build"}) CHECK(backend.at(text).is_string());
  const bool available = backend.at("available");
  CHECK(backend.at("score").is_number());
  CHECK(backend.at("reason").get<std::string>().empty() == available);
  for (const json& device : backend.at("devices")) {
    CHECK(!device.at("name").get<std::string>().empty());
    CHECK(device.at("memory_bytes").get<std::uint64_t>() > 0);
  }
  const json& algorithms = backend.at("algorithms");
  for (const char* operation : {"gemm", "stencil"})
    for (const json& name : algorithms.at(operation)) CHECK(!name.get<std::string>().empty());
  CHECK((!available || !backend.at("devices").empty()));
  CHECK((!available || algorithms.at("gemm").size() + algorithms.at("stencil").size() > 0));
}

}  // namespace

TEST_CASE("JSON and text tell of the same backends", "[info]") {
  const ComputingFolder folder;
  const json info = json::parse(folder.runs("info --json"));
  CHECK(info.at("version") == kVersion);
  const std::string text = folder.runs("info");
  CHECK(text.starts_with("tessera " + kVersion + "\n"));
  for (const json& backend : info.at("backends")) {
    check_backend(backend);
    CHECK_THAT(text, says("\n" + backend.at("name").get<std::string>()));
    for (const json& names : backend.at("algorithms"))  // also of a backend that lacks its device
      for (const std::string name : names) CHECK_THAT(text, says(name));
  }
  for (const json& unbuilt : info.at("not_built")) {
    const std::string name = unbuilt.at("name"), option = unbuilt.at("option");
    CHECK_THAT(text, says("\n" + name + ": not built into this installation\n  option    -D" + option + "=ON\n"));
    for (const json& backend : info.at("backends")) CHECK(backend.at("name") != name);
  }
}

TEST_CASE("a plugin that cannot be loaded is listed with the reason", "[info]") {
  const Folder folder;
  folder.write("libtessera_backend_broken.so", "this is not a shared library");
  const Environment environment{{"TESSERA_BACKEND_PATH", folder / ""}};
  const json backends = json::parse(folder.run("info --json", environment).output).at("backends");
  const auto broken =
      std::find_if(backends.begin(), backends.end(), [](const json& b) { return b.at("name") == "broken"; });
  REQUIRE(broken != backends.end());
  check_backend(*broken);
  CHECK(broken->at("available") == false);
  const std::string text = folder.run("info", environment).output;
  CHECK_THAT(text, says("broken: not usable") && says(broken->at("reason").get<std::string>()));
}

TEST_CASE("the directories searched are listed", "[info]") {
  const ComputingFolder folder;  // without a plugin: allowed
  const Environment environment{{"TESSERA_BACKEND_PATH", folder / ""}};
  const json searched = json::parse(folder.runs("info --json", environment)).at("searched");
  const std::string text = folder.runs("info", environment);
  REQUIRE(searched.size() >= 2);
  const std::string place = std::filesystem::canonical(folder / "");
  CHECK(searched[0] == json{{"path", place}, {"origin", "TESSERA_BACKEND_PATH"}, {"error", ""}});
  CHECK(searched[1].at("path").get<std::string>().starts_with("/"));
  for (const json& directory : searched) CHECK_THAT(text, says(directory.at("path")));
}

TEST_CASE("a TESSERA_BACKEND_PATH that cannot be read is a failure", "[info]") {
  const Folder folder;
  for (const char* name : {"absent", "old.npy"}) {
    const Environment environment{{"TESSERA_BACKEND_PATH", folder / name}};
    const std::string message = "TESSERA_BACKEND_PATH ... " + folder / name + " ... irectory ... remove";
    const Outcome outcome = folder.refuses("info --json", message, environment);
    CHECK(json::parse(outcome.output).at("searched")[0].at("error") != "");
    folder.refuses("info", message, environment);
  }
}

TEST_CASE("no usable backend is a failure", "[info]") {
  // A copy of the program, and of the library where it is one of its own, with no plugin beside it.
  namespace fs = std::filesystem;
  const Folder folder;
  const fs::path lib = fs::path(TESSERA_PROGRAM) / "../../lib";
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib/tessera");
  fs::copy_file(TESSERA_PROGRAM, folder / "bin/tessera");
  for (const auto& entry : fs::directory_iterator(lib.lexically_normal()))
    if (entry.path().filename().string().starts_with("libtessera.so"))
      fs::copy(entry.path(), fs::path(folder / "lib") / entry.path().filename(), fs::copy_options::copy_symlinks);
  const Environment environment{{"TESSERA_BACKEND_PATH", std::nullopt}, {"LD_LIBRARY_PATH", folder / "lib"}};
  const Outcome none = run({folder / "bin/tessera", "info"}, environment);
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, says(fs::canonical(folder / "lib/tessera")));
  for (const std::string name : {"cpu", "cuda", "kokkos-openmp", "kokkos-cuda"})
    CHECK_THAT(none.output, says("\n" + name + ": not built into this installation\n"));
  CHECK_THAT(none.errors, says("no backend was found"));
  folder.write("lib/tessera/libtessera_backend_broken.so", "broken");
  const Outcome unusable = run({folder / "bin/tessera", "info", "--json"}, environment);
  CHECK(unusable.exit_code == 1);
  CHECK(json::parse(unusable.output).at("backends").size() == 1);
  CHECK(json::parse(unusable.output).at("not_built").size() == 4);
  CHECK_THAT(unusable.errors, says("no backend is usable"));
}

TEST_CASE("a TESSERA_BACKEND that cannot be had is a failure, behind the list", "[info]") {
  const ComputingFolder folder;
  const auto with = [](const std::string& backend) { return Environment{{"TESSERA_BACKEND", backend}}; };
  const Outcome outcome = folder.refuses("info",
                                         "tessera: error: TESSERA_BACKEND = 'gpu': there is no such backend: no plugin "
                                         "libtessera_backend_gpu.so or  ... searched for plugins: /",
                                         with("gpu"));
  CHECK_THAT(outcome.output, says(": usable"));
  CHECK_THAT(outcome.errors, !says("did you mean"));
  folder.refuses("info --json", "gpu:first", with("gpu:first"));
  folder.refuses("info", "there is no such backend; did you mean 'auto'? no plugin libtessera_backend_AUTO.so",
                 with("AUTO"));
  for (const json& backend : listed_backends())
    CHECK(folder.run("info", with(backend.at("name"))).exit_code == (backend.at("available").get<bool>() ? 0 : 1));
}

TEST_CASE("help and version", "[info]") {
  const Folder folder;
  CHECK(folder.runs("--version") == "tessera " + kVersion + "\n");
  const Says usage = says("Usage: tessera"),
             executes = says("executed once and, where that takes less than 0.2 s, five");
  CHECK_THAT(folder.runs("--help"), usage && !executes);
  CHECK_THAT(folder.runs("gemm --help"), usage && executes);
  const std::string help = folder.runs("stencil --help");
  CHECK_THAT(help, usage && executes);
  CHECK(help.find("xactly") == help.rfind("xactly"));  // one of the two ways to give taps: said once
}
