// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The choice of the rows and columns that the algorithm peeled computes apart: a pure function, without CUDA.
#pragma once

#include "multistage.hpp"

namespace tessera::cuda {

/// The most rows or columns that are computed apart: such products read their large operand at the rate of memory.
inline constexpr std::int64_t kMostPeeled = 16;

/// The last rows and columns of C that are computed apart from the rest.
struct Peel {
  std::int64_t rows, columns;
};

/// What lies beyond the last whole tile, of rows, of columns or of both, where the parts together are predicted to take
/// clearly less time than the whole; nothing elsewhere. A tile's row of blocks for a single row of C costs as much as
/// any other, and may be what begins one more round of blocks.
Peel choose_peel(const plugin::GemmProblem& problem, const MultistageDevice& device);

}  // namespace tessera::cuda
