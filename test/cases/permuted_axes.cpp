// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every order of axes in memory, with a different mode on each side: the core puts the axes in order, and must take
/// modes, values, halos, taps and strides along. Axes of a single point among them.

#include "modes.hpp"
#include "stencil_cases.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::test {

namespace {

/// Axes from the slowest in memory to the fastest.
using AxisOrder = std::vector<std::size_t>;

/// Constant sides of one value let the axes be permuted, where several values do not.
constexpr double kValue = 4.0;

struct Sides {
  Boundary low, high;
};

std::string text(const Sides& pair) { return std::string(name_of(pair.low)) + "|" + name_of(pair.high); }

std::string in_memory(const AxisOrder& order) {
  std::string name = "axes in memory";
  for (const std::size_t axis : order) name += " " + std::to_string(axis);
  return name;
}

/// Every mode against every other one. Without halos, those of several steps.
std::vector<Sides> pairs(bool with_halo) {
  std::vector<Sides> all{{Boundary::periodic, Boundary::periodic}};
  for (const Boundary low : kBoundaries)
    for (const Boundary high : kBoundaries) {
      const bool halo = low == Boundary::halo || high == Boundary::halo;
      if (low != high && possible(low, high) && halo == with_halo) all.push_back({low, high});
    }
  if (with_halo) all.push_back({Boundary::halo, Boundary::halo});
  return all;
}

/// A value for every side, also where the mode has none: nobody may read it there.
BoundaryAxis axis_of(const Sides& pair, std::size_t axis) {
  const auto value = [&](Boundary mode, double other) { return mode == Boundary::constant ? kValue : other; };
  const double unused = 7.0 + 2.0 * double(axis);
  return {BoundarySide(pair.low, value(pair.low, unused)), BoundarySide(pair.high, value(pair.high, unused + 1))};
}

/// Strides for the domain and its halo in that order, with gaps of `gap` elements at the end of each line.
std::vector<std::int64_t> strides_of(const StencilDesc& desc, const AxisOrder& order, bool halo, std::int64_t gap) {
  const StencilLayout layout = layout_of(desc);
  std::vector<std::int64_t> strides(order.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t axis = order[i];
    strides[axis] = stride;
    stride *= layout.extents[axis] + (halo ? layout.halo[axis][0] + layout.halo[axis][1] : 0) + gap;
  }
  return strides;
}

/// Taps that reach differently far to every side: 1 to 2, 3 to 1 and 2 to 4 points.
Taps lopsided(int rank) {
  constexpr std::int64_t reach[3][2] = {{-1, 2}, {-3, 1}, {-2, 4}};
  Taps taps(rank, {{{0, 0, 0}, 1.0}});
  double weight = 1.0;
  for (std::size_t axis = 0; axis < std::size_t(rank); ++axis)
    for (const std::int64_t distance : reach[axis]) {
      std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
      offset[axis] = distance;
      weight = weight > 0 ? -(weight + 1) : 1 - weight;
      taps.add(offset, weight);
    }
  std::array<std::int64_t, TESSERA_MAX_RANK> corner{};
  for (std::size_t axis = 0; axis < std::size_t(rank); ++axis) corner[axis] = reach[axis][1 - axis % 2];
  taps.add(corner, 3.0);
  return taps;
}

/// Constant sides of several values, for taps that leave across two or three of them at a corner: there the first axis
/// of the caller decides, whatever lies slowest in memory. Constants on all axes, and with one axis of another mode.
void add_several_values(std::vector<StencilCase>& list) {
  const Extents extents[] = {{11, 9}, {6, 8, 9}};
  for (const Extents& domain : extents) {
    const std::size_t rank = domain.size();
    AxisOrder order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      for (std::size_t other = rank == 2 ? 2 : 0; other <= rank; ++other) {
        const Boundary mode = kBoundaries[list.size() % kModeCount];
        std::vector<BoundaryAxis> axes;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          const double value = 3.0 + 4.0 * double(axis);
          axes.push_back(axis == other ? BoundaryAxis(mode)
                                       : BoundaryAxis(BoundarySide(Boundary::constant, value),
                                                      BoundarySide(Boundary::constant, -value)));
        }
        StencilDesc desc{.extents = domain, .taps = lopsided(int(rank)), .boundary = Boundaries(axes)};
        desc.steps = other < rank && mode == Boundary::halo ? 1 : 1 + std::int64_t(list.size() % 2);
        desc.in_strides = strides_of(desc, order, true, std::int64_t(list.size() % 2));
        desc.out_strides = strides_of(desc, order, false, 0);
        const std::string without = other < rank ? " but axis " + std::to_string(other) + " " + name_of(mode) : "";
        list.push_back({"constants of several values" + without + ": " + in_memory(order) + ", " +
                            std::to_string(desc.steps) + " steps",
                        desc, StencilData::integers, other == rank});
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

/// Axes of a single point, along which nobody goes: their stride may be as large as it likes.
void add_single_points(std::vector<StencilCase>& list) {
  constexpr std::int64_t huge = std::int64_t{1} << 58;  // 2^61 bytes of f64
  for (const Boundary mode : kBoundaries) {
    if (mode == Boundary::halo) continue;  // has points to go to
    const auto add = [&](const char* name, StencilDesc desc) {
      desc.taps = lopsided(int(desc.extents.size()));
      desc.boundary = BoundarySide(mode, kValue);
      desc.steps = 1 + std::int64_t(list.size() % 3);
      list.push_back({std::string("single point ") + name + " " + name_of(mode), desc, StencilData::integers, true});
    };
    add("of axis 0", {.extents = {1, 33}, .taps = {}, .in_strides = {huge, 1}, .out_strides = {huge, 1}});
    add("of axis 1", {.extents = {29, 1}, .taps = {}, .in_strides = {1, huge}, .out_strides = {2, huge}});
    add("of axes 0 and 2",
        {.extents = {1, 21, 1}, .taps = {}, .in_strides = {huge, 3, huge}, .out_strides = {huge, 1, 1}});
    add("of axis 1 in space",
        {.extents = {7, 1, 70}, .taps = {}, .in_strides = {71, huge, 1}, .out_strides = {70, huge, 1}});
  }
}

}  // namespace

std::vector<StencilCase> permuted_axes_cases() {
  const Extents extents[] = {{11, 9}, {6, 8, 9}};
  std::vector<StencilCase> list;
  for (const bool with_halo : {false, true}) {
    const std::vector<Sides> all = pairs(with_halo);
    for (const Extents& domain : extents) {
      AxisOrder order(domain.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      do {
        for (std::size_t i = 0; i < all.size(); ++i) {
          std::vector<BoundaryAxis> axes;
          std::string name = in_memory(order);
          for (std::size_t axis = 0; axis < order.size(); ++axis) {
            const Sides& pair = all[(i + 7 * axis) % all.size()];
            axes.push_back(axis_of(pair, axis));
            name += (axis == 0 ? ": " : ",") + text(pair);
          }
          StencilDesc desc{.extents = domain, .taps = lopsided(int(domain.size())), .boundary = Boundaries(axes)};
          desc.steps = with_halo ? 1 : 1 + std::int64_t(i % 3);
          desc.in_strides = strides_of(desc, order, true, std::int64_t(i % 2));
          AxisOrder out_order = order;
          if (i % 4 == 3) std::reverse(out_order.begin(), out_order.end());
          desc.out_strides = strides_of(desc, out_order, false, std::int64_t(i / 2 % 2));
          list.push_back(
              {name + ", " + std::to_string(desc.steps) + " steps", desc, StencilData::integers, i % 5 == 1});
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  add_several_values(list);
  add_single_points(list);
  return list;
}

}  // namespace tessera::test
