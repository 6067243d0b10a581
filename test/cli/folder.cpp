// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "folder.hpp"

#include "required.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

namespace tessera::test {

namespace fs = std::filesystem;

Line::Line(const std::string& text) {
  std::istringstream rest(text);
  for (std::string word; rest >> word;) words.push_back(word == "''" ? "" : word);
}

Line Line::with(const std::string& word) const {
  Line line = *this;
  line.words.push_back(word);
  return line;
}

Line Line::then(const Line& more) const {
  Line line = *this;
  line.words.insert(line.words.end(), more.words.begin(), more.words.end());
  return line;
}

Environment quiet(Environment environment) {
  for (const char* name : {"TESSERA_VERBOSE", "TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM",
                           "TESSERA_SYSTEM_ALGORITHM", "TESSERA_GEMM_COMPUTE"})
    environment.try_emplace(name, std::nullopt);
  return environment;
}

nlohmann::json listed_backends() {
  const Outcome outcome = run({TESSERA_PROGRAM, "info", "--json"}, quiet());
  REQUIRE((outcome.exit_code == 0 || outcome.exit_code == 1));  // 1: none is usable
  return nlohmann::json::parse(outcome.output).at("backends");
}

void need_backend() {
  for (const auto& backend : listed_backends())
    if (backend.at("available").get<bool>()) return;
  if (!required_backends().empty()) FAIL("no backend is usable, but TESSERA_REQUIRE_BACKENDS names some");
  SKIP("no backend is usable");
}

bool Says::match(const std::string& text) const {
  constexpr char kBetween[] = " ... ";
  std::size_t at = 0;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + std::strlen(kBetween)) {
    to = message_.find(kBetween, from);
    const std::string part = message_.substr(from, to == std::string::npos ? to : to - from);
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

void write_file(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

std::string read_file(const fs::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

std::string npy_dictionary(const std::string& descr, bool fortran_order, const Shape& shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': (" +
         extents + (shape.size() == 1 ? "," : "") + "), }";
}

std::string npy_header(const std::string& dictionary, int version) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string text = dictionary;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header = std::string("\x93NUMPY") + char(version) + '\0';
  for (std::size_t byte = 0; byte < prefix - 8; ++byte) header += char(text.size() >> (8 * byte) & 0xff);
  return header + text;
}

Folder::Folder() {
  write_npy<float>("a.npy", std::vector<float>(6, 1.0f), {2, 3});
  write_npy<float>("b.npy", std::vector<float>(6, 1.0f), {3, 2});
  write("old.npy", "the old output");
}

Folder::~Folder() { fs::current_path(directory_.path().parent_path()); }

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

unsigned Folder::rights(const std::string& name) const {
  return unsigned(fs::status(*this / name).permissions() & fs::perms::mask);
}

Outcome Folder::run(const Line& line, const Environment& environment) const {
  fs::current_path(directory_.path());
  std::vector<std::string> arguments = line.words;
  arguments.insert(arguments.begin(), TESSERA_PROGRAM);
  return test::run(arguments, quiet(environment));
}

Outcome Folder::shell(const std::string& script) const {
  fs::current_path(directory_.path());
  return test::run({"/bin/sh", "-c", script}, quiet({{"tessera", TESSERA_PROGRAM}}));
}

std::string Folder::runs(const Line& line, const Environment& environment) const {
  const Outcome outcome = run(line, environment);
  CAPTURE(line.words, outcome.output);
  CHECK(outcome.errors == "");
  REQUIRE(outcome.exit_code == 0);
  return outcome.output;
}

void Folder::fails(const Line& line, int exit_code, const std::string& message) const {
  constexpr std::size_t kLongest = 10000;  // bytes of a message: a file's name, or the library's 8192
  const std::vector<std::string>& words = line.words;
  if (std::find(words.begin(), words.end(), "-o") == words.end()) {
    fails(line.then("-o new.npy"), exit_code, message);
    return fails(line.then("-o old.npy"), exit_code, message);
  }
  const std::vector<std::string> before = names();
  const std::string old = read("old.npy");
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run(line);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CAPTURE(words.size() < 100 && words.back().size() < 1000 ? words : std::vector<std::string>(), outcome.errors);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == exit_code);
  CHECK(outcome.output == "");
  CHECK(outcome.errors.starts_with("tessera: error: "));
  CHECK(outcome.errors.size() < kLongest);
  CHECK(seconds.count() < 20.0);  // what this is to find takes minutes, or memory without end
  CHECK_THAT(outcome.errors, says(message));
  CHECK(names() == before);
  CHECK(read("old.npy") == old);
}

}  // namespace tessera::test
