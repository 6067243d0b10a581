// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plugin files that are no whole shared libraries: each has a reason, none kills or holds up the process.

#include "process.hpp"

#include <tessera/tessera.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;
using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Header& header(std::string& file) { return *reinterpret_cast<Header*>(file.data()); }

Segment& segment(std::string& file, unsigned type) {
  auto* const segments = reinterpret_cast<Segment*>(file.data() + header(file).e_phoff);
  for (int i = 0; i < header(file).e_phnum; ++i)
    if (segments[i].p_type == type) return segments[i];
  FAIL("no segment of type " << type);
  std::abort();
}

/// Name -> reason of the plugins in a folder, asked in a process of their own: TESSERA_LIST prints both in turn.
std::map<std::string, std::string> reasons(const fs::path& folder) {
  const Outcome outcome = run({TESSERA_LIST}, {{"TESSERA_BACKEND_PATH", folder.string()}});
  REQUIRE(outcome.signal == 0);
  REQUIRE(outcome.exit_code == 0);
  std::map<std::string, std::string> result;
  std::istringstream lines(outcome.output);
  for (std::string name, reason; std::getline(lines, name) && std::getline(lines, reason);) result[name] = reason;
  return result;
}

void put(const fs::path& folder, const std::string& name, const std::string& bytes) {
  std::ofstream(folder / ("libtessera_backend_" + name + ".so"), std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("plugins that were cut off are refused") {
  for (const char* name : {"fake", "fakestatic"}) {
    INFO(name);
    const TemporaryDirectory folder;
    const std::string whole =
        contents(fs::path(TESSERA_TEST_PLUGINS) / ("libtessera_backend_" + std::string(name) + ".so"));
    // Up to where the last segment ends: the section headers behind it are not needed.
    std::string copy = whole;
    std::size_t end = 0;
    const auto* const segments = reinterpret_cast<const Segment*>(copy.data() + header(copy).e_phoff);
    for (int i = 0; i < header(copy).e_phnum; ++i)
      end = std::max(end, std::size_t(segments[i].p_offset + segments[i].p_filesz));
    std::vector<std::size_t> lengths = {1, 3, 4, 16, 63, 64, 100, 500, 4095, 4096, end - 1};
    for (std::size_t part = 1; part < 8; ++part) lengths.push_back(end * part / 8);
    for (const std::size_t length : lengths)
      put(folder.path(), "cut" + std::to_string(length), whole.substr(0, length));
    const auto found = reasons(folder.path());
    for (const std::size_t length : lengths) {
      INFO(length);
      CHECK_THAT(found.at("cut" + std::to_string(length)), ContainsSubstring(length < 4 ? "not an ELF" : "cut off"));
    }
  }
}

TEST_CASE("plugins whose headers lie are refused") {
  const std::string whole = contents(fs::path(TESSERA_TEST_PLUGINS) / "libtessera_backend_fake.so");
  const std::map<std::string, std::pair<std::function<void(std::string&)>, std::string>> changes = {
      {"class", {[](std::string& f) { header(f).e_ident[EI_CLASS] ^= 3; }, "bits"}},
      {"order", {[](std::string& f) { header(f).e_ident[EI_DATA] ^= 3; }, "byte order"}},
      {"machine", {[](std::string& f) { header(f).e_machine = EM_RISCV; }, "another processor"}},
      {"type", {[](std::string& f) { header(f).e_type = ET_REL; }, "not a shared library"}},
      {"headers", {[](std::string& f) { header(f).e_phentsize = 1; }, "unknown size"}},
      {"manyheaders", {[](std::string& f) { header(f).e_phnum = 65534; }, "65534 segments"}},
      {"farheaders", {[](std::string& f) { header(f).e_phoff = UINT64_MAX - 8; }, "cut off"}},
      {"overflow", {[](std::string& f) { segment(f, PT_LOAD).p_filesz = UINT64_MAX; }, "cut off"}},
      {"memory", {[](std::string& f) { segment(f, PT_LOAD).p_memsz = UINT64_MAX; }, "impossible address"}},
      {"align", {[](std::string& f) { segment(f, PT_LOAD).p_align = 3; }, "alignment"}},
      {"hugealign", {[](std::string& f) { segment(f, PT_LOAD).p_align = std::uint64_t{1} << 63; }, "alignment"}},
      {"lessmemory", {[](std::string& f) { segment(f, PT_LOAD).p_memsz = 1; }, "larger in the file"}},
      {"overlap", {[](std::string& f) { segment(f, PT_LOAD).p_memsz += 1 << 20; }, "before it"}},
      {"nodynamic", {[](std::string& f) { segment(f, PT_DYNAMIC).p_type = PT_NULL; }, "0 dynamic sections"}},
      {"fardynamic", {[](std::string& f) { segment(f, PT_DYNAMIC).p_vaddr += 1 << 24; }, "dynamic section"}},
      {"zerodynamic",
       {[](std::string& f) { std::memset(&f[segment(f, PT_DYNAMIC).p_offset], 0, segment(f, PT_DYNAMIC).p_filesz); },
        "table of strings"}},
      {"endlessdynamic",
       {[](std::string& f) { std::memset(&f[segment(f, PT_DYNAMIC).p_offset], 1, segment(f, PT_DYNAMIC).p_filesz); },
        "no end"}},
      {"relro", {[](std::string& f) { segment(f, PT_GNU_RELRO).p_vaddr += 1 << 24; }, "protected"}},
  };
  const TemporaryDirectory folder;
  for (const auto& [name, change] : changes) {
    std::string file = whole;
    change.first(file);
    put(folder.path(), name, file);
  }
  const auto found = reasons(folder.path());
  for (const auto& [name, change] : changes) {
    INFO(name);
    CHECK_THAT(found.at(name), ContainsSubstring(change.second));
  }
}

TEST_CASE("a FIFO with a plugin's name holds nothing up, and a file without rights has the system's reason") {
  const TemporaryDirectory folder;
  REQUIRE(mkfifo((folder.path() / "libtessera_backend_fifo.so").c_str(), 0600) == 0);
  fs::create_symlink("/nowhere", folder.path() / "libtessera_backend_dangling.so");
  const auto found = reasons(folder.path());
  CHECK_THAT(found.at("fifo"), ContainsSubstring("not a regular file"));
  CHECK_THAT(found.at("dangling"), ContainsSubstring("cannot be read: No such file"));
}
