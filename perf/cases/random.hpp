// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Random data as a pure function of the index, the same on host and device: operands are made where they live, and a
/// check on the host knows any element without reading it back.
#pragma once

#include <tessera/dtype.hpp>

#include <cstdint>

#if defined(__CUDACC__)
#define TESSERA_PERF_BOTH __host__ __device__
#else
#define TESSERA_PERF_BOTH
#endif

namespace tessera::perf {

/// Uniform in [-1, 1): splitmix64 (Steele, Lea, Flood, 2014) at position `index`.
TESSERA_PERF_BOTH inline double random_value(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return double(std::int64_t(z) >> 10) * 0x1p-53;
}

/// The seed with which element i is element `offset` + i of the given one.
constexpr std::uint64_t shifted_seed(std::uint64_t seed, std::int64_t offset) {
  return seed + std::uint64_t(offset) * 0x9e3779b97f4a7c15u;
}

/// An element of an operand.
template <class T>
TESSERA_PERF_BOTH inline T random_element(std::uint64_t seed, std::uint64_t index) {
  return T(Scalar<T>(random_value(seed, index)));
}

/// An element between middle - half and middle + half, where half is a power of two: there is one rounding in double.
template <class T>
TESSERA_PERF_BOTH inline T random_between(std::uint64_t seed, std::uint64_t index, double middle, double half) {
  return T(Scalar<T>(middle + half * random_value(seed, index)));
}

}  // namespace tessera::perf
