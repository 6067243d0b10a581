// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy.hpp"
#include "regular_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

namespace tessera::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 1 << 20;  // numpy itself trusts 10000 bytes
constexpr std::size_t kMaxRank = 64;         // as in numpy

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parses the header's Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and nothing more.
class HeaderParser {
 public:
  HeaderParser(const std::filesystem::path& file, std::string_view text) : file_(file), text_(text) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !seen[0]) {
        seen[0] = true;
        if (peek() != '\'' && peek() != '"')
          throw Error(file_, "has records for elements; expected numbers, " + known_types());
        header.descr = string();
      } else if (key == "fortran_order" && !seen[1]) {
        seen[1] = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !seen[2]) {
        seen[2] = true;
        header.shape = tuple();
      } else {
        fail("key '" + key + "' is unknown or there twice");
      }
      if (!accept(',') && peek() != '}') fail("expected ',' or '}'");
    }
    if (peek() != '\0' || at_ != text_.size()) fail("there is text behind the dictionary");
    if (!seen[0] || !seen[1] || !seen[2]) fail("expected the keys descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(file_, "malformed .npy header at character " + std::to_string(at_) + ": " + why);
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

  const std::filesystem::path& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string header_text(const std::filesystem::path& file, RegularFile& reader) {
  std::array<unsigned char, 8> start{};
  if (reader.left() < start.size()) throw Error(file, "is not a .npy file: it has fewer than 8 bytes");
  reader.read(start.data(), start.size());
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
    throw Error(file, "is not a .npy file: it does not begin with \\x93NUMPY");
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    throw Error(file, "has .npy format version " + std::to_string(major) + "." + std::to_string(start[7]) +
                          "; versions 1.0, 2.0 and 3.0 can be read");
  std::array<unsigned char, 4> raw{};
  const std::size_t width = major == 1 ? 2 : 4;
  if (reader.left() < width) throw Error(file, "is cut off within the .npy header");
  reader.read(raw.data(), width);
  const std::size_t length = raw[0] | std::size_t(raw[1]) << 8 | std::size_t(raw[2]) << 16 | std::size_t(raw[3]) << 24;
  if (length > kMaxHeader) throw Error(file, "malformed .npy header: it claims " + std::to_string(length) + " bytes");
  if (length > reader.left()) throw Error(file, "is cut off within the .npy header");
  std::string text(length, '\0');
  reader.read(text.data(), length);
  return text;
}

struct FileType {
  Stored stored;
  bool swapped;  ///< the bytes of a number lie in reverse
};

/// How a file of a type that is not read can become one that is. A conversion would drop the imaginary part.
std::string conversion(const std::string& descr) {
  if (descr.size() > 1 && descr[1] == 'c')
    return "take a part of what is complex, with NumPy array.real, array.imag or abs(array), and save that";
  return "convert it, with NumPy np.save(file, array.astype('<f4'))";
}

/// None where the type is not one of ours. NumPy writes '|' or '<' where a number is one byte; '=' is the machine's.
std::optional<FileType> file_type(const std::string& descr) {
  if (descr.empty() || std::strchr("<>|=", descr[0]) == nullptr) return std::nullopt;
  for (const Stored stored : kStoredTypes)
    if (descr.substr(1) == descr_of(stored) + 1)
      if (descr[0] != '|' || size_of(stored) == 1) return FileType{stored, descr[0] == '>'};
  return std::nullopt;
}

/// An array whose numbers are not read yet, or converted.
struct Opened {
  RegularFile reader;
  std::string descr;
  Array array;
  std::optional<FileType> type;
};

Opened open(const std::filesystem::path& file) {
  RegularFile reader(file);
  const std::string text = header_text(file, reader);
  Header header = HeaderParser(file, text).parse();
  const std::optional<FileType> type = file_type(header.descr);
  return {
      std::move(reader),
      std::move(header.descr),
      {file, type ? type->stored : Stored::f32, DType::f32, header.fortran_order, std::move(header.shape), 1, nullptr},
      type};
}

void read_elements(Opened& opened, DType dtype) {
  Array& array = opened.array;
  const std::filesystem::path& file = array.file;
  array.dtype = dtype;
  const std::int64_t item = std::int64_t(size_of(array.stored));
  const std::int64_t largest = std::max(item, std::int64_t(size_of(dtype)));
  for (const std::int64_t extent : array.shape) {
    if (extent == 0) throw Error(file, "has no elements (" + array.describe() + "); expected one or more");
    if (extent > std::numeric_limits<std::int64_t>::max() / largest / array.size)
      throw Error(file, "has a shape of more than 2^63 bytes (" + array.describe() + ")");
    array.size *= extent;
  }
  const std::uint64_t expected = std::uint64_t(array.size) * std::uint64_t(item);
  if (opened.reader.left() != expected)
    throw Error(file, std::string(opened.reader.left() < expected ? "is cut off" : "has bytes behind the array") +
                          ": " + array.describe() + " takes " + std::to_string(expected) +
                          " bytes behind the header, found " + std::to_string(opened.reader.left()));
  auto numbers = std::make_unique_for_overwrite<std::byte[]>(expected);
  opened.reader.read(numbers.get(), expected);
  array.bytes = to_elements(file, std::move(numbers), array.size, array.stored, opened.type->swapped, dtype);
}

}  // namespace

