// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "preferred.hpp"

#include "direct/tap_counts.hpp"
#include "streaming/streaming_shapes.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

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

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kFewTaps = 27;  ///< of a list in a volume

/// Below so many points a thread a point (restrict) is fastest where nothing of the boundary moves. `unrolled`: its
/// kernel knows the number of taps.
std::int64_t direct_below(const plugin::StencilProblem& p, bool shape, bool unrolled) {
  if (shape) return power(19);
  if (p.rank == 3) return unrolled ? power(21) : p.taps.size() <= kFewTaps ? power(19) : power(17);
  return unrolled ? power(19) : 0;
}

/// Below so many points a tile in shared memory is fastest for taps that are none of streaming's shapes: many of them,
/// and some in volumes, where much lies near the ends of the short rows.
std::int64_t tile_below(const plugin::StencilProblem& p) {
  if (p.rank == 3) return p.taps.size() <= 9 ? 0 : p.taps.size() <= kFewTaps ? power(20) : kAlways;
  return p.rank == 2 && p.taps.size() > 25 ? power(21) : 0;
}

}  // namespace

/// By what 292 problems took on an H100: shapes and other lists, 2^16 to 2^24 points, fixed and periodic.
std::span<const std::string_view> preferred_stencils(const plugin::StencilProblem& p) {
  static constexpr std::string_view kStreaming[] = {"streaming", "shared_ldg", "shared_constant", "restrict"};
  static constexpr std::string_view kStreamingDirect[] = {"streaming", "restrict"};
  static constexpr std::string_view kDirect[] = {"restrict"};
  static constexpr std::string_view kConstant[] = {"shared_constant", "shared_ldg", "restrict"};
  static constexpr std::string_view kLdg[] = {"shared_ldg", "shared_constant", "restrict"};

  const bool moves = boundary_moves(p), shape = has_shape(p);
  const bool unrolled = std::ranges::find(kUnrolledTapCounts, p.taps.size()) != std::end(kUnrolledTapCounts);
  if (!moves && p.points() < direct_below(p, shape, unrolled)) return kDirect;
  if (!shape && p.points() < tile_below(p)) {
    const bool constant = p.dtype == TESSERA_F64 && p.rank == 2;
    return constant ? std::span<const std::string_view>(kConstant) : kLdg;
  }
  return unrolled && !moves ? std::span<const std::string_view>(kStreamingDirect) : kStreaming;
}

}  // namespace tessera::cuda
