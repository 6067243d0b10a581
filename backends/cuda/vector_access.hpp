// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How many bytes of data can be read and written at a time.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <initializer_list>

namespace tessera::cuda {

/// Elements in 16 bytes.
template <class T>
inline constexpr int kVectorWidth = int(16 / sizeof(T));

/// The largest power of two, up to 16, of whose bytes numbers of elements (extents, leading dimensions, strides) are
/// multiples.
inline int alignment_of(tessera_dtype dtype, std::initializer_list<std::int64_t> counts) {
  std::uint64_t bits = 16;
  for (const std::int64_t count : counts) bits |= std::uint64_t(count) * plugin::size_of(dtype);
  return int(bits & -bits);
}

/// The same of an address.
inline int alignment_of(const void* data) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(data) | 16;
  return int(bits & -bits);
}

inline bool whole_vectors(tessera_dtype dtype, std::initializer_list<std::int64_t> counts) {
  return alignment_of(dtype, counts) == 16;
}

inline bool at_vector(const void* data) { return alignment_of(data) == 16; }

}  // namespace tessera::cuda
