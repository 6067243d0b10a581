// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How blocks that run at once stay beside each other in their marches, so that the second-level cache still has what
/// one has read when its neighbours need it. No result depends on it: a block that waits in vain goes on alone.
#pragma once

namespace tessera::cuda {

/// Iterations between two meetings, of which a block may be one ahead. Measured on an H100: with 2 more time goes into
/// meetings, with 8 halos are lost again.
inline constexpr int kMeetingIterations = 4;

/// What a launch knows of the meetings of its blocks. Blocks start in the order of their numbers, so many at once:
/// those are a round.
struct Meetings {
  int* counters;   ///< zeros, which the last block restores: how many have left; `count` for each round; null: none
  int count;       ///< of meetings in a march
  int round_size;  ///< blocks
};

}  // namespace tessera::cuda
