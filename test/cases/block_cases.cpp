// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "modes.hpp"
#include "stencil_cases.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::test {
namespace {

using MakeBlock = Taps (*)(int rank, const Offset& first, const Offset& count, Weights weights);

/// Domains that hold many such boxes, some, one and none; one for a large box.
std::vector<Extents> domains_of(int rank, const Offset& count) {
  if (count[0] > 101 && rank == 2) return {{43, 150}};
  if (rank == 1) return {{6000}, {300}, {7}};
  if (rank == 2) return {{43, 150}, {150, 330}, {23, 70}, {5, 9}, {16, 33}};
  return {{9, 14, 150}, {5, 140, 210}, {6, 11, 70}, {3, 4, 5}, {5, 16, 33}};
}

/// Boxes of taps of even and odd sides, whose centre is anywhere: taps of their own, products of a factor for each
/// axis, or the sum of two such. Some are one row or a few, of 8 to 101 taps.
void add_blocks(std::vector<StencilCase>& list, const char* kind, MakeBlock make) {
  struct Block {
    Offset first, count;
  };
  const Block blocks[] = {
      {{-2, -3, 0}, {4, 6, 1}},  {{-7, -7, 0}, {15, 15, 1}},    {{1, -1, 0}, {5, 2, 1}},   {{0, 0, 0}, {9, 31, 1}},
      {{-1, -3, -2}, {2, 5, 4}}, {{0, -4, -1}, {3, 4, 3}},      {{-3, -3, -3}, {6, 7, 7}}, {{-50, 0, 0}, {101, 1, 1}},
      {{-3, 0, 0}, {26, 1, 1}},  {{-90, -20, 0}, {170, 41, 1}}, {{-4, 0, 0}, {9, 1, 1}},   {{-7, 0, 0}, {8, 1, 1}},
      {{-9, 0, 0}, {24, 1, 1}},  {{0, -5, 0}, {1, 12, 1}},      {{-1, -9, 0}, {2, 19, 1}}, {{-1, -4, 0}, {3, 8, 1}},
      {{0, 0, -6}, {1, 1, 13}},  {{0, -1, -4}, {1, 3, 9}},      {{-1, 0, 0}, {2, 1, 11}}};
  std::size_t number = 0;
  for (const Block& b : blocks) {
    const int rank = b.count[2] > 1 ? 3 : b.count[1] > 1 ? 2 : 1;
    if (make == product && rank == 1) continue;
    if (make == sharpening && (rank != 2 || b.count[0] < 4)) continue;
    for (const Extents& extents : domains_of(rank, b.count)) {
      const Boundary mode = kBoundaries[number++ % kModeCount];
      const std::string name =
          kind + text(Extents(b.count.begin(), b.count.begin() + rank)) + " on " + text(extents) + " " + name_of(mode);
      const bool exact = b.count[0] <= 101 && make != sharpening;
      list.push_back({name,
                      {.extents = extents,
                       .taps = make(rank, b.first, b.count, exact ? Weights::integer : Weights::contracting),
                       .boundary = everywhere(mode, rank)},
                      exact ? StencilData::integers : StencilData::random,
                      number % 4 == 1});
      if (mode != Boundary::halo)
        list.push_back({name + " 2 steps",
                        {.extents = extents,
                         .taps = make(rank, b.first, b.count, Weights::contracting),
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
  add_blocks(list, "block ", block);
  add_blocks(list, "product ", product);
  add_blocks(list, "sharpening ", sharpening);
  return list;
}

}  // namespace tessera::test
