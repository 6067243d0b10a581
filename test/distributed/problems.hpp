// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Random stencils on domains that are cut, and how a rank runs one.
#pragma once

#include "random.hpp"

#include <tessera/distributed.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tessera::test {

/// A domain, its cut, and how many points it has.
struct Problem {
  StencilDesc desc;
  Decomposition cut;
  int ranks;
  std::int64_t points;
};

inline Taps random_taps(Random& random, int axes, int radius) {
  const bool star = random.integer(0, 1) == 0;
  const auto reach = [&](int axis) { return axis >= 3 - axes ? radius : 0; };
  Taps taps = 0.5 * taps::identity(axes);
  for (int z = -reach(0); z <= reach(0); ++z)
    for (int y = -reach(1); y <= reach(1); ++y)
      for (int x = -reach(2); x <= reach(2); ++x) {
        if ((star && (z != 0) + (y != 0) + (x != 0) > 1) || random.integer(0, 3) == 0) continue;
        std::array<std::int64_t, 3> offset{z, y, x};
        std::rotate(offset.begin(), offset.end() - axes, offset.end());  // the axes that there are come first
        taps.add(offset, random.uniform() / 16);
      }
  return taps;
}

inline Boundaries random_boundary(Random& random, int axes) {
  std::vector<BoundaryAxis> sides;
  for (int axis = 0; axis < axes; ++axis) {
    const Boundary low = kBoundaries[std::size_t(random.integer(0, 5))];
    const Boundary high = kBoundaries[std::size_t(random.integer(0, 5))];
    const bool periodic = low == Boundary::periodic || high == Boundary::periodic;
    const BoundarySide around = Boundary::periodic;
    sides.push_back(periodic ? BoundaryAxis(around) : BoundaryAxis({low, 0.5}, {high, 0.5}));
  }
  return Boundaries(std::move(sides));
}

/// Of any number of axes, cut by the library or at random places.
inline Problem random_problem(Random& random, int ranks) {
  constexpr std::array<std::int64_t, 3> kLeast{40, 16, 10}, kMost{400, 60, 30};
  const int axes = int(random.integer(1, 3));
  Problem p{{}, {}, ranks, 1};
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < axes; ++axis)
    extents.push_back(random.integer(kLeast[std::size_t(axes - 1)], kMost[std::size_t(axes - 1)]));
  for (const std::int64_t extent : extents) p.points *= extent;
  p.desc.extents = Integers(extents);
  p.desc.taps = random_taps(random, axes, int(random.integer(1, 3)));
  p.desc.boundary = random_boundary(random, axes);
  p.desc.steps = random.integer(0, 6);
  p.desc.sums = Sums::ordered;
  p.cut.depth = int(random.integer(0, 3));
  if (random.integer(0, 2) == 0) {  // blocks of any size along the last axis
    std::vector<std::int64_t> points(std::size_t(p.ranks), extents.back() / p.ranks);
    points.back() += extents.back() % p.ranks;
    for (int turn = 0; turn < 2 * p.ranks; ++turn) {
      const std::int64_t moved = random.integer(0, 3);
      std::int64_t& from = points[std::size_t(random.integer(0, p.ranks - 1))];
      if (from <= moved + 3) continue;
      from -= moved, points[std::size_t(random.integer(0, p.ranks - 1))] += moved;
    }
    p.cut.points.assign(std::size_t(axes), Integers{});
    p.cut.points.back() = Integers(points);
    p.cut.ranks = Integers(std::vector<std::int64_t>(std::size_t(axes), 1));
  }
  return p;
}

template <class T>
std::vector<T> random_values(Random& random, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = T(random.uniform());
  return values;
}

/// Scatters, executes and gathers on one rank; arrays begin as NaN.
template <class T>
void run_rank(const Comm& comm, const Context& context, const Problem& p, const std::vector<T>& in,
              std::vector<T>& out) {
  DistributedStencilPlan plan(comm, context, p.desc, p.cut, {.operands = Memory::device});
  const std::int64_t elements = plan.block().elements;
  Buffer<T> from(context, elements), to(context, elements);
  const std::vector<T> nothing(std::size_t(elements), std::numeric_limits<T>::quiet_NaN());
  from.upload(nothing), to.upload(nothing);
  const int root = comm.size() - 1;
  plan.scatter(0, comm.rank() == 0 ? in.data() : nullptr, from.data());
  plan.execute(from.data(), to.data());
  plan.gather(root, to.data(), comm.rank() == root ? out.data() : nullptr);
}

/// What one rank computes by itself.
template <class T>
std::vector<T> alone(const Context& context, const StencilDesc& desc, const std::vector<T>& in) {
  std::vector<T> out(in.size());
  StencilPlan(context, desc).execute(in, out);
  return out;
}

}  // namespace tessera::test
