// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Whether data can be read and written 16 bytes at a time.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace tessera::cuda {

/// Elements in 16 bytes.
template <class T>
inline constexpr int kVectorWidth = int(16 / sizeof(T));

/// Whether numbers of elements (extents, leading dimensions, strides) are multiples of 16 bytes.
inline bool whole_vectors(tessera_dtype dtype, std::initializer_list<std::int64_t> counts) {
  const std::int64_t width = 16 / std::int64_t(plugin::size_of(dtype));  // a power of two
  return std::all_of(counts.begin(), counts.end(), [&](std::int64_t count) { return (count & (width - 1)) == 0; });
}

inline bool at_vector(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

}  // namespace tessera::cuda
