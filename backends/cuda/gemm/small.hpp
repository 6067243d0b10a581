// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm small shares matrices out to blocks.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cuda {

inline constexpr int kSmallThreads = 128;

/// The largest extent of C: 128 bytes of sums.
template <class T>
inline constexpr int kMostSmall = 128 / int(sizeof(Scalar<T>));

/// The size of the tile that holds a matrix of C with that extent: 4, 8, ...
constexpr int small_size(std::int64_t extent) {
  int size = 4;
  while (size < extent) size *= 2;
  return size;
}

/// Matrices that a block takes: a thread computes 4 x 4 elements.
constexpr int small_matrices(int size) { return kSmallThreads / ((size / 4) * (size / 4)); }

/// Whether the layout allows copies of 16 bytes of all operands; their addresses must, too.
bool small_aligned(const plugin::GemmProblem& problem);

}  // namespace tessera::cuda
