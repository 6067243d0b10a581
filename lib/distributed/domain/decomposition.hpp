// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a domain is cut into blocks, and the boxes that are computed and sent.
#pragma once

#include "transport/transport.hpp"

#include <tessera/distributed.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::distributed {

inline constexpr int kAxes = TESSERA_MAX_RANK;
using Index = std::array<std::int64_t, kAxes>;

/// Points [low, high) along each axis.
struct Box {
  Index low{}, high{};

  bool operator==(const Box&) const = default;
  bool empty() const { return high[0] <= low[0] || high[1] <= low[1] || high[2] <= low[2]; }
  Index extents() const { return {high[0] - low[0], high[1] - low[1], high[2] - low[2]}; }
  std::int64_t points() const {
    const Index n = extents();
    return empty() ? 0 : n[0] * n[1] * n[2];
  }
  /// Of the packed array of its points, the last axis fastest.
  Index strides() const {
    const Index n = extents();
    return {n[1] * n[2], n[2], 1};
  }
  /// Elements from that array's begin to a point.
  std::int64_t offset(const Index& point) const {
    const Index s = strides();
    return (point[0] - low[0]) * s[0] + (point[1] - low[1]) * s[1] + (point[2] - low[2]) * s[2];
  }
};

/// `outer` without `inner`, in slabs.
std::vector<Box> around(const Box& outer, const Box& inner);

/// The points of `part` from the packed array of one box into that of another one, where they are `shift` further on in
/// the first.
Message message_of(const Box& part, const Box& from, const Box& to, const Index& shift, std::int64_t element);

/// "4x5".
inline std::string text_of(const Index& values, int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis)
    text.append(axis == 0 ? "" : "x").append(std::to_string(values[std::size_t(axis)]));
  return text;
}

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

  /// Points that a rank needs of another one: outside its block, and outside the domain where that is periodic.
  struct Halo {
    int peer;
    Box box;      ///< within array(); empty where nothing is needed
    Index shift;  ///< from there to where the peer has them
  };
  /// In one of kDirections, of which d and kDirections - 1 - d are opposite.
  Halo halo(int rank, int direction, const Reach& reach) const;
  static constexpr int kDirections = 27;

 private:
  std::array<int, kAxes> place(int rank) const;
  void choose_ranks(int ranks, const tessera_decomposition& wanted);
  void choose_points(const tessera_decomposition& wanted);
  void check_halos() const;

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
