// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "algorithms.hpp"

#include <algorithm>

namespace tessera::cuda {

std::string_view preferred_gemm(const plugin::GemmProblem& p) {
  constexpr std::int64_t kShortDepth = 64;
  // Small matrices with a short depth leave the smallest tile of multistage nearly empty.
  if (p.k <= kShortDepth && kGemmSmall.why_unsupported(p, 0).empty()) return kGemmSmall.name;
  // Few rows or columns, a large operand beyond the caches: thin reads it at the rate of memory. With more of them
  // multistage overtakes it, in f64 soon, since the tensor cores do the arithmetic.
  constexpr double kBeyondCaches = 16e6;  ///< bytes, of each matrix of a batch
  const std::int64_t few = p.dtype == TESSERA_F64 ? 2 : 8;
  const double large = double(std::max(p.m, p.n)) * double(p.k) * double(plugin::size_of(p.dtype));
  const bool thin = std::min(p.m, p.n) <= few && p.k >= kShortDepth && large >= kBeyondCaches;
  if (thin && kGemmThin.why_unsupported(p, 0).empty()) return kGemmThin.name;
  return {};
}

}  // namespace tessera::cuda
