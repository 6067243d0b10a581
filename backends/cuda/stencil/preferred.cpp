// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "preferred.hpp"

#include "streaming_shapes.hpp"
#include "tap_counts.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::cuda {
namespace {

constexpr std::int64_t power(int exponent) { return std::int64_t(1) << exponent; }

/// Whether points near the boundary are computed from what a mode puts outside, instead of keeping their values.
bool boundary_moves(const plugin::StencilProblem& p) {
  const auto moves = [](std::int32_t mode) { return mode != TESSERA_BOUNDARY_FIXED && mode != TESSERA_BOUNDARY_HALO; };
  const auto axes = std::span(p.domain.mode).last(std::size_t(p.rank));
  return std::ranges::any_of(axes, [&](const auto& axis) { return moves(axis[0]) || moves(axis[1]); });
}

bool has_shape(const plugin::StencilProblem& p) {
  return with_shape<double>(TileShapes{}, p, [](auto, const auto&) {});
}

}  // namespace

/// By what 100 random problems and the suite's cases took on an H100. Streaming is for large domains: in small ones its
/// second launch, for the boundary, takes longer than it saves, and for taps that are none of its shapes that launch's
/// part is slow. A thread a point (restrict) is fast where its kernel knows the number of taps and little of the
/// boundary moves; a tile in shared memory is indifferent to both.
std::span<const std::string_view> preferred_stencils(const plugin::StencilProblem& p) {
  static constexpr std::string_view kStreaming[] = {"streaming", "shared_ldg", "shared_constant", "restrict"};
  static constexpr std::string_view kStreamingDirect[] = {"streaming", "restrict"};
  static constexpr std::string_view kDirect[] = {"restrict"};
  static constexpr std::string_view kConstant[] = {"shared_constant", "shared_ldg", "restrict"};
  static constexpr std::string_view kLdg[] = {"shared_ldg", "shared_constant", "restrict"};

  const std::int64_t points = p.points();
  const bool moves = boundary_moves(p), shape = has_shape(p);
  const bool unrolled = std::ranges::find(kUnrolledTapCounts, p.taps.size()) != std::end(kUnrolledTapCounts);
  const bool constant = p.rank == 1 || (p.rank == 2 && p.dtype == TESSERA_F64);
  const std::span<const std::string_view> tiles = constant ? std::span<const std::string_view>(kConstant) : kLdg;
  if (p.rank == 3) {
    if (shape && points < power(19)) return kDirect;
    if (!shape) return tiles;
  } else if (!moves) {
    if ((unrolled || !shape) && points < power(21)) return kDirect;
    if (!shape && points < power(26)) return tiles;
  } else if (p.taps.size() > 5 || p.rank == 1) {
    if (points < power(!shape ? 26 : p.rank == 1 ? 23 : 21)) return tiles;
  } else if (points < power(21)) {
    return kDirect;
  }
  return unrolled && !moves ? std::span<const std::string_view>(kStreamingDirect) : kStreaming;
}

}  // namespace tessera::cuda
