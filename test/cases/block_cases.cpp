// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "modes.hpp"
#include "stencil_cases.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::test {
namespace {

/// Boxes of taps of even and odd sides, whose centre is anywhere, on domains that hold some of them, one and none.
void add_blocks(std::vector<StencilCase>& list) {
  struct Block {
    Offset first, count;
  };
  const Block blocks[] = {{{-2, -3, 0}, {4, 6, 1}}, {{-7, -7, 0}, {15, 15, 1}}, {{1, -1, 0}, {5, 2, 1}},
                          {{0, 0, 0}, {9, 31, 1}},  {{-1, -3, -2}, {2, 5, 4}},  {{0, -4, -1}, {3, 4, 3}},
                          {{-3, -3, -3}, {6, 7, 7}}};
  std::size_t number = 0;
  for (const Block& b : blocks) {
    const int rank = b.count[2] > 1 ? 3 : 2;
    std::vector<Extents> domains = {{43, 150}, {23, 70}, {5, 9}, {16, 33}};
    if (rank == 3) domains = {{9, 14, 150}, {6, 11, 70}, {3, 4, 5}, {5, 16, 33}};
    for (const Extents& extents : domains) {
      const Boundary mode = kBoundaries[number++ % kModeCount];
      const std::string name = "block " + text(Extents(b.count.begin(), b.count.begin() + rank)) + " on " +
                               text(extents) + " " + name_of(mode);
      list.push_back(
          {name,
           {.extents = extents, .taps = block(b.first, b.count, Weights::integer), .boundary = everywhere(mode, rank)},
           StencilData::integers,
           number % 4 == 1});
      if (mode != Boundary::halo)
        list.push_back({name + " 2 steps",
                        {.extents = extents,
                         .taps = block(b.first, b.count, Weights::contracting),
                         .boundary = everywhere(mode, rank),
                         .steps = 2},
                        StencilData::random,
                        number % 4 == 1});
    }
  }
}

}  // namespace

std::vector<StencilCase> block_cases() {
  std::vector<StencilCase> list;
  add_blocks(list);
  return list;
}

}  // namespace tessera::test
