// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps in groups that several rows share: a vector that is loaded once serves all taps of a group in all rows of a
/// block.
#pragma once

#include "../caches.hpp"
#include "../instruction_set.hpp"

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::cpu {

/// The taps of a group around its centre: lines of three along axis 0 or 1, a plus and a box of both; the star of
/// radius 1 has the plus, then its two taps along axis 2.
enum class Pattern { point, line0, line1, plus, box, star };
inline constexpr std::array kPatterns{Pattern::box,   Pattern::star,  Pattern::plus,
                                      Pattern::line0, Pattern::line1, Pattern::point};
/// Distances from the centre on axis 2, in the order of the taps.
inline constexpr std::array<std::int64_t, 3> kAlong{0, -1, 1};

/// Whether a pattern has a tap at these distances from its centre.
constexpr bool has_tap(Pattern pattern, std::int64_t d0, std::int64_t d1, std::int64_t d2 = 0) {
  if (d0 < -1 || d0 > 1 || d1 < -1 || d1 > 1) return false;
  if (d2 != 0) return pattern == Pattern::star && d0 == 0 && d1 == 0;
  switch (pattern) {
    case Pattern::point:
      return d0 == 0 && d1 == 0;
    case Pattern::line0:
      return d1 == 0;
    case Pattern::line1:
      return d0 == 0;
    case Pattern::plus:
    case Pattern::star:
      return d0 == 0 || d1 == 0;
    case Pattern::box:
      return true;
  }
  return false;
}

/// The taps of a pattern that come before these distances, in the order of the offsets on axes 0 and 1.
constexpr int taps_before(Pattern pattern, std::int64_t d0, std::int64_t d1, std::int64_t d2 = 0) {
  int count = 0;
  for (const std::int64_t e2 : kAlong) {
    for (int e0 = -1; e0 <= 1; ++e0)
      for (int e1 = -1; e1 <= 1; ++e1)
        count += has_tap(pattern, e0, e1, e2) && (e2 != d2 || e0 < d0 || (e0 == d0 && e1 < d1));
    if (e2 == d2) break;
  }
  return count;
}
constexpr int tap_count(Pattern pattern) { return taps_before(pattern, 2, 0, kAlong.back()); }

struct TapGroup {
  Pattern pattern;
  plugin::Index3 centre;
};

/// A box that taps fill, its first offsets, and how many there are on each axis.
struct DenseBox {
  plugin::Index3 first, count;
  int row_axis;  ///< an outer axis, along which rows of results are computed together
};
/// That of taps of elements that are no 16 bits, or nothing: boxes of kDenseRows rows at least, and two taps
/// along a row. With the sweep axis first; rows of results lie along it where planes are single rows, else along the
/// next one.
std::optional<DenseBox> dense_box(const plugin::StencilProblem& problem);

/// Whether rows outside of the domain are others inside: no side of an outer axis has a constant or keeps its values.
bool rows_are_mapped(const plugin::Domain& domain);

/// Whether taps of elements that are no 16 bits fill a box of few rows, all of them long. They go row by row:
/// neighbours along a row share more of what they load than rows do, but for three rows in 3D.
bool few_long_rows(const plugin::StencilProblem& problem);

/// Puts taps in the order in which every algorithm here adds them, that of the groups that are returned.
std::vector<TapGroup> group_taps(std::vector<plugin::Tap>& taps);

/// The order for elements of 16 bits: row by row of what they read, the row with the most taps last.
void order_by_rows(std::vector<plugin::Tap>& taps);

/// Taps along a row, one behind the other, for which its loop loads two vectors less. Half of all loads lie across two
/// lines, with AVX-512 nearly all, and bind: two shuffles in their place keep the multiply-add units busy. 0: none.
/// Registers of 16 bytes seldom lie across lines.
constexpr int neighbours_at_a_time(const InstructionSet& instructions, std::int64_t element) {
  return element == 2 || instructions.vector_bytes < 32 ? 0 : element == 4 ? 4 : 5;
}

/// Planes of a block. Two share most of what they read of the planes around, which comes from the second-level cache.
inline constexpr int kBlockPlanes = 2;
/// Rows of each plane in a block that has several.
constexpr int most_block_rows(const InstructionSet& instructions) {
  return 4 * instructions.vector_bytes / int(kLineBytes);
}
inline constexpr int kBlockRows = most_block_rows(kInstructionSet);
/// Cache lines' length of points that each row of a block must have.
inline constexpr std::int64_t kLeastLines = 4;

/// Whether a block of `rows` rows reads row (i0, i1), so many points along, for the taps of a pattern around (0, 0).
constexpr bool reads_row(Pattern pattern, int rows, int i0, int i1, std::int64_t along) {
  for (int p = 0; p < kBlockPlanes; ++p)
    for (int r = 0; r < rows; ++r)
      if (has_tap(pattern, i0 - p, i1 - r, along)) return true;
  return false;
}

/// Vectors that a block of so many rows of each plane loads, for each vector of results.
double loads_per_result(const std::vector<TapGroup>& groups, int rows);

/// Rows of each plane in the blocks for these taps: most_block_rows() where that loads much less for each result than
/// one, else 1.
int block_rows(const InstructionSet& instructions, const std::vector<TapGroup>& groups);

/// Elements from a point to one that lies `by` indices from it. Where that is no number of 64 bits the taps leave the
/// domain, and nothing is read there: a distance beyond any array stands for it.
template <class Strides>
std::int64_t distance(const plugin::Index3& by, const Strides& strides) {
  constexpr std::int64_t kBeyondAny = std::int64_t(1) << 62;
  std::int64_t total = 0;
  for (std::size_t axis = 0; axis < by.size(); ++axis) {
    std::int64_t part = 0;
    if (__builtin_mul_overflow(by[axis], strides[axis], &part) || __builtin_add_overflow(total, part, &total))
      return kBeyondAny;
  }
  return std::clamp(total, -kBeyondAny, kBeyondAny);
}

}  // namespace tessera::cpu
