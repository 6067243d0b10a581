// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a domain is cut into blocks, and the boxes that are computed and sent.
#pragma once

#include <tessera/distributed.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::distributed {

inline constexpr int kAxes = TESSERA_MAX_RANK;
using Index = std::array<std::int64_t, kAxes>;

/// Points [low, high) along each axis.
struct Box {
  Index low{}, high{};

  bool empty() const { return high[0] <= low[0] || high[1] <= low[1] || high[2] <= low[2]; }
  Index extents() const { return {high[0] - low[0], high[1] - low[1], high[2] - low[2]}; }
  std::int64_t points() const {
    const Index n = extents();
    return empty() ? 0 : n[0] * n[1] * n[2];
  }
};

/// `outer` without `inner`, in slabs.
std::vector<Box> around(const Box& outer, const Box& inner);

/// The domain, and how far a step reads: points before and behind the one that it computes.
struct Domain {
  Index extents{1, 1, 1};
  Index low{}, high{};
  std::array<bool, kAxes> periodic{};
  /// Points that the domain's sides look for beyond as many as a step reads: 1 where one is a mirror.
  Index beyond{};
  /// Axes that may not be cut.
  std::array<bool, kAxes> whole{};

  /// Least points of a block or a box that ends at a side of the domain and at another rank's points.
  std::int64_t least(int axis, int depth) const { return depth * std::max(low[axis], high[axis]) + beyond[axis]; }
};

/// How far around its block a rank needs an array.
struct Reach {
  Index low{}, high{};
  bool corners = true;  ///< also beside edges and corners

  bool empty() const { return low == Index{} && high == Index{}; }
};

/// Ranks in a grid, each with a block.
class Decomposition {
 public:
  /// Throws where the wishes cannot be met, or a block is thinner than what its neighbours need of it.
  Decomposition(const Domain& domain, int ranks, const tessera_decomposition& wishes);

  int depth() const { return depth_; }
  int size() const { return ranks_[0] * ranks_[1] * ranks_[2]; }
  const std::array<int, kAxes>& ranks() const { return ranks_; }
  Box block(int rank) const;
  /// How far the array around a block reaches: `depth` steps before and behind it, where there is another rank.
  Index low(int rank) const { return around(rank, 0); }
  Index high(int rank) const { return around(rank, 1); }
  /// Whether a side of a block is the domain's own: no rank is behind it.
  bool is_outer(int rank, int axis, int side) const;

  /// Points that one rank needs of another, as the receiver sees them (outside its block; outside the domain where that
  /// is periodic) and as the sender does.
  struct Halo {
    int peer;
    int tag;  ///< one for each direction
    Box box;
  };
  /// In the order of their tags, in which messages between two ranks meet. No farther than low() and high().
  std::vector<Halo> received(int rank, const Reach& reach) const;
  std::vector<Halo> sent(int rank, const Reach& reach) const;

 private:
  Index around(int rank, int side) const;
  std::array<int, kAxes> place(int rank) const;
  void choose_ranks(int ranks, const tessera_decomposition& wishes);
  void choose_points(const tessera_decomposition& wishes);
  void check_halos() const;
  template <class Visit>
  void for_each_neighbour(int rank, bool corners, Visit&& visit) const;

  Domain domain_;
  int depth_;
  std::array<int, kAxes> ranks_{1, 1, 1};
  std::array<std::vector<std::int64_t>, kAxes> cuts_;  ///< where the blocks of each axis begin, and the end
};

}  // namespace tessera::distributed
