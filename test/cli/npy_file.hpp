// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// .npy files made and read without the code under test.
#pragma once

#include <tessera/float16.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::test {

using Shape = std::vector<std::int64_t>;

void write_file(const std::filesystem::path& file, const std::string& bytes);
std::string read_file(const std::filesystem::path& file);

/// The names of all entries of a folder, sorted.
std::vector<std::string> list(const std::filesystem::path& folder);

/// The header's text for one of numpy's types.
std::string npy_dictionary(const std::string& descr, bool fortran_order, const Shape& shape);

/// Magic, version, length and text, as long as numpy makes it.
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

/// Elements, given in C order, as they lie in Fortran order.
template <class T>
std::vector<T> fortran(const std::vector<T>& values, const Shape& shape) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = std::int64_t(i), at = 0;
    std::int64_t stride = std::int64_t(values.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      stride /= shape[axis];
      at += rest % shape[axis] * stride;
      rest /= shape[axis];
    }
    result[std::size_t(at)] = values[i];
  }
  return result;
}

/// Writes an array, given in C order, in the order asked for.
template <class T>
void write_npy(const std::filesystem::path& file, const std::vector<T>& values, const Shape& shape,
               bool fortran_order = false, int version = 1) {
  const std::vector<T> stored = fortran_order ? fortran(values, shape) : values;
  std::string bytes = npy_header(npy_dictionary(kDescr<T>, fortran_order, shape), version);
  bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(T));
  write_file(file, bytes);
}

/// The elements of a file that must have exactly the header that numpy would write for this type and shape.
template <class T>
std::vector<T> read_npy(const std::filesystem::path& file, const Shape& shape) {
  const std::string bytes = read_file(file), header = npy_header(npy_dictionary(kDescr<T>, false, shape));
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  if (!bytes.starts_with(header) || bytes.size() != header.size() + std::size_t(size) * sizeof(T)) return {};
  std::vector<T> values(static_cast<std::size_t>(size));
  std::memcpy(values.data(), bytes.data() + header.size(), bytes.size() - header.size());
  return values;
}

}  // namespace tessera::test
