// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep_cut.hpp"

#include "tap_groups.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::round_up;

/// Rows are cut into segments of whole cache lines, at least this many points long.
constexpr std::int64_t kSegmentMultiple = 64, kShortestSegment = 2048;

}  // namespace

Cut cut_of(const plugin::StencilProblem& p, int threads, std::int64_t planes, std::int64_t cache) {
  if (p.points() == 0) return {1, 1, 1, 1, 1};
  const auto& [n0, n1, n2] = p.domain.extents;
  const auto& reach = p.domain.reach;
  const std::int64_t rows = n0 * n1;
  const std::int64_t wanted = threads == 1 ? 1 : ceil_div<std::int64_t>(8 * threads, rows);
  const std::int64_t row_parts = std::clamp<std::int64_t>(n2 / kShortestSegment, 1, wanted);
  const std::int64_t segment = round_up(ceil_div(n2, row_parts), kSegmentMultiple);
  const std::int64_t row_segments = ceil_div(n2, segment);
  if (row_segments > 1) planes = 1;

  const std::int64_t layer = n1 * row_segments;
  const std::int64_t read_planes = reach[0][0] + reach[0][1] + planes;
  const std::int64_t shared = (reach[1][0] + reach[1][1]) * row_segments;
  const std::int64_t segment_bytes = std::min(segment, n2) * std::int64_t(plugin::size_of(p.dtype));
  const std::int64_t fitting = std::max(cache / 2 / read_planes / segment_bytes - shared, 2 * shared + 1);
  return {segment, row_segments, planes, layer, ceil_div(layer, ceil_div(layer, fitting))};
}

std::int64_t common_planes(const plugin::StencilProblem& p, bool nontemporal) {
  const std::int64_t line = kLineBytes / std::int64_t(plugin::size_of(p.dtype));
  const auto lines = [&](const plugin::Index3& strides) { return strides[0] % line == 0 && strides[1] % line == 0; };
  const bool contiguous = p.in_strides[2] == 1 && p.out_strides[2] == 1;
  const bool even = !nontemporal || (lines(p.out_strides) && (p.steps < 2 || lines(p.packed_strides())));
  const bool fits = p.domain.plain_end(2) - p.domain.plain_begin(2) >= kLeastLines * line &&
                    p.domain.extents[0] >= kBlockPlanes && p.domain.extents[1] > 1;
  return contiguous && even && fits && plugin::size_of(p.dtype) != 2 ? kBlockPlanes : 1;
}

}  // namespace tessera::cpu
