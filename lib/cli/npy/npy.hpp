// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// NumPy's .npy files, versions 1 to 3, with numbers of the types in stored.hpp, in either byte order.
/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include "clip.hpp"
#include "stored.hpp"

#include <tessera/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::npy {

/// The message begins with the file's name and says what was found and what is expected.
class Error : public std::runtime_error {
 public:
  Error(const std::filesystem::path& file, const std::string& message)
      : std::runtime_error(clip(file.native(), kShownName) + ": " + message) {}
};

/// "'<f2' (float16), '<f4' (float32) or '<f8' (float64)".
std::string known_types();
/// "booleans, integers of up to 64 bits, '<f4' (float32) or '<f8' (float64)": what read() takes.
std::string known_numbers();
/// "1 axis", "2 axes".
std::string axes_text(std::size_t count);

/// An array as it lies in its file: never empty, and never reordered.
struct Array {
  std::filesystem::path file;
  Stored stored = Stored::f32;  ///< in the file
  DType dtype = DType::f32;     ///< here
  bool fortran_order = false;   ///< the first axis has stride 1, not the last
  std::vector<std::int64_t> shape;
  std::int64_t size = 0;  ///< number of elements
  std::unique_ptr<std::byte[]> bytes;

  template <Element T>
  const T* data() const {
    if (kDType<T> != dtype) throw Error(file, "has another element type than the program takes it for");
    return reinterpret_cast<const T*>(bytes.get());
  }
  /// Elements from one point to the next along each axis.
  std::vector<std::int64_t> strides() const;
  /// The elements in C order.
  template <Element T>
  std::vector<T> in_c_order() const {
    const T* const elements = data<T>();
    if (!fortran_order) return {elements, elements + size};
    const std::vector<std::int64_t> distances = strides();
    std::vector<T> result;
    for (std::int64_t i = 0; i < size; ++i) {
      std::int64_t rest = i, at = 0;
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at += rest % shape[axis] * distances[axis];
      result.push_back(elements[at]);
    }
    return result;
  }
  /// "512 x 256 <f4", "512 x 256 <u2 as bf16", with ", Fortran order" where that is the case.
  std::string describe() const;
};

/// Reads a regular file with numbers of any type, as elements of `dtype` or, without one, of computing_type(). As bf16,
/// numbers of 16 bits without a sign are its bits. Memory is taken only when the file's size agrees with its header.
/// Throws Error, also where such elements may not hold an integer exactly.
Array read(const std::filesystem::path& file, std::optional<DType> dtype = std::nullopt);
/// The array with elements of another type. Throws Error as read() does.
Array converted(Array array, DType dtype);
/// A regular file that is read from its beginning; knows how much is left. A pipe, a device or a folder is refused at
/// once. Throws Error.
class RegularFile {
 public:
  explicit RegularFile(std::filesystem::path name);
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();

  std::uint64_t left() const { return left_; }
  void read(void* target, std::size_t count);

 private:
  std::filesystem::path name_;
  int descriptor_;
  std::uint64_t left_ = 0;
};

/// Whether a regular file begins with these bytes. Throws Error where it cannot be read.
bool begins_with(const std::filesystem::path& file, std::string_view bytes);
inline bool is_npy(const std::filesystem::path& file) { return begins_with(file, "\x93NUMPY"); }

/// A file that is written completely or not at all: the contents go to a temporary file in the same folder, with the
/// target's permissions, and reach the disk before they take the place of the target. The target may be a file that is
/// still being read. Symbolic links stay links, also where what they name does not exist yet. A pipe, a device or the
/// standard output, which no rename can replace, is written in place.
///
/// The temporary has no name where the file system knows such files, so that a killed program leaves nothing behind.
class OutputFile {
 public:
  /// Throws Error where the target cannot be written, so that this is known before anything is computed. A file's name
  /// must have one of the endings or none; a pipe's or a device's may be any. Waits a second at most for a pipe's
  /// reader.
  explicit OutputFile(std::filesystem::path target, const std::vector<std::string>& endings = {".npy"});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes what was not committed.
  ~OutputFile();

  /// Writes an array in C order; `numbers` are those of `shape`, as they lie in memory. Throws Error and leaves the
  /// target as it was.
  void write(std::span<const std::byte> numbers, Stored stored, const std::vector<std::int64_t>& shape);
  /// Writes a file's whole contents. Throws Error and leaves the target as it was.
  void write_contents(std::span<const std::byte> contents);
  /// Puts what was written in the target's place. Throws Error and leaves the target as it was.
  void commit();

  /// The target is this program's standard output, where nothing else may be printed then.
  bool is_standard_output() const { return kind_ == Kind::standard_output; }

 private:
  enum class Kind { file, pipe, standard_output };

  void write_parts(std::initializer_list<std::span<const std::byte>> parts);
  void write_all(const void* data, std::size_t count) const;
  void create_temporary();
  void name_temporary();
  void keep_rights() const;
  void discard() noexcept;

  std::filesystem::path name_;       ///< as the user wrote it, for messages
  std::filesystem::path target_;     ///< with symbolic links followed
  std::filesystem::path temporary_;  ///< empty while the temporary has no name
  Kind kind_ = Kind::file;
  int descriptor_ = -1;
};

}  // namespace tessera::npy
