// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "decomposition.hpp"

#include "check.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace tessera::distributed {
namespace {

using core::invalid;

std::string at(const char* name, int axis) { return std::string(name) + "[" + std::to_string(axis) + "]"; }

/// Points that the ranks of a grid send to each other in all.
double traffic(const Domain& domain, const std::array<int, kAxes>& ranks) {
  double points = 0.0;
  for (int axis = 0; axis < kAxes; ++axis) {
    double plane = double(domain.low[axis] + domain.high[axis]);
    for (int other = 0; other < kAxes; ++other)
      if (other != axis) plane *= double(domain.extents[other]);
    const int cuts = ranks[axis] == 1 ? 0 : ranks[axis] - (domain.periodic[axis] ? 0 : 1);
    points += plane * cuts * (1.0 + axis);  // what is cut later is not contiguous
  }
  return points;
}

}  // namespace

std::vector<Box> around(const Box& outer, const Box& inner) {
  std::vector<Box> slabs;
  Box rest = outer;
  for (int axis = 0; axis < kAxes; ++axis) {
    Box below = rest, above = rest;
    below.high[axis] = inner.low[axis], above.low[axis] = inner.high[axis];
    for (const Box& slab : {below, above})
      if (!slab.empty()) slabs.push_back(slab);
    rest.low[axis] = inner.low[axis], rest.high[axis] = inner.high[axis];
  }
  return slabs;
}

Decomposition::Decomposition(const Domain& domain, int ranks, const tessera_decomposition& wishes)
    : domain_(domain), depth_(wishes.depth == 0 ? 1 : wishes.depth) {
  core::at_least("depth", wishes.depth, 0);
  choose_ranks(ranks, wishes);
  choose_points(wishes);
  check_halos();
}

void Decomposition::choose_ranks(int ranks, const tessera_decomposition& wishes) {
  double least = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < kAxes; ++axis) core::at_least(at("ranks", axis), wishes.ranks[axis], 0);
  for (int i = 1; i <= ranks; ++i)
    for (int j = 1; ranks % i == 0 && j <= ranks / i; ++j) {
      if (ranks / i % j != 0) continue;
      const std::array<int, kAxes> grid{i, j, ranks / i / j};
      bool fits = true;
      for (int axis = 0; axis < kAxes; ++axis) {
        const std::int64_t thinnest = domain_.extents[axis] / grid[axis];
        const bool wanted = wishes.ranks[axis] != 0 || wishes.points[axis] != nullptr;
        fits = fits && (wishes.ranks[axis] == 0 || wishes.ranks[axis] == grid[axis]);
        fits = fits && (wanted || grid[axis] == 1 || !domain_.whole[axis]);
        if (!wanted && grid[axis] > 1)
          fits = fits && thinnest >= std::max<std::int64_t>(1, domain_.least(axis, depth_));
      }
      if (const double points = traffic(domain_, grid); fits && points < least) least = points, ranks_ = grid;
    }
  if (least < std::numeric_limits<double>::infinity()) return;
  const auto* const r = wishes.ranks;
  invalid(
      "ranks", std::to_string(r[0]) + " x " + std::to_string(r[1]) + " x " + std::to_string(r[2]),
      "must be a grid of " + std::to_string(ranks) +
          " ranks whose blocks are no thinner than their halos; 0 lets the library choose, fewer ranks or a smaller "
          "depth leave more room");
}

void Decomposition::choose_points(const tessera_decomposition& wishes) {
  for (int axis = 0; axis < kAxes; ++axis) {
    std::vector<std::int64_t>& cuts = cuts_[std::size_t(axis)];
    const int count = ranks_[axis];
    cuts.assign(1, 0);
    for (int rank = 0; rank < count; ++rank) {
      const std::int64_t* const given = wishes.points[axis];
      const std::int64_t points =
          given != nullptr ? given[rank] : domain_.extents[axis] / count + (rank < domain_.extents[axis] % count);
      if (points < 1)
        invalid(at("points", axis) + "[" + std::to_string(rank) + "]", points,
                "must be at least 1: a block has points");
      cuts.push_back(cuts.back() + points);
    }
    if (cuts.back() != domain_.extents[axis])
      invalid(at("points", axis), "a sum of " + std::to_string(cuts.back()),
              "must be the domain's " + std::to_string(domain_.extents[axis]));
  }
}

