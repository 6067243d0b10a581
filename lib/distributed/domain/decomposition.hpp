// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a domain is cut into blocks, and the boxes that are computed and sent.
#pragma once

#include "box.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::distributed {

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
  /// Throws where it cannot be as wanted, or a block is thinner than what its neighbours need of it.
  Decomposition(const Domain& domain, int ranks, const tessera_decomposition& wanted);

  int depth() const { return depth_; }
  int size() const { return ranks_[0] * ranks_[1] * ranks_[2]; }
  const std::array<int, kAxes>& ranks() const { return ranks_; }
  Box block(int rank) const;
  /// The block with `depth` steps before and behind it, where there is another rank: what the rank's arrays hold.
  Box array(int rank) const;
  /// Whether a side of a block is the domain's own: no rank is behind it.
  bool is_outer(int rank, int axis, int side) const;

  /// Points that one rank needs of another, as the receiver sees them (outside its block; outside the domain where that
  /// is periodic) and as the sender does.
  struct Halo {
    int peer;
    int tag;  ///< one for each direction
    Box box;
  };
  /// In the order of their tags, in which messages between two ranks meet. Within array().
  std::vector<Halo> received(int rank, const Reach& reach) const;
  std::vector<Halo> sent(int rank, const Reach& reach) const;

 private:
  std::array<int, kAxes> place(int rank) const;
  void choose_ranks(int ranks, const tessera_decomposition& wanted);
  void choose_points(const tessera_decomposition& wanted);
  void check_halos() const;
  template <class Visit>
  std::vector<Halo> halos(int rank, const Reach& reach, Visit&& visit) const;

  Domain domain_;
  int depth_;
  std::array<int, kAxes> ranks_{1, 1, 1};
  std::array<std::vector<std::int64_t>, kAxes> cuts_;  ///< where the blocks of each axis begin, and the end
};

/// What travels to and from a rank of an array, which has this place among others: appended to `messages`.
void add_messages(Messages& messages, const Decomposition& cut, int rank, std::size_t array, std::int64_t element,
                  const Reach& reach);
/// The block for the public.
tessera_block block_of(const Decomposition& cut, int rank);

}  // namespace tessera::distributed
