// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Runs the command line program in a folder, whose .npy files are made and read without the code under test.
#pragma once

#include "process.hpp"

#include <tessera/float16.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::test {

using Environment = std::map<std::string, std::optional<std::string>>;
using Shape = std::vector<std::int64_t>;

/// The program's arguments: what stands between spaces, '' for an empty one.
struct Line {
  Line(const char* text) : Line(std::string(text)) {}
  Line(const std::string& text);
  Line with(const std::string& word) const;
  Line then(const Line& more) const;

  std::vector<std::string> words;
};

/// With the environment's choice of a backend, but none of algorithms, and no further lines on stderr.
Environment quiet(Environment environment = {});
nlohmann::json listed_backends();
/// Skips the test where nothing can compute, unless TESSERA_REQUIRE_BACKENDS says that something must.
void need_backend();

/// Has the parts of a message, which " ... " separates, one behind the other.
class Says : public Catch::Matchers::MatcherBase<std::string> {
 public:
  explicit Says(std::string message) : message_(std::move(message)) {}
  bool match(const std::string& text) const override;
  std::string describe() const override { return "says: " + message_; }

 private:
  std::string message_;
};
inline Says says(const std::string& message) { return Says(message); }

void write_file(const std::filesystem::path& file, const std::string& bytes);
std::string read_file(const std::filesystem::path& file);

/// The header's text for one of NumPy's types, and all of a header: magic, version, length and text, as long as NumPy
/// makes it.
std::string npy_dictionary(const std::string& descr, bool fortran_order, const Shape& shape);
std::string npy_header(const std::string& dictionary, int version = 1);

/// NumPy's name of a type, little-endian.
template <class T>
inline const std::string kDescr = std::string(sizeof(T) == 1 ? "|" : "<") +
                                  (std::is_same_v<T, bool>       ? 'b'
                                   : std::is_floating_point_v<T> ? 'f'
                                   : std::is_signed_v<T>         ? 'i'
                                                                 : 'u') +
                                  std::to_string(sizeof(T));
template <>
inline const std::string kDescr<float16> = "<f2";
template <>
inline const std::string kDescr<bfloat16> = "<u2";  // its bits, since NumPy has no such type

inline std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
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

/// A new folder, in which the program runs.
class Folder {
 public:
  /// With 2 x 3 and 3 x 2 ones of f32 in a.npy and b.npy, and something in old.npy.
  Folder();
  ~Folder();

  std::string operator/(const std::string& name) const { return directory_.path() / name; }
  void write(const std::string& name, const std::string& bytes) const { write_file(*this / name, bytes); }
  std::string read(const std::string& name) const { return read_file(*this / name); }
  bool has(const std::string& name) const { return std::filesystem::exists(*this / name); }
  /// Of all entries, sorted.
  std::vector<std::string> names() const;
  unsigned rights(const std::string& name) const;

  /// An array, given in C order, in the order asked for.
  template <class T>
  void write_npy(const std::string& name, const std::vector<T>& values, const Shape& shape, bool fortran_order = false,
                 int version = 1) const {
    const std::vector<T> stored = fortran_order ? fortran(values, shape) : values;
    std::string bytes = npy_header(npy_dictionary(kDescr<T>, fortran_order, shape), version);
    write(name, bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(T)));
  }
  /// The elements of a file that must have exactly the header that NumPy would write for this type and shape.
  template <class T>
  std::vector<T> read_npy(const std::string& name, const Shape& shape) const {
    const std::string bytes = read(name), header = npy_header(npy_dictionary(kDescr<T>, false, shape));
    std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
    if (!bytes.starts_with(header) || bytes.size() != header.size() + values.size() * sizeof(T)) return {};
    std::memcpy(values.data(), bytes.data() + header.size(), bytes.size() - header.size());
    return values;
  }

  Outcome run(const Line& line, const Environment& environment = {}) const;
  /// Of a shell's script, where $tessera is the program.
  Outcome shell(const std::string& script) const;
  /// Runs it, and checks that it succeeds. Returns what it prints.
  std::string runs(const Line& line, const Environment& environment = {}) const;
  /// Runs it, with both an old and a new output where the line names none, and checks that it fails at once, with a
  /// message that a terminal can hold, and leaves the folder as it was.
  void fails(const Line& line, int exit_code, const std::string& message) const;

 private:
  TemporaryDirectory directory_;
};

}  // namespace tessera::test
