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

double loads_per_result(const std::vector<TapGroup>& groups, int rows) {
  int loads = 0;
  for (const TapGroup& group : groups) loads += rows_read(group.pattern, rows);
  return double(loads) / double(kBlockPlanes * rows);
}

int block_rows(const InstructionSet& instructions, const std::vector<TapGroup>& groups) {
  const int several = most_block_rows(instructions);
  return 3.0 * loads_per_result(groups, several) <= 2.0 * loads_per_result(groups, 1) ? several : 1;
}

}  // namespace tessera::cpu
