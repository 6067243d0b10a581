// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "modes.hpp"
#include "stencil_cases.hpp"

namespace tessera::test {

namespace {

using List = std::vector<StencilCase>;

/// Passes of several steps, whole ones and remainders, with every mode against every mode on the two sides of each
/// axis: the tap lists that have kernels for such passes, on domains wider than what one of their tiles writes.
void add_fused_steps(List& list) {
  constexpr std::int64_t kSteps[] = {2, 7, 3, 5, 8, 4, 9, 6, 13, 1, 17};
  const auto pair = [](Boundary low, Boundary high) { return sides(BoundarySide(low, 1.5), BoundarySide(high, -0.5)); };
  std::size_t count = 0;
  const auto add = [&](const Named& named, const Extents& extents, std::size_t i, std::size_t j, std::int64_t steps) {
    const int rank = int(extents.size());
    std::vector<BoundaryAxis> axes{pair(kBoundaries[i], kBoundaries[j]), pair(kBoundaries[j], kBoundaries[i])};
    if (rank == 3) axes.insert(axes.begin(), pair(kBoundaries[(i + j) % (kModeCount - 1)], kBoundaries[i]));
    list.push_back({"fused " + std::to_string(steps) + " steps " + named.name + " " + text(extents) + " " +
                        name_of(kBoundaries[i]) + "|" + name_of(kBoundaries[j]),
                    {.extents = extents, .taps = named.taps, .boundary = Boundaries(axes), .steps = steps},
                    StencilData::random,
                    count++ % 9 == 4 && steps < 100});
  };
  const Extents planes[] = {{45, 300}, {90, 131}, {38, 236}, {61, 264}, {17, 128}};
  const Extents boxes[] = {{5, 53, 133}, {4, 61, 140}, {6, 48, 128}};
  const Named flat[] = {{"star1", star(2, 1, Weights::contracting)},
                        {"box1", box(2, 1, Weights::contracting)},
                        {"star2", star(2, 2, Weights::contracting)}};
  const Named deep[] = {{"star1", star(3, 1, Weights::contracting)}, {"box1", box(3, 1, Weights::contracting)}};
  for (std::size_t i = 0; i + 1 < kModeCount; ++i)
    for (std::size_t j = 0; j + 1 < kModeCount; ++j) {
      add(flat[(i + j) % 3], planes[count % std::size(planes)], i, j, kSteps[count % std::size(kSteps)]);
      if (j % 2 == 0)
        add(flat[(i + j + 1) % 3], planes[count % std::size(planes)], i, j, kSteps[count % std::size(kSteps)]);
      if ((i + j) % 3 == 0) add(deep[count % 2], boxes[count % std::size(boxes)], i, j, kSteps[count % 6]);
    }
  add(flat[0], {40, 259}, 0, 5, 100);
  add(flat[1], {40, 259}, 2, 3, 40);
  add(flat[2], {40, 259}, 4, 1, 100);
  add(deep[0], {5, 49, 130}, 3, 4, 12);
}

/// The same in 1D, where passes may be hundreds of steps deep and tiles a thousand points wide or two.
void add_fused_lines(List& list) {
  constexpr std::int64_t kExtents[] = {1536, 2048, 2051, 4500, 3000, 5003, 2600};
  constexpr std::int64_t kSteps[] = {2, 7, 31, 3, 64, 20, 100, 1, 33};
  std::size_t count = 0;
  const auto add = [&](int radius, std::int64_t extent, Boundary low, Boundary high, std::int64_t steps) {
    const bool open = low == Boundary::periodic || high == Boundary::periodic;
    const BoundaryAxis sides(BoundarySide(open ? Boundary::periodic : low, 1.5),
                             BoundarySide(open ? Boundary::periodic : high, -0.5));
    list.push_back({"fused " + std::to_string(steps) + " steps star" + std::to_string(radius) + " " +
                        std::to_string(extent) + " " + name_of(low) + "|" + name_of(high),
                    {.extents = {extent},
                     .taps = star(1, radius, Weights::contracting),
                     .boundary = Boundaries({sides}),
                     .steps = steps},
                    StencilData::random,
                    count++ % 9 == 4});
  };
  for (std::size_t i = 0; i + 1 < kModeCount; ++i)
    for (std::size_t j = 0; j + 1 < kModeCount; ++j)
      if (kBoundaries[j] != Boundary::periodic || i == j)
        add(1 + int((i + 2 * j) % 4), kExtents[count % std::size(kExtents)], kBoundaries[i], kBoundaries[j],
            kSteps[count % std::size(kSteps)]);
  for (const std::int64_t steps : {95, 96, 97}) add(4, 2100, Boundary::reflect, Boundary::constant, steps);
  for (const std::int64_t steps : {127, 128, 129}) add(4, 2600, Boundary::mirror, Boundary::fixed, steps);
  add(2, 37, Boundary::periodic, Boundary::periodic, 260);
  list.back().desc.in_strides = {2};
  add(3, 4100, Boundary::nearest, Boundary::constant, 40);
  list.back().desc.in_strides = {3};
  list.back().desc.out_strides = {2};
}

}  // namespace

std::vector<StencilCase> fused_steps_cases() {
  List list;
  add_fused_steps(list);
  add_fused_lines(list);
  return list;
}

}  // namespace tessera::test
