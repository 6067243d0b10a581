// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "algorithms.hpp"

#include <algorithm>

namespace tessera::cuda {

/// Matrices of which one warp computes many elements leave the smallest tile of multistage nearly empty.
/// The sizes are those at which it overtakes one thread an element on an H100, in batches of 10000.
std::string_view preferred_gemm(const plugin::GemmProblem& p) {
  constexpr std::int64_t kShortDepth = 64;
  const std::int64_t tiny = p.dtype == TESSERA_F64 ? 8 : 16;
  if (std::max(p.m, p.n) <= tiny && p.k <= kShortDepth) return "naive";
  // The large operand is read once, at the rate of memory, and has enough of it to keep the device busy.
  constexpr std::int64_t kThin = 16, kLong = 1024;
  if (std::min(p.m, p.n) <= kThin && p.k >= kLong && std::max(p.m, p.n) >= kLong) return "thin";
  return {};
}

}  // namespace tessera::cuda