void Decomposition::check_halos() const {
  for (int axis = 0; axis < kAxes; ++axis) {
    const auto& cuts = cuts_[std::size_t(axis)];
    for (std::size_t rank = 0; ranks_[axis] > 1 && rank + 1 < cuts.size(); ++rank)
      if (const std::int64_t points = cuts[rank + 1] - cuts[rank]; points < domain_.least(axis, depth_))
        invalid("points of a block along axis " + std::to_string(axis), points,
                "must be at least its halo of " + std::to_string(domain_.least(axis, depth_)) +
                    "; take fewer ranks or a smaller depth");
  }
}

std::array<int, kAxes> Decomposition::place(int rank) const {
  return {rank / (ranks_[1] * ranks_[2]), rank / ranks_[2] % ranks_[1], rank % ranks_[2]};
}

Box Decomposition::block(int rank) const {
  Box box;
  const auto at = place(rank);
  for (int axis = 0; axis < kAxes; ++axis) {
    box.low[axis] = cuts_[std::size_t(axis)][std::size_t(at[axis])];
    box.high[axis] = cuts_[std::size_t(axis)][std::size_t(at[axis] + 1)];
  }
  return box;
}

bool Decomposition::is_outer(int rank, int axis, int side) const {
  if (ranks_[axis] == 1) return true;
  return !domain_.periodic[axis] && place(rank)[axis] == (side == 0 ? 0 : ranks_[axis] - 1);
}

Index Decomposition::around(int rank, int side) const {
  Index points{};
  for (int axis = 0; axis < kAxes; ++axis)
    if (!is_outer(rank, axis, side)) points[axis] = depth_ * (side == 0 ? domain_.low[axis] : domain_.high[axis]);
  return points;
}

template <class Visit>
void Decomposition::for_each_neighbour(int rank, bool corners, Visit&& visit) const {
  const auto at = place(rank);
  for (int direction = 0; direction < 27; ++direction) {
    const std::array<int, kAxes> step{direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
    const int axes = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
    bool there = axes > 0 && (corners || axes == 1);
    std::array<int, kAxes> to{};
    for (int axis = 0; axis < kAxes; ++axis) {
      there = there && (step[axis] == 0 || !is_outer(rank, axis, step[axis] > 0));
      to[axis] = (at[axis] + step[axis] + ranks_[axis]) % ranks_[axis];
    }
    if (there) visit(step, (to[0] * ranks_[1] + to[1]) * ranks_[2] + to[2], direction);
  }
}

namespace {

std::vector<Decomposition::Halo> sorted(std::vector<Decomposition::Halo> halos) {
  std::sort(halos.begin(), halos.end(), [](const auto& a, const auto& b) { return a.tag < b.tag; });
  return halos;
}

}  // namespace

std::vector<Decomposition::Halo> Decomposition::received(int rank, const Reach& reach) const {
  std::vector<Halo> halos;
  const Box own = block(rank);
  for_each_neighbour(rank, reach.corners, [&](const std::array<int, kAxes>& step, int peer, int direction) {
    Box box = own;
    for (int axis = 0; axis < kAxes; ++axis) {
      if (step[axis] < 0) box.high[axis] = own.low[axis], box.low[axis] = own.low[axis] - reach.low[axis];
      if (step[axis] > 0) box.low[axis] = own.high[axis], box.high[axis] = own.high[axis] + reach.high[axis];
    }
    if (!box.empty()) halos.push_back({peer, 26 - direction, box});  // the sender's direction is the other one
  });
  return sorted(std::move(halos));
}

std::vector<Decomposition::Halo> Decomposition::sent(int rank, const Reach& reach) const {
  std::vector<Halo> halos;
  const Box own = block(rank);
  for_each_neighbour(rank, reach.corners, [&](const std::array<int, kAxes>& step, int peer, int direction) {
    Box box = own;
    for (int axis = 0; axis < kAxes; ++axis) {
      if (step[axis] < 0) box.high[axis] = own.low[axis] + reach.high[axis];
      if (step[axis] > 0) box.low[axis] = own.high[axis] - reach.low[axis];
    }
    if (!box.empty()) halos.push_back({peer, direction, box});
  });
  return sorted(std::move(halos));
}

}  // namespace tessera::distributed
