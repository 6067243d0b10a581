// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tap_groups.hpp"

#include "dense_kernel.hpp"

#include <tessera/plugin/tap_box.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>

namespace tessera::cpu {
namespace {

using plugin::Tap;

/// Taps of a row that is long.
constexpr std::int64_t kLongRow = 8;

bool before(const Tap& a, const Tap& b) {
  return std::tie(a.offset[2], a.offset[0], a.offset[1]) < std::tie(b.offset[2], b.offset[0], b.offset[1]);
}

/// Taps that belong to no group yet.
class UngroupedTaps {
 public:
  explicit UngroupedTaps(const std::vector<Tap>& taps) : taps_(taps), grouped_(taps.size(), false) {
    std::stable_sort(taps_.begin(), taps_.end(), before);
  }

  std::size_t size() const { return taps_.size(); }
  bool grouped(std::size_t i) const { return grouped_[i]; }
  const plugin::Index3& offset(std::size_t i) const { return taps_[i].offset; }

  /// Moves the taps of a pattern to `ordered`, or none where one of them is missing.
  bool move(Pattern pattern, const plugin::Index3& centre, std::vector<Tap>& ordered) {
    std::array<std::size_t, 9> found{};
    std::size_t count = 0;
    for (const std::int64_t d2 : kAlong)
      for (std::int64_t d0 = -1; d0 <= 1; ++d0)
        for (std::int64_t d1 = -1; d1 <= 1; ++d1)
          if (has_tap(pattern, d0, d1, d2)) {
            found[count] = find({centre[0] + d0, centre[1] + d1, centre[2] + d2});
            if (found[count++] == size()) return false;
          }
    for (std::size_t i = 0; i < count; ++i) {
      grouped_[found[i]] = true;
      ordered.push_back(taps_[found[i]]);
    }
    return true;
  }

 private:
  /// A tap that has no group; the same offset may be there several times.
  std::size_t find(const plugin::Index3& offset) const {
    const Tap wanted{offset, 0.0};
    auto i = std::size_t(std::lower_bound(taps_.begin(), taps_.end(), wanted, before) - taps_.begin());
    while (i < size() && grouped_[i] && taps_[i].offset == offset) ++i;
    return i < size() && taps_[i].offset == offset ? i : size();
  }

  std::vector<Tap> taps_;
  std::vector<bool> grouped_;
};

int rows_read(Pattern pattern, int rows) {
  int count = 0;
  for (const std::int64_t along : kAlong)
    for (int i0 = -1; i0 <= kBlockPlanes; ++i0)
      for (int i1 = -1; i1 <= rows; ++i1) count += reads_row(pattern, rows, i0, i1, along);
  return count;
}

}  // namespace

std::optional<DenseBox> dense_box(const plugin::StencilProblem& p) {
  if (plugin::size_of(p.dtype) == 2) return {};
  const std::optional<plugin::TapBox> box = plugin::filled_box(p.taps);
  const int row_axis = p.rank == 2 ? 0 : 1;
  if (!box || box->count[std::size_t(row_axis)] < kDenseRows || box->count[2] < 2) return {};
  return DenseBox{box->first, box->count, row_axis};
}

bool rows_are_mapped(const plugin::Domain& d) {
  for (int axis = 0; axis < 2; ++axis)
    for (int side = 0; side < 2; ++side) {
      const auto mode = d.mode[axis][side];
      const bool is_none = mode == TESSERA_BOUNDARY_FIXED || mode == TESSERA_BOUNDARY_CONSTANT;
      if (is_none && d.reach[axis][side] > 0) return false;
    }
  return true;
}

bool few_long_rows(const plugin::StencilProblem& p) {
  if (plugin::size_of(p.dtype) == 2) return false;
  const std::optional<plugin::TapBox> box = plugin::filled_box(p.taps);
  return box && box->count[0] * box->count[1] <= (p.rank == 3 ? 2 : 3) && box->count[2] >= kLongRow;
}

std::vector<TapGroup> group_taps(std::vector<Tap>& taps) {
  UngroupedTaps left(taps);
  taps.clear();
  std::vector<TapGroup> groups;
  for (const Pattern pattern : kPatterns)
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!left.grouped(i) && left.move(pattern, left.offset(i), taps)) groups.push_back({pattern, left.offset(i)});
  return groups;
}

void order_by_rows(std::vector<Tap>& taps) {
  const auto row = [](const Tap& tap) { return std::tie(tap.offset[0], tap.offset[1]); };
  std::stable_sort(taps.begin(), taps.end(), [](const Tap& a, const Tap& b) { return a.offset < b.offset; });
  std::size_t longest = 0, length = 0, end = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    length = i > 0 && row(taps[i - 1]) == row(taps[i]) ? length + 1 : 1;
    if (length >= longest) longest = length, end = i + 1;
  }
  std::rotate(taps.begin() + std::ptrdiff_t(end - longest), taps.begin() + std::ptrdiff_t(end), taps.end());
}

double loads_per_result(const std::vector<TapGroup>& groups, int rows) {
  int loads = 0;
  for (const TapGroup& group : groups) loads += rows_read(group.pattern, rows);
  return double(loads) / double(kBlockPlanes * rows);
}

int block_rows(const InstructionSet& instructions, const std::vector<TapGroup>& groups) {
  const int several = most_block_rows(instructions);
  return 3.0 * loads_per_result(groups, several) <= 2.0 * loads_per_result(groups, 1) ? several : 1;
}

}  // namespace tessera::cpu
