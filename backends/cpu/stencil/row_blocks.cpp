// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "row_blocks.hpp"

namespace tessera::cpu {
namespace {

int rows_read(Pattern pattern, int rows) {
  int count = 0;
  for (const std::int64_t along : kAlong)
    for (int i0 = -1; i0 <= kBlockPlanes; ++i0)
      for (int i1 = -1; i1 <= rows; ++i1) count += reads_row(pattern, rows, i0, i1, along);
  return count;
}

}  // namespace

int block_rows(const std::vector<TapGroup>& groups) {
  int one = 0, several = 0;
  for (const TapGroup& group : groups) {
    one += rows_read(group.pattern, 1);
    several += rows_read(group.pattern, kBlockRows);
  }
  return 3 * several <= 2 * one * kBlockRows ? kBlockRows : 1;
}

int block_rows(const plugin::StencilProblem& problem) {
  std::vector<plugin::Tap> taps = problem.taps;
  return block_rows(group_taps(taps));
}

}  // namespace tessera::cpu
