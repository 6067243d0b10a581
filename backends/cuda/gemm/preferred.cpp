// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "algorithms.hpp"

#include <algorithm>

namespace tessera::cuda {

std::string_view preferred_unpeeled_gemm(const plugin::GemmProblem& p) {
  constexpr std::int64_t kShortDepth = 64;
  // Small matrices with a short depth leave the smallest tile of multistage nearly empty.
  if (p.k <= kShortDepth && kGemmSmall.why_unsupported(p, 0).empty()) return kGemmSmall.name;
  // One or two rows or columns, a large operand beyond the caches: skinny reads it at the rate of memory. In f32 the
  // narrow tiles of multistage do, too, unless it is K-major; with more rows skinny falls behind.
  constexpr double kBeyondCaches = 16e6;  ///< bytes, of each matrix of a batch
  constexpr std::int64_t kFew = 2;
  const double large = double(std::max(p.m, p.n)) * double(p.k) * double(plugin::size_of(p.dtype));
  const bool k_major = p.m <= p.n ? p.trans_b : !p.trans_a;
  const bool skinny =
      std::min(p.m, p.n) <= kFew && p.k >= kShortDepth && large >= kBeyondCaches && (p.dtype == TESSERA_F64 || k_major);
  if (skinny && kGemmSkinny.why_unsupported(p, 0).empty()) return kGemmSkinny.name;
  return {};
}

std::string_view preferred_gemm(const plugin::GemmProblem& p, const DeviceLimits& limits) {
  const std::string_view name = preferred_unpeeled_gemm(p);
  if (!name.empty() || !kGemmPeeled.why_unsupported(p, 0).empty() || !peeling_pays(p, limits)) return name;
  return kGemmPeeled.name;
}

}  // namespace tessera::cuda
