// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::npy {
namespace {

constexpr std::size_t kMaxHeader = 1 << 20;  // numpy itself trusts 10000 bytes
constexpr std::size_t kMaxRank = 64;         // as in numpy

/// Parses the header's Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and nothing more.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, Array& array) : array_(array), text_(text) {}

  /// Sets the array's order and shape. Returns NumPy's name of the type.
  std::string parse() {
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (!seen.insert(key).second || !parse_value(key)) fail("key '" + key + "' is unknown or there twice");
      if (!accept(',') && peek() != '}') fail("expected ',' or '}'");
    }
    if (peek() != '\0' || at_ != text_.size()) fail("there is text behind the dictionary");
    if (seen.size() != 3) fail("expected the keys descr, fortran_order and shape");
    return descr_;
  }

 private:
  bool parse_value(const std::string& key) {
    if (key == "descr" && peek() != '\'' && peek() != '"')
      throw Error(array_.file, "has records for elements; expected numbers, " + known_types());
    if (key == "descr")
      descr_ = string();
    else if (key == "fortran_order")
      array_.fortran_order = boolean();
    else if (key == "shape")
      array_.shape = tuple();
    else
      return false;
    return true;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(array_.file, "malformed .npy header at character " + std::to_string(at_) + ": " + why);
  }
  /// The next character that is not white space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr && text_[at_] != '\0') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos || end - at_ > 64) fail("expected a short string");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : result)
      if (c < ' ' || c > '~') fail("a string has characters that cannot be printed");
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    fail("expected True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == kMaxRank) fail("more than " + std::to_string(kMaxRank) + " axes");
      peek();
      std::int64_t value = 0;
      const char* const end = text_.data() + text_.size();
      const auto [behind, error] = std::from_chars(text_.data() + at_, end, value);
      if (error == std::errc::result_out_of_range) fail("an extent does not fit 64 bits");
      if (error != std::errc() || value < 0) fail("expected an extent of 0 or more");
      at_ = std::size_t(behind - text_.data());
      accept('L');  // Python 2 wrote long integers so
      result.push_back(value);
      if (!accept(',') && peek() != ')') fail("expected ',' or ')'");
    }
    return result;
  }

  Array& array_;
  std::string descr_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The text of a header, behind which the elements lie.
std::string header_text(const std::filesystem::path& file, RegularFile& reader) {
  const auto take = [&](void* target, std::size_t count) {
    if (count > reader.left()) throw Error(file, "is cut off within the .npy header");
    reader.read(target, count);
  };
  if (!is_npy(file)) throw Error(file, "is not a .npy file: it does not begin with \\x93NUMPY");
  std::array<unsigned char, 8> start{};
  take(start.data(), start.size());
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    throw Error(file, "has .npy format version " + std::to_string(major) + "." + std::to_string(start[7]) +
                          "; versions 1.0, 2.0 and 3.0 can be read");
  std::array<unsigned char, 4> raw{};
  take(raw.data(), major == 1 ? 2 : 4);
  const std::size_t length = raw[0] | std::size_t(raw[1]) << 8 | std::size_t(raw[2]) << 16 | std::size_t(raw[3]) << 24;
  if (length > kMaxHeader) throw Error(file, "malformed .npy header: it claims " + std::to_string(length) + " bytes");
  std::string text(length, '\0');
  take(text.data(), length);
  return text;
}

struct FileType {
  Stored stored;
  bool swapped;  ///< the bytes of a number lie in reverse
};

/// None where the type is not one of ours. NumPy writes '|' or '<' where a number is one byte; '=' is the machine's.
/// With `bits`, numbers of 16 bits without a sign are those of bf16, and two bytes without a meaning, which NumPy
/// writes for the bfloat16 of ml_dtypes, and so of JAX.
std::optional<FileType> file_type(const std::string& descr, bool bits) {
  if (bits && (descr == "<V2" || descr == "|V2")) return FileType{Stored::bf16, false};
  if (descr.empty() || std::strchr("<>|=", descr[0]) == nullptr) return std::nullopt;
  for (const Stored stored : kStoredTypes)
    if (descr.substr(1) == descr_of(stored) + 1)
      if (descr[0] != '|' || size_of(stored) == 1)
        return FileType{bits && stored == Stored::u16 ? Stored::bf16 : stored, descr[0] == '>'};
  return std::nullopt;
}

/// The bytes that an array's numbers take, and so must be left of its file. Sets its size.
std::uint64_t check_size(Array& array, std::uint64_t left) {
  const auto item = std::int64_t(size_of(array.stored)), largest = std::max(item, std::int64_t(size_of(array.dtype)));
  array.size = 1;
  for (const std::int64_t extent : array.shape) {
    if (extent == 0) throw Error(array.file, "has no elements (" + array.describe() + "); expected one or more");
    if (extent > std::numeric_limits<std::int64_t>::max() / largest / array.size)
      throw Error(array.file, "has a shape of more than 2^63 bytes (" + array.describe() + ")");
    array.size *= extent;
  }
  const std::uint64_t expected = std::uint64_t(array.size) * std::uint64_t(item);
  if (left == expected) return expected;
  throw Error(array.file, std::string(left < expected ? "is cut off" : "has bytes behind the array") + ": " +
                              array.describe() + " takes " + std::to_string(expected) +
                              " bytes behind the header, found " + std::to_string(left));
}

}  // namespace

std::string known_types() { return "'<f2' (float16), '<f4' (float32) or '<f8' (float64)"; }

std::string known_numbers() { return "booleans, integers of up to 64 bits, " + known_types(); }

std::string axes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " axis" : " axes"); }

std::vector<std::int64_t> Array::strides() const {
  std::vector<std::int64_t> result(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = fortran_order ? i : shape.size() - 1 - i;
    result[axis] = stride;
    stride *= shape[axis];
  }
  return result;
}

std::string Array::describe() const {
  const std::string extents = joined(shape, " x ", [](std::int64_t extent) { return std::to_string(extent); });
  return (extents.empty() ? "a single" : extents) + " " + descr_of(stored) +
         (stored == Stored::bf16 ? " as bf16" : "") + (fortran_order ? ", Fortran order" : "");
}

Array read(const std::filesystem::path& file, std::optional<DType> dtype) {
  RegularFile reader(file);
  Array array;
  array.file = file;
  const std::string descr = HeaderParser(header_text(file, reader), array).parse();
  const std::optional<FileType> type = file_type(descr, dtype == DType::bf16);
  if (!type)  // a conversion would drop the imaginary part
    throw Error(file,
                "has numbers of type '" + descr + "'; expected " + known_numbers() +
                    (descr.substr(0, 2).ends_with('c') ? ": take a part of what is complex, with NumPy array.real, "
                                                         "array.imag or abs(array), and save that"
                                                       : ": convert it, with NumPy np.save(file, "
                                                         "array.astype('<f4'))"));
  array.stored = type->stored;
  array.dtype = dtype.value_or(computing_type(type->stored));
  const std::uint64_t bytes = check_size(array, reader.left());
  auto numbers = std::make_unique_for_overwrite<std::byte[]>(bytes);
  reader.read(numbers.get(), bytes);
  array.bytes = to_elements(file, std::move(numbers), array.size, array.stored, type->swapped, array.dtype);
  return array;
}

Array converted(Array array, DType dtype) {
  array.bytes = to_elements(array.file, std::move(array.bytes), array.size, stored_of(array.dtype), false, dtype);
  array.dtype = dtype;
  return array;
}

}  // namespace tessera::npy
