// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Runs the command line program in a folder, whose .npy files are made and read without the code under test.
#pragma once

#include "element_numbers.hpp"
#include "process.hpp"
#include "required.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::test {

using Environment = std::map<std::string, std::optional<std::string>>;
using Shape = std::vector<std::int64_t>;

/// With the environment's choice of a backend, but none of algorithms, and no further lines on stderr.
inline Environment quiet(Environment environment) {
  for (const char* name : {"TESSERA_VERBOSE", "TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM",
                           "TESSERA_SYSTEM_ALGORITHM", "TESSERA_GEMM_COMPUTE"})
    environment.try_emplace(name, std::nullopt);
  return environment;
}

/// Runs the program with the arguments of a line: words between spaces, or between single quotes.
inline Outcome tessera_run(const std::string& line, const Environment& environment = {}) {
  std::vector<std::string> arguments{TESSERA_PROGRAM};
  for (std::size_t at = 0; (at = line.find_first_not_of(' ', at)) != std::string::npos;) {
    const bool quoted = line[at] == '\'';
    const std::size_t end = std::min(line.find(quoted ? '\'' : ' ', at + 1), line.size());
    arguments.push_back(line.substr(at + quoted, end - at - quoted));
    at = end + quoted;
  }
  return run(arguments, quiet(environment));
}

inline nlohmann::json listed_backends() {
  const Outcome outcome = tessera_run("info --json");
  REQUIRE((outcome.exit_code == 0 || outcome.exit_code == 1));  // 1: none is usable
  return nlohmann::json::parse(outcome.output).at("backends");
}

/// Skips the test where nothing can compute, unless TESSERA_REQUIRE_BACKENDS says that something must.
inline void need_backend() {
  static const nlohmann::json backends = listed_backends();
  for (const auto& backend : backends)
    if (backend.at("available").get<bool>()) return;
  if (!required_backends().empty()) FAIL("no backend is usable, but TESSERA_REQUIRE_BACKENDS names some");
  SKIP("no backend is usable");
}

/// Matches what has the parts of a message, which " ... " separates, one behind the other.
class Says : public Catch::Matchers::MatcherBase<std::string> {
 public:
  explicit Says(std::string message) : message_(std::move(message)) {}
  bool match(const std::string& text) const override {
    std::size_t at = 0;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 5) {
      to = message_.find(" ... ", from);
      const std::string part = message_.substr(from, to - from);
      if ((at = text.find(part, at)) == std::string::npos) return false;
      at += part.size();
    }
    return true;
  }
  std::string describe() const override { return "says: " + message_; }

 private:
  std::string message_;
};
inline Says says(const std::string& message) { return Says(message); }

inline std::string read_file(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

/// Runs that must fail: what is given, and what the message says.
using Failures = std::vector<std::pair<std::string, std::string>>;

/// Those of a section of failures.txt. "<COUNT TEXT>" in a line stands for the text so many times.
inline Failures failures(const std::string& section) {
  Failures rows;
  std::istringstream lines(read_file(TESSERA_FAILURES));
  bool inside = false;
  const std::regex repeated("<([0-9]+) ([^>]+)>");
  for (std::string line; std::getline(lines, line);) {
    for (std::smatch match; inside && std::regex_search(line, match, repeated);) {
      std::string text;
      for (int i = std::stoi(match[1]); i > 0; --i) text += match[2];
      line.replace(std::size_t(match.position()), std::size_t(match.length()), text);
    }
    const std::size_t bar = line.find(" | ");
    if (bar != std::string::npos && inside) rows.emplace_back(line.substr(0, bar), line.substr(bar + 3));
    if (bar == std::string::npos) inside = line.empty() ? inside : line.starts_with("[" + section + "]");
  }
  REQUIRE(rows.size() > 3);
  return rows;
}

inline std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Small integers, which any type has.
template <class T>
std::vector<T> integers(const Shape& shape, int step) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count_of(shape); ++i) values.push_back(number<T>(double((i * step) % 19 - 9)));
  return values;
}

/// Elements, given in C order, as they lie in Fortran order.
template <class T>
std::vector<T> fortran(const std::vector<T>& values, const Shape& shape) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = std::int64_t(i), at = 0, stride = std::int64_t(values.size());
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      at += rest % shape[axis] * (stride /= shape[axis]);
    result[std::size_t(at)] = values[i];
  }
  return result;
}

/// NumPy's name of a type, little-endian.
template <class T>
inline const std::string kDescr = std::string(sizeof(T) == 1 ? "|" : "<") +
                                  (std::is_floating_point_v<T> ? 'f'
                                   : std::is_signed_v<T>       ? 'i'
                                                               : 'u') +
                                  std::to_string(sizeof(T));
template <>
inline const std::string kDescr<float16> = "<f2";
template <>
inline const std::string kDescr<bfloat16> = "<u2";  // its bits, since NumPy has no such type

