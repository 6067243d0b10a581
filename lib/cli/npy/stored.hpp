// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The types of numbers in files, which are more than those of elements, and the way from one to the other and back.
#pragma once

#include <tessera/error.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera::npy {

/// A type of numbers in a file. NumPy has no bf16: its bits lie in a file of u16.
enum class Stored : std::uint8_t { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, bf16 };

inline constexpr Stored kStoredTypes[] = {Stored::boolean, Stored::u8,  Stored::i8,  Stored::u16, Stored::i16,
                                          Stored::u32,     Stored::i32, Stored::u64, Stored::i64, Stored::f16,
                                          Stored::f32,     Stored::f64, Stored::bf16};

/// As a command line spells it: "u8", "f32".
const char* name_of(Stored stored);
/// NumPy's name of the type: "|u1", "<f4" for little-endian, so many bytes; "<u2" for bf16.
const char* descr_of(Stored stored);
/// "f32"; "bf16 in <u2" where NumPy has no such type.
std::string file_name_of(Stored stored);
std::size_t size_of(Stored stored);
constexpr bool is_floating(Stored stored) { return stored >= Stored::f16; }
Stored stored_of(DType dtype);
/// None where the library has no such elements.
std::optional<DType> dtype_of(Stored stored);
/// The type of that name, "u8"; none where there is no such type.
std::optional<Stored> stored_named(std::string_view name);
/// "bool, u8, ..., bf16".
std::string stored_names();
/// "0..255"; of integers and booleans.
std::string range_of(Stored stored);

/// Whether elements of the type are computed on in another one, f32.
inline bool is_narrow(DType dtype) { return tessera::size_of(dtype) == 2; }

/// The element as a number.
template <Element T>
double number_of(T element) {
  return double(Scalar<T>(element));
}

/// The element nearest to a number, halves to even.
template <Element T>
T nearest(double value) {
  float narrowed = float(value);
  if constexpr (!std::is_same_v<T, Scalar<T>>) {
    // Rounded to odd on the way, so that the second rounding meets no half that the first one made.
    if (!std::isnan(value) && double(narrowed) != value) {
      if (std::abs(double(narrowed)) > std::abs(value)) narrowed = std::nextafter(narrowed, 0.0f);
      narrowed = std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrowed) | 1u);
    }
    return T(narrowed);
  } else {
    return T(value);
  }
}

/// The element type that holds the numbers exactly: f32 up to 16 bits, f64 above, of which those of 64 bits must be no
/// larger than 2^53.
DType computing_type(Stored stored);

/// Elements from `count` numbers as they lie in a file, with their bytes in reverse where `swapped`. Throws Error where
/// the type of elements may not hold an integer of that size, 2^24 or 2^53, exactly. Floating-point numbers are
/// rounded.
std::unique_ptr<std::byte[]> to_elements(const std::filesystem::path& file, std::unique_ptr<std::byte[]> numbers,
                                         std::int64_t count, Stored stored, bool swapped, DType dtype);

/// Numbers as they lie in a file, little-endian.
struct Numbers {
  std::vector<std::byte> bytes;
  std::int64_t clamped = 0;  ///< how many were beyond the range of the type
};

/// Elements as numbers: those of integers rounded to the nearest, halves to even, and clamped to the type's range.
/// Throws Error, of the file that they are meant for, where an element is not a number and the type is one of integers.
template <Element T>
Numbers to_numbers(const std::filesystem::path& file, std::span<const T> elements, Stored stored);

}  // namespace tessera::npy
