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

/// Copies a struct from the other side of a boundary: fields that it lacks become zero, non-zero bytes beyond those
/// known here are refused.
template <class T>
T read_struct(const void* source, const char* what) {
  if (source == nullptr) throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + " is null");
  std::uint64_t size = 0;
  std::memcpy(&size, source, sizeof size);
  if (size < sizeof size)
    throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + ": struct_size = " + std::to_string(size) +
                                              ": must be the size of the struct, " + std::to_string(sizeof(T)));
  T known{};
  if (size >= sizeof(T))
    std::memcpy(&known, source, sizeof(T));  // of a length that the compiler knows: a few registers
  else
    std::memcpy(&known, source, size);
  const auto* bytes = static_cast<const unsigned char*>(source);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      throw Error(TESSERA_UNSUPPORTED, std::string(what) + " uses fields beyond the " + std::to_string(sizeof(T)) +
                                           " bytes known here: it was made for a newer version");
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
  const std::uint64_t size = std::min<std::uint64_t>(target->struct_size, sizeof(T));
  if (size < sizeof size)
    throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + ": struct_size = " + std::to_string(target->struct_size) +
                                              ": must be the size of the struct, " + std::to_string(sizeof(T)));
  value.struct_size = size;
  std::memcpy(target, &value, size);
}

}  // namespace tessera::plugin
