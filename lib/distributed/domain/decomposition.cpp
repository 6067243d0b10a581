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

using core::indexed;
using core::invalid;

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

Decomposition::Decomposition(const Domain& domain, int ranks, const tessera_decomposition& wanted)
    : domain_(domain), depth_(wanted.depth == 0 ? 1 : wanted.depth) {
  core::at_least("depth", wanted.depth, 0);
  choose_ranks(ranks, wanted);
  choose_points(wanted);
  check_halos();
}

void Decomposition::choose_ranks(int ranks, const tessera_decomposition& wanted) {
  double least = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < kAxes; ++axis) core::at_least(indexed("ranks", axis), wanted.ranks[axis], 0);
  for (int i = 1; i <= ranks; ++i)
    for (int j = 1; ranks % i == 0 && j <= ranks / i; ++j) {
      if (ranks / i % j != 0) continue;
      const std::array<int, kAxes> grid{i, j, ranks / i / j};
      bool fits = true;
      for (int axis = 0; axis < kAxes; ++axis) {
        const std::int64_t thinnest = domain_.extents[axis] / grid[axis];
        const bool told = wanted.ranks[axis] != 0 || wanted.points[axis] != nullptr;
        fits = fits && (wanted.ranks[axis] == 0 || wanted.ranks[axis] == grid[axis]);
        fits = fits && (told || grid[axis] == 1 || !domain_.whole[axis]);
        if (!told && grid[axis] > 1) fits = fits && thinnest >= std::max<std::int64_t>(1, domain_.least(axis, depth_));
      }
      if (const double points = traffic(domain_, grid); fits && points < least) least = points, ranks_ = grid;
    }
  if (least < std::numeric_limits<double>::infinity()) return;
  const auto* const r = wanted.ranks;
  invalid(
      "ranks", std::to_string(r[0]) + " x " + std::to_string(r[1]) + " x " + std::to_string(r[2]),
      "must be a grid of " + std::to_string(ranks) +
          " ranks whose blocks are no thinner than their halos; 0 lets the library choose, fewer ranks or a smaller "
          "depth leave more room");
}

void Decomposition::choose_points(const tessera_decomposition& wanted) {
  for (int axis = 0; axis < kAxes; ++axis) {
    std::vector<std::int64_t>& cuts = cuts_[std::size_t(axis)];
    const int count = ranks_[axis];
    cuts.assign(1, 0);
    for (int rank = 0; rank < count; ++rank) {
      const std::int64_t* const given = wanted.points[axis];
      const std::int64_t points =
          given != nullptr ? given[rank] : domain_.extents[axis] / count + (rank < domain_.extents[axis] % count);
      if (points < 1) invalid(indexed(indexed("points", axis), rank), points, "must be at least 1: a block has points");
      cuts.push_back(cuts.back() + points);
    }
    if (cuts.back() != domain_.extents[axis])
      invalid(indexed("points", axis), "a sum of " + std::to_string(cuts.back()),
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

Box Decomposition::array(int rank) const {
  Box box = block(rank);
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!is_outer(rank, axis, 0)) box.low[axis] -= depth_ * domain_.low[axis];
    if (!is_outer(rank, axis, 1)) box.high[axis] += depth_ * domain_.high[axis];
  }
  return box;
}

Decomposition::Halo Decomposition::halo(int rank, int direction, const Reach& reach) const {
  const std::array<int, kAxes> step{direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
  const int axes = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
  bool there = axes > 0 && (reach.corners || axes == 1);
  const Box own = block(rank);
  Halo halo{0, own, {}};
  for (int axis = 0; axis < kAxes; ++axis) {
    there = there && (step[axis] == 0 || !is_outer(rank, axis, step[axis] > 0));
    const int to = place(rank)[axis] + step[axis], wrapped = (to + ranks_[axis]) % ranks_[axis];
    halo.peer = halo.peer * ranks_[axis] + wrapped;
    halo.shift[axis] = to == wrapped ? 0 : (to < wrapped ? 1 : -1) * domain_.extents[axis];
    if (step[axis] < 0) halo.box.high[axis] = own.low[axis], halo.box.low[axis] = own.low[axis] - reach.low[axis];
    if (step[axis] > 0) halo.box.low[axis] = own.high[axis], halo.box.high[axis] = own.high[axis] + reach.high[axis];
  }
  if (!there) halo.box = {};
  return halo;
}

Message message_of(const Box& part, const Box& from, const Box& to, const Index& shift, std::int64_t element) {
  Message message{0, 0, element, {}, {}, {}};
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const std::int64_t first = part.low[axis];
    message.runs[axis] = {{first + shift[axis] - from.low[axis], first - to.low[axis], part.extents()[axis]}};
  }
  std::copy_n(from.strides().begin(), 2, message.from_strides.begin());
  std::copy_n(to.strides().begin(), 2, message.to_strides.begin());
  return message;
}

void add_messages(Messages& messages, const Decomposition& cut, int rank, std::size_t array, std::int64_t element,
                  const Reach& reach) {
  const auto add = [&](std::vector<Message>& list, const Decomposition::Halo& halo, int receiver, int peer) {
    list.push_back(message_of(halo.box, cut.array(halo.peer), cut.array(receiver), halo.shift, element));
    list.back().array = array, list.back().peer = peer;
  };
  for (int direction = 0; direction < Decomposition::kDirections; ++direction) {
    const Decomposition::Halo halo = cut.halo(rank, direction, reach);
    if (!halo.box.empty()) add(messages.received, halo, rank, halo.peer);
    // The neighbour on the other side has this rank in this direction.
    const int peer = cut.halo(rank, Decomposition::kDirections - 1 - direction, reach).peer;
    const Decomposition::Halo theirs = cut.halo(peer, direction, reach);
    if (!theirs.box.empty()) add(messages.sent, theirs, peer, peer);
  }
}

tessera_block block_of(const Decomposition& cut, int rank) {
  if (rank < 0 || rank >= cut.size()) invalid("rank", rank, "must lie in [0, " + std::to_string(cut.size()) + ")");
  const Box box = cut.block(rank), array = cut.array(rank);
  const Index extents = box.extents(), strides = array.strides();
  tessera_block b{};
  b.struct_size = sizeof b;
  for (int axis = 0; axis < kAxes; ++axis) {
    b.first[axis] = box.low[axis], b.extents[axis] = extents[axis], b.strides[axis] = strides[axis];
    b.low[axis] = box.low[axis] - array.low[axis], b.high[axis] = array.high[axis] - box.high[axis];
  }
  b.offset = array.offset(box.low), b.elements = array.points();
  return b;
}

}  // namespace tessera::distributed
