// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "preferred.hpp"

#include "tap_counts.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::cuda {

/// The order is that of the H100's baseline. In a small domain the second launch of streaming, for its boundary, takes
/// longer than it saves. What streaming leaves over has rows with gaps between their points or long
/// lists of taps. A thread a point is fast where its kernel knows the number of taps, and loses time at the boundary of
/// volumes; a tile in shared memory is indifferent to both.
std::span<const std::string_view> preferred_stencils(const plugin::StencilProblem& p) {
  static constexpr std::string_view kDirect[] = {"streaming", "restrict"};
  static constexpr std::string_view kConstant[] = {"streaming", "shared_constant", "shared_ldg", "restrict"};
  static constexpr std::string_view kLdg[] = {"streaming", "shared_ldg", "shared_constant", "restrict"};
  static constexpr std::string_view kSmallDomain[] = {"restrict"};
  constexpr std::int64_t kSmall = std::int64_t(1) << 21;

  const bool f64 = p.dtype == TESSERA_F64;
  const auto moves = [](std::int32_t mode) { return mode != TESSERA_BOUNDARY_FIXED && mode != TESSERA_BOUNDARY_HALO; };
  bool boundary = false;
  for (const auto& axis : p.domain.mode) boundary = boundary || moves(axis[0]) || moves(axis[1]);
  const bool unrolled = std::ranges::find(kUnrolledTapCounts, p.taps.size()) != std::end(kUnrolledTapCounts);
  if (p.rank < 3 && unrolled && p.points() < kSmall) return kSmallDomain;
  if (p.rank == 1) return kConstant;
  if (p.rank == 3 && boundary) return kLdg;
  if (unrolled) return kDirect;
  if (f64) return kConstant;
  return kLdg;
}

}  // namespace tessera::cuda
