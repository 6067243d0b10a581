// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Files of wisdom under attack: nothing in them is a crash, nothing that was there is lost.

#include "wisdom/wisdom.hpp"
#include "process.hpp"
#include "wisdom/wisdom_file.hpp"

#include <tessera/plugin/error.hpp>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace tessera::core {
namespace {

using Catch::Matchers::ContainsSubstring;

WisdomEntry entry(int number, double seconds = 1.5e-5) {
  return {"gemm f32->f32 strict " + std::to_string(number) + "x4x5x1 NN",
          "tessera 0.2.0, cpu-v3 (\"g++\" \\ 12) on a processor", "packed:threads=2,block_m=8", seconds, 2e-5};
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Whether the file has exactly these entries.
bool holds(const std::string& path, const std::vector<WisdomEntry>& expected) {
  const WisdomFile file = read_wisdom_file(path);
  return file.entries.size() == expected.size() &&
         std::ranges::all_of(expected, [&](const WisdomEntry& e) { return std::ranges::count(file.entries, e) == 1; });
}

/// What refuses to read or write says.
template <class Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const plugin::Error& error) {
    CHECK(error.status() == TESSERA_INVALID_ARGUMENT);
    return error.what();
  }
  FAIL("nothing was refused");
  return {};
}

TEST_CASE("an entry is the line that says it, and no other line is one") {
  const std::string line = line_of(entry(3));
  CHECK(entry_of(line) == entry(3));
  CHECK(entry_of("  " + line + " \t") == entry(3));
  // In another order, as other programs may write it.
  CHECK(entry_of(R"({"seconds":1.5e-05,"estimated_seconds":2e-05,"algorithm":"packed:threads=2,block_m=8",)"
                 R"("machine":"tessera 0.2.0, cpu-v3 (\"g++\" \\ 12) on a processor","tessera_wisdom":1,)"
                 R"("problem":"gemm f32->f32 strict 3x4x5x1 NN"})") == entry(3));
  for (std::size_t length = 0; length < line.size(); ++length) CHECK_FALSE(entry_of(line.substr(0, length)));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = line;
    return changed.replace(changed.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {with("1,", "2,"), with("1.5e-05", "-1"), with("1.5e-05", "inf"), with("1.5e-05", "nan"), with("1.5e-05", "0"),
        with("1.5e-05", "1e999"), with("\"seconds\"", "\"minutes\""), with("\"seconds\": 1.5e-05, ", ""),
        with("\"packed:threads=2,block_m=8\"", "\"\""), with("\"problem\"", "\"machine\""), line + "}", line + line,
        std::string("null"), std::string("{}"), std::string("[") + line + "]"}) {
    CAPTURE(bad);
    CHECK_FALSE(entry_of(bad));
  }
}

TEST_CASE("random bytes in place of wisdom are lines that stay, and no entries") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom";
  std::mt19937 random(Catch::getSeed());
  for (int round = 0; round < 50; ++round) {
    std::string text = line_of(entry(1)) + "\n";
    for (int i = int(random() % 200); i > 0; --i) text[random() % (text.size() - 1)] = char(random());
    for (int i = int(random() % 2000); i > 0; --i) text += char(random());
    write(path, text);
    const std::size_t before = read_wisdom_file(path).entries.size();
    CHECK(before <= 1);
    const WisdomEntry added = entry(7);
    merge_into_wisdom_file(path, {&added, 1});
    CHECK(read_wisdom_file(path).entries.size() == before + 1);
    for (const std::string& line : read_wisdom_file(path).others) CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("a file that is cut off at any byte loses no more than the line that is cut") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom";
  const std::string first = line_of(entry(1)) + "\n", all = first + line_of(entry(2)) + "\n";
  for (std::size_t length = 0; length <= all.size(); ++length) {
    write(path, all.substr(0, length));
    const WisdomEntry added = entry(3);
    merge_into_wisdom_file(path, {&added, 1});
    std::vector<WisdomEntry> expected{added};
    if (length + 1 >= first.size()) expected.push_back(entry(1));
    if (length + 1 >= all.size()) expected.push_back(entry(2));
    CAPTURE(length);
    CHECK(holds(path, expected));
  }
}

TEST_CASE("wisdom of other versions stays where it is") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom", later = R"({"tessera_wisdom": 2, "problems": [1, 2]})";
  write(path, later + "\n" + line_of(entry(1)));
  const WisdomEntry added = entry(1, 1e-5);
  merge_into_wisdom_file(path, {&added, 1});
  CHECK(holds(path, {added}));
  CHECK(read_wisdom_file(path).others == std::vector<std::string>{later});
}

