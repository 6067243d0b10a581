// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stencil_cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

Taps weighted(int rank, const std::vector<Offset>& offsets, Weights weights) {
  double sum = 0.0;
  for (std::size_t i = 0; i < offsets.size(); ++i) sum += double(i + 1);
  Taps taps(rank);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const double integer = i % 2 == 0 ? double(i + 1) : -double(i + 1);
    taps.add(offsets[i], weights == Weights::integer ? integer : integer / sum);
  }
  return taps;
}

/// Offsets along `axis` from `low` to `high`, without 0.
void add_arm(std::vector<Offset>& offsets, int axis, std::int64_t low, std::int64_t high) {
  for (std::int64_t j = low; j <= high; ++j) {
    if (j == 0) continue;
    Offset offset{};
    offset[std::size_t(axis)] = j;
    offsets.push_back(offset);
  }
}

}  // namespace

Taps star(int rank, int radius, Weights weights) {
  std::vector<Offset> offsets{Offset{}};
  for (int axis = 0; axis < rank; ++axis) add_arm(offsets, axis, -radius, radius);
  return weighted(rank, offsets, weights);
}

Taps box(int rank, int radius, Weights weights) {
  std::vector<Offset> offsets;
  const std::int64_t r = radius, r1 = rank > 1 ? r : 0, r2 = rank > 2 ? r : 0;
  for (std::int64_t i = -r; i <= r; ++i)
    for (std::int64_t j = -r1; j <= r1; ++j)
      for (std::int64_t l = -r2; l <= r2; ++l) offsets.push_back({i, j, l});
  return weighted(rank, offsets, weights);
}

Taps block(int rank, const Offset& first, const Offset& count, Weights weights) {
  std::vector<Offset> offsets;
  for (std::int64_t i = 0; i < count[0]; ++i)
    for (std::int64_t j = 0; j < count[1]; ++j)
      for (std::int64_t l = 0; l < count[2]; ++l) offsets.push_back({first[0] + i, first[1] + j, first[2] + l});
  return weighted(rank, offsets, weights);
}

Taps product(int rank, const Offset& first, const Offset& count, Weights weights) {
  constexpr double kFactors[] = {1, -2, 3, 2, -1};
  const auto factor = [&](std::int64_t i, std::size_t axis) { return kFactors[(std::size_t(i) + axis) % 5]; };
  double sum = 0.0;
  std::vector<std::pair<Offset, double>> list;
  for (std::int64_t i = 0; i < count[0]; ++i)
    for (std::int64_t j = 0; j < count[1]; ++j)
      for (std::int64_t l = 0; l < count[2]; ++l) {
        list.push_back({{first[0] + i, first[1] + j, first[2] + l}, factor(i, 0) * factor(j, 1) * factor(l, 2)});
        sum += std::abs(list.back().second);
      }
  Taps taps(rank);
  for (const auto& [offset, integer] : list) taps.add(offset, weights == Weights::integer ? integer : integer / sum);
  return taps;
}

Taps sharpening(int rank, const Offset& first, const Offset& count, Weights weights) {
  const Taps products = product(rank, first, count, weights);
  Taps taps(rank);
  for (const Tap& tap : products) taps.add(tap.offset, (tap.offset == first ? 2.0 : 0.0) - tap.coefficient / 3.0);
  return taps;
}

Taps scattered(int rank, Weights weights) {
  const std::vector<Offset> in_space = {{-4, 3, 1}, {-3, -2, 5}, {-2, 0, -4}, {-1, 5, 0},  {-1, -1, 2},
                                        {0, 0, 0},  {0, 4, -3},  {1, 1, 1},   {1, -5, -2}, {2, 2, -5},
                                        {3, -3, 3}, {4, 1, -1},  {5, -4, 4}};
  constexpr std::int64_t on_a_line[] = {-8, -7, -5, -4, -3, -1, 0, 1, 2, 4, 6, 7, 8};
  std::vector<Offset> offsets;
  for (Offset offset : in_space) {
    if (rank == 1) offset = {on_a_line[offsets.size()], 0, 0};
    if (rank == 2) offset[2] = 0;
    offsets.push_back(offset);
  }
  return weighted(rank, offsets, weights);
}

Taps line(int rank, int axis, int radius, Weights weights) {
  std::vector<Offset> offsets{Offset{}};
  add_arm(offsets, axis, -radius, radius);
  return weighted(rank, offsets, weights);
}

Taps one_sided(int rank, Weights weights) {
  std::vector<Offset> offsets{Offset{}};
  for (int axis = 0; axis < rank; ++axis) add_arm(offsets, axis, 0, 3 - axis);
  return weighted(rank, offsets, weights);
}

Taps off_centre(int rank, Weights weights) {
  return weighted(rank, {Offset{rank == 1 ? -3 : 1, rank > 1 ? -2 : 0, rank > 2 ? 3 : 0}}, weights);
}

StencilLayout layout_of(const StencilDesc& desc) {
  StencilLayout layout;
  const std::size_t rank = desc.extents.size();
  for (const Tap& tap : desc.taps)
    for (std::size_t axis = 0; axis < rank; ++axis) {
      layout.reach[axis][0] = std::max(layout.reach[axis][0], -tap.offset[axis]);
      layout.reach[axis][1] = std::max(layout.reach[axis][1], tap.offset[axis]);
    }
  // Descriptors that no array can have come here, too, on their way to the library's refusal.
  using Wrapping = std::uint64_t;
  Wrapping in_stride = 1, out_stride = 1, in_first = 0, in_last = 0, out_last = 0;
  bool empty = false;
  for (std::size_t axis = rank; axis-- > 0;) {
    const std::int64_t extent = layout.extents[axis] = desc.extents[axis];
    const BoundarySide sides[2] = {desc.boundary[axis].low, desc.boundary[axis].high};
    for (std::size_t side = 0; side < 2; ++side)
      layout.halo[axis][side] = sides[side].mode == Boundary::halo ? layout.reach[axis][side] : 0;
    layout.in_strides[axis] = desc.in_strides.empty() ? std::int64_t(in_stride) : desc.in_strides[axis];
    layout.out_strides[axis] = desc.out_strides.empty() ? std::int64_t(out_stride) : desc.out_strides[axis];
    const Wrapping halo[2] = {Wrapping(layout.halo[axis][0]), Wrapping(layout.halo[axis][1])};
    in_stride *= Wrapping(extent) + halo[0] + halo[1];
    out_stride *= Wrapping(extent);
    empty = empty || extent == 0;
    in_first += halo[0] * Wrapping(layout.in_strides[axis]);
    in_last += (Wrapping(extent) - 1 + halo[1]) * Wrapping(layout.in_strides[axis]);
    out_last += (Wrapping(extent) - 1) * Wrapping(layout.out_strides[axis]);
  }
  layout.in_first = empty ? 0 : std::int64_t(in_first);
  layout.in_span = empty ? 0 : std::int64_t(in_first + in_last + 1);
  layout.out_span = empty ? 0 : std::int64_t(out_last + 1);
  return layout;
}

}  // namespace tessera::test
