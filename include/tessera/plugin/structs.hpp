// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The rules of growth (tessera/types.h) in code: reading and writing structs of another version.
#pragma once

#include <tessera/plugin/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tessera::plugin {

/// No struct comes near it. A size beyond it is not one: memory that was never set, say.
inline constexpr std::uint64_t kMaxStructSize = 4096;

/// Throws unless `size`, which the other side gives for a struct of `known` bytes here, can be one.
inline void check_size(std::uint64_t size, std::uint64_t least, std::uint64_t known, const char* what,
                       const char* field) {
  if (size < least || size > kMaxStructSize)
    throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + ": " + field + " = " + std::to_string(size) +
                                              ": must be the size of the struct, " + std::to_string(known));
}

/// Throws where bytes beyond the `known` ones of a struct of `size` are not zero.
inline void refuse_tail(const void* source, std::uint64_t known, std::uint64_t size, const char* what) {
  const auto* bytes = static_cast<const unsigned char*>(source);
  for (std::uint64_t i = known; i < size; ++i)
    if (bytes[i] != 0)
      throw Error(TESSERA_UNSUPPORTED, std::string(what) + " uses fields beyond the " + std::to_string(known) +
                                           " bytes known here: it was made for a newer version");
}

/// Copies a struct from the other side of a boundary: fields that it lacks become zero, non-zero bytes beyond those
/// known here are refused.
template <class T>
T read_struct(const void* source, const char* what) {
  if (source == nullptr) throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + " is null");
  std::uint64_t size = 0;
  std::memcpy(&size, source, sizeof size);
  check_size(size, sizeof size, sizeof(T), what, "struct_size");
  T known{};
  if (size >= sizeof(T))
    std::memcpy(&known, source, sizeof(T));  // of a length that the compiler knows: a few registers
  else
    std::memcpy(&known, source, size);
  refuse_tail(source, sizeof(T), size, what);
  return known;
}

/// The other side's struct itself where both mean the same by it, else a copy in `room`: an execution was written field
/// by field a moment ago, and a copy in wider pieces would wait until all of them are in the cache.
template <class T>
const T& view_struct(const T* source, T& room, const char* what) {
  if (source != nullptr && source->struct_size == sizeof(T)) return *source;
  return room = read_struct<T>(source, what);
}

/// Fills a struct of the other side as far as its struct_size reaches.
template <class T>
void write_struct(T value, T* target, const char* what) {
  if (target == nullptr) throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + " is null");
  check_size(target->struct_size, sizeof target->struct_size, sizeof(T), what, "struct_size");
  const std::uint64_t size = std::min<std::uint64_t>(target->struct_size, sizeof(T));
  value.struct_size = size;
  std::memcpy(target, &value, size);
}

}  // namespace tessera::plugin