TEST_CASE("processes that write at a time lose nothing") {
  constexpr int kProcesses = 4, kEntries = 60;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom";
  std::vector<WisdomEntry> expected;
  for (int process = 0; process < kProcesses; ++process) {
    for (int i = 0; i < kEntries; ++i) expected.push_back(entry(100 * process + i));
    if (::fork() != 0) continue;
    for (int i = 0; i < kEntries; ++i) {
      const WisdomEntry added = entry(100 * process + i);
      merge_into_wisdom_file(path, {&added, 1});
    }
    ::_exit(0);
  }
  int status = 0;
  for (int process = 0; process < kProcesses; ++process) {
    ::wait(&status);
    CHECK(status == 0);
  }
  CHECK(holds(path, expected));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);  // it and its lock
}

TEST_CASE("what cannot be read or written is refused with the reason, and stays as it was") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom";
  const WisdomEntry added = entry(2);
  CHECK_THAT(refusal([&] { read_wisdom_file(path); }), ContainsSubstring(path) && ContainsSubstring("No such file"));
  CHECK_THAT(refusal([&] { read_wisdom_file(directory.path()); }), ContainsSubstring("no regular file"));
  CHECK_THAT(refusal([&] {
               merge_into_wisdom_file(directory.path(), {&added, 1});
             }),
             ContainsSubstring("no regular file"));
  CHECK_THAT(refusal([&] {
               merge_into_wisdom_file(directory.path() / "none" / "wisdom", {&added, 1});
             }),
             ContainsSubstring("cannot be made: No such file"));
  ::mkfifo((directory.path() / "pipe").c_str(), 0600);  // nobody is at its other end
  CHECK_THAT(refusal([&] { read_wisdom_file(directory.path() / "pipe"); }), ContainsSubstring("no regular file"));
  write(path, line_of(entry(1)) + "\n");
  std::filesystem::resize_file(directory.path() / "wisdom", (std::uintmax_t(64) << 20) + 1);
  CHECK_THAT(refusal([&] { merge_into_wisdom_file(path, {&added, 1}); }), ContainsSubstring("64 MiB"));
  CHECK(std::filesystem::file_size(path) == (std::uintmax_t(64) << 20) + 1);
}

TEST_CASE("a disk without room leaves the file as it was, and nothing beside it") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom", before = line_of(entry(1)) + "\n";
  write(path, before);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 10, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const WisdomEntry added = entry(2);
  const std::string said = refusal([&] { merge_into_wisdom_file(path, {&added, 1}); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(said, ContainsSubstring("cannot be written: File too large"));
  CHECK(read(path) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);
}

TEST_CASE("a link stays one, and permissions stay") {
  const test::TemporaryDirectory directory;
  const auto target = directory.path() / "target", link = directory.path() / "link";
  write(target, line_of(entry(1)) + "\n");
  std::filesystem::permissions(target, std::filesystem::perms(0640));
  std::filesystem::create_symlink(target, link);
  const WisdomEntry added = entry(2);
  merge_into_wisdom_file(link, {&added, 1});
  CHECK(std::filesystem::is_symlink(link));
  CHECK(holds(target, {entry(1), added}));
  CHECK(std::filesystem::status(target).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("the process's wisdom reads a file again when it has changed, and says once what is wrong with it") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() / "wisdom";
  Wisdom wisdom;
  const WisdomEntry one = entry(1), two = entry(2);
  CHECK_FALSE(wisdom.find(one.problem, one.machine, path).entry);
  write(path, line_of(one) + "\nnonsense\n");
  const Wisdom::Found found = wisdom.find(one.problem, one.machine, path);
  CHECK(found.entry == one);
  CHECK_THAT(found.remark, ContainsSubstring(path) && ContainsSubstring("1"));
  CHECK(wisdom.find(one.problem, one.machine, path).remark.empty());
  CHECK_FALSE(wisdom.find(one.problem, "another machine", path).entry);
  merge_into_wisdom_file(path, {&two, 1});
  CHECK(wisdom.find(two.problem, two.machine, path).entry == two);
  wisdom.forget();
  CHECK_FALSE(wisdom.find(one.problem, one.machine, "").entry);
  CHECK(wisdom.find(one.problem, one.machine, path).entry == one);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK_THAT(wisdom.find(one.problem, one.machine, path).remark, ContainsSubstring("no regular file"));
  CHECK(wisdom.find(one.problem, one.machine, path).entry == one);  // as it was read before
}

}  // namespace
}  // namespace tessera::core