/// Magic, version, length and text, as long as NumPy makes it.
inline std::string npy_header(std::string text, int version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header = std::string("\x93NUMPY") + char(version) + '\0';
  for (std::size_t byte = 0; byte < prefix - 8; ++byte) header += char(text.size() >> (8 * byte) & 0xff);
  return header + text;
}

/// The header for one of NumPy's types.
inline std::string npy_header(const std::string& descr, bool fortran_order, const Shape& shape, int version = 1) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  return npy_header("{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                        ", 'shape': (" + extents + (shape.size() == 1 ? "," : "") + "), }",
                    version);
}

/// A new folder, in which the program runs, with 2 x 3 and 3 x 2 ones of f32 in a.npy and b.npy and something in
/// old.npy.
class Folder {
 public:
  Folder() {
    fill("a.npy", 1.0f, {2, 3});
    fill("b.npy", 1.0f, {3, 2});
    write("old.npy", "the old output");
  }
  ~Folder() { std::filesystem::current_path(directory_.path().parent_path()); }

  std::string operator/(const std::string& name) const { return directory_.path() / name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const { return read_file(*this / name); }
  /// Of all entries, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  unsigned rights(const std::string& name) const {
    return unsigned(std::filesystem::status(*this / name).permissions() & std::filesystem::perms::mask);
  }

  /// An array, given in C order, in the order asked for.
  template <class T>
  void write_npy(const std::string& name, const std::vector<T>& values, const Shape& shape,
                 bool fortran_order = false) const {
    const std::vector<T> stored = fortran_order ? fortran(values, shape) : values;
    std::string bytes = npy_header(kDescr<T>, fortran_order, shape);
    write(name, bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(T)));
  }
  /// An array that has one value everywhere.
  template <class T>
  void fill(const std::string& name, T value, const Shape& shape) const {
    write_npy(name, std::vector<T>(std::size_t(count_of(shape)), value), shape);
  }
  /// The elements of a file that must have exactly the header that NumPy would write for this type and shape.
  template <class T>
  std::vector<T> read_npy(const std::string& name, const Shape& shape) const {
    const std::string bytes = read(name), header = npy_header(kDescr<T>, false, shape);
    std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
    if (!bytes.starts_with(header) || bytes.size() != header.size() + values.size() * sizeof(T)) return {};
    std::memcpy(values.data(), bytes.data() + header.size(), bytes.size() - header.size());
    return values;
  }
  /// A file has the values of a reference, rounded once.
  template <class T>
  void check_npy(const std::string& name, const Shape& shape, const std::vector<Wide<T>>& values) const {
    std::vector<double> expected, found;
    for (const Wide<T> value : values) expected.push_back(double(stored<T>(value)));
    for (const T element : read_npy<T>(name, shape)) found.push_back(double(wide(element)));
    CHECK(found == expected);
  }

  Outcome run(const std::string& line, const Environment& environment = {}) const {
    std::filesystem::current_path(directory_.path());
    return tessera_run(line, environment);
  }
  /// Runs it, and checks that it succeeds. Returns what it prints.
  std::string runs(const std::string& line, const Environment& environment = {}) const {
    const Outcome outcome = run(line, environment);
    CAPTURE(line, outcome.output);
    CHECK(outcome.errors == "");
    REQUIRE(outcome.exit_code == 0);
    return outcome.output;
  }
  /// Runs it, and checks that it fails with this message, whatever it has done.
  Outcome refuses(const std::string& line, const std::string& message, const Environment& environment = {}) const {
    const Outcome outcome = run(line, environment);
    CAPTURE(line, outcome.output);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, says(message));
    return outcome;
  }
  /// Runs it, with both an old and a new output where the line names none, and checks that it fails at once, with a
  /// message that a terminal can hold, and leaves the folder as it was.
  void fails(const std::string& line, int exit_code, const std::string& message) const {
    constexpr std::size_t kLongest = 10000;  // bytes of a message: a file's name, or the library's 8192
    if (line.find(" -o ") == std::string::npos) {
      fails(line + " -o new.npy", exit_code, message);
      return fails(line + " -o old.npy", exit_code, message);
    }
    const std::vector<std::string> before = names();
    const std::string old = read("old.npy");
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run(line);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CAPTURE(line.substr(0, 1000), outcome.signal);
    CHECK(outcome.exit_code == exit_code);
    CHECK(outcome.output == "");
    CHECK(outcome.errors.starts_with("tessera: error: "));
    CHECK(outcome.errors.size() < kLongest);
    CHECK(seconds.count() < 20.0);  // what this is to find takes minutes, or memory without end
    CHECK_THAT(outcome.errors, says(message));
    CHECK(names() == before);
    CHECK(read("old.npy") == old);
  }

 private:
  TemporaryDirectory directory_;
};

/// One for runs that compute: skips the test where nothing can.
struct ComputingFolder : Folder {
  ComputingFolder() { need_backend(); }
};

}  // namespace tessera::test