std::string known_types() {
  std::string text;
  for (const Stored stored : {Stored::f16, Stored::f32, Stored::f64})
    text += (text.empty()            ? "'"
             : stored == Stored::f64 ? " or '"
                                     : ", '") +
            std::string(descr_of(stored)) + "' (float" + std::to_string(8 * size_of(stored)) + ")";
  return text;
}

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
  std::string result;
  for (const std::int64_t extent : shape) result += (result.empty() ? "" : " x ") + std::to_string(extent);
  result += result.empty() ? "a single " : " ";
  result += descr_of(stored);
  if (stored == Stored::bf16) result += " as bf16";
  return result + (fortran_order ? ", Fortran order" : "");
}

bool is_npy(const std::filesystem::path& file) {
  RegularFile reader(file);
  std::array<char, kMagic.size()> start{};
  if (reader.left() < start.size()) return false;
  reader.read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kMagic;
}

Array read(const std::filesystem::path& file) {
  Opened opened = open(file);
  const std::optional<DType> dtype = opened.type ? dtype_of(opened.array.stored) : std::nullopt;
  if (!dtype)
    throw Error(file, "has elements of type '" + opened.descr + "'; expected " + known_types() + ": " +
                          conversion(opened.descr) +
                          "; '<u2' that are the bits of bfloat16 are read with --dtype bf16");
  read_elements(opened, *dtype);
  return std::move(opened.array);
}

Array read_numbers(const std::filesystem::path& file, std::optional<DType> dtype) {
  Opened opened = open(file);
  // NumPy writes the bfloat16 of ml_dtypes, and so of JAX, as two bytes without a meaning.
  const bool is_void = opened.descr == "<V2" || opened.descr == "|V2";
  if (dtype == DType::bf16 && is_void) opened.type = FileType{Stored::bf16, false};
  if (dtype == DType::bf16 && opened.type && opened.type->stored == Stored::u16) opened.type->stored = Stored::bf16;
  if (opened.type) opened.array.stored = opened.type->stored;
  if (!opened.type)
    throw Error(file, "has numbers of type '" + opened.descr + "'; expected " + known_numbers() + ": " +
                          conversion(opened.descr));
  read_elements(opened, dtype.value_or(computing_type(opened.array.stored)));
  return std::move(opened.array);
}

Array converted(Array array, DType dtype) {
  array.bytes = to_elements(array.file, std::move(array.bytes), array.size, stored_of(array.dtype), false, dtype);
  array.dtype = dtype;
  return array;
}

}  // namespace tessera::npy
