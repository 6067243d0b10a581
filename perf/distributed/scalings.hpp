// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The cases of tessera-perf-distributed.
#pragma once

#include "cases.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::perf {

enum class Scaling {
  weak,   ///< the problem is that of a rank: the domain grows with the ranks, along its first axis
  strong  ///< the problem is divided among the ranks
};

struct ScalingCase {
  Problem problem;  ///< of a rank, or the whole
  Scaling scaling = Scaling::weak;
  Size size = Size::any;
  bool quick = false;
  std::int64_t block = 0;  ///< of block-cyclic matrices, in rows and columns; 0: a block for each rank

  /// "weak_3d_star_r1_512^3_fixed_steps100_ranks2", "strong_gemm_2048_blocks128_ranks4".
  std::string name(int ranks) const;
  /// What all ranks compute together.
  Problem whole(int ranks) const;
};

/// In the order in which they run, each type of a product on its own.
std::vector<ScalingCase> scaling_cases();

}  // namespace tessera::perf
