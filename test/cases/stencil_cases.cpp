// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stencil_cases.hpp"

#include "modes.hpp"

#include <bit>
#include <cstdint>
#include <utility>

namespace tessera::test {

namespace {

using List = std::vector<StencilCase>;

std::vector<Named> lists(int rank, Weights weights) {
  std::vector<Named> all = {{"identity", taps::identity(rank)},
                            {"one-sided", one_sided(rank, weights)},
                            {"off-centre", off_centre(rank, weights)},
                            {"scattered", scattered(rank, weights)}};
  for (int radius = 1; radius <= 4; ++radius)
    all.push_back({"star" + std::to_string(radius), star(rank, radius, weights)});
  for (int radius = 1; radius <= 3; ++radius)
    all.push_back({"box" + std::to_string(radius), box(rank, radius, weights)});
  for (int axis = 0; axis < rank; ++axis)
    all.push_back({"line8-axis" + std::to_string(axis), line(rank, axis, 8, weights)});
  return all;
}

Extents medium(int rank) {
  if (rank == 1) return {257};
  return rank == 2 ? Extents{37, 41} : Extents{11, 13, 17};
}

/// Every tap list with every mode: once exact, once random over several steps.
void add_taps_and_modes(List& list) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (const Named& named : lists(rank, Weights::integer))
      for (const Boundary mode : kBoundaries)
        list.push_back({std::to_string(rank) + "d " + named.name + " " + name_of(mode),
                        {.extents = medium(rank), .taps = named.taps, .boundary = everywhere(mode, rank)},
                        StencilData::integers,
                        named.name == "scattered" || named.name == "star1" || named.name == "box2"});
    std::size_t count = 0;
    for (const Named& named : lists(rank, Weights::contracting)) {
      const Boundary mode = kBoundaries[count++ % (kModeCount - 1)];
      list.push_back({std::to_string(rank) + "d " + named.name + " " + name_of(mode) + " 3 steps",
                      {.extents = medium(rank), .taps = named.taps, .boundary = everywhere(mode, rank), .steps = 3},
                      StencilData::random,
                      true});
    }
  }
}

/// What users write: high-order derivatives and diffusion, whose taps are symmetric and not integers.
void add_physics(List& list) {
  for (int rank = 1; rank <= 3; ++rank)
    for (const int accuracy : {2, 8}) {
      const Taps heat = taps::identity(rank) + (0.2 / rank) * taps::laplacian(rank, accuracy);
      const std::string name = std::to_string(rank) + "d accuracy " + std::to_string(accuracy);
      list.push_back(
          {name + " heat", {.extents = medium(rank), .taps = heat, .boundary = Boundary::periodic, .steps = 4}});
      list.push_back({name + " slope",
                      {.extents = medium(rank),
                       .taps = taps::derivative(rank, rank - 1, 1, accuracy, 0.125),
                       .boundary = Boundary::nearest},
                      StencilData::random,
                      true});
      list.push_back({name + " mean", {.extents = medium(rank), .taps = taps::box(rank, accuracy / 4), .steps = 2}});
    }
}

Taps reaching(int rank) { return star(rank, 2, Weights::integer) + off_centre(rank, Weights::integer); }

/// Extents of nothing, one point, less than the reach, primes, and around block sizes.
void add_extents(List& list) {
  std::vector<Extents> all;
  for (const std::int64_t n :
       {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1009})
    all.push_back({n});
  for (const std::int64_t n : {1, 2, 3, 5, 8, 31, 32, 33, 127, 129})
    all.insert(all.end(), {{n, n}, {n, 7}, {3, n}, {1, n}, {n, 1}});
  all.insert(all.end(), {{0, 5}, {5, 0}, {67, 255}, {66, 257}, {257, 64}});
  all.insert(all.end(), {{5003}, {21, 661}, {19, 664}, {5, 11, 331}, {5, 7, 332}});  // rows of several blocks
  for (const std::int64_t n : {1, 2, 3, 7, 16, 31, 33})
    all.insert(all.end(), {{n, 3, 5}, {3, n, 4}, {2, 5, n}, {1, n, n}, {n, 1, n}, {n, n, 1}});
  all.insert(all.end(),
             {{0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {17, 19, 67}, {9, 33, 129}, {1, 1, 131}, {131, 1, 1}, {1, 131, 1}});
  std::size_t count = 0;
  for (const Extents& extents : all) {
    const int rank = int(extents.size());
    for (const Boundary mode : kBoundaries)
      list.push_back({"extents " + text(extents) + " " + name_of(mode),
                      {.extents = extents,
                       .taps = reaching(rank),
                       .boundary = everywhere(mode, rank),
                       .steps = mode == Boundary::halo ? 1 : 1 + std::int64_t(count++ % 3)},
                      StencilData::integers,
                      count % 4 == 1});
  }
}

/// Radius 8 on domains smaller than the radius and than the diameter: index maps repeat.
void add_tiny_domains(List& list) {
  for (int rank = 1; rank <= 3; ++rank)
    for (const std::int64_t n : {1, 2, 3, 5, 9, 16})
      for (const Boundary mode : kBoundaries) {
        Extents extents(std::size_t(rank), 3);
        extents.back() = n;
        Taps both = line(rank, rank - 1, 8, Weights::integer);
        if (rank > 1) both += line(rank, 0, 5, Weights::integer);
        list.push_back({"tiny " + text(extents) + " " + name_of(mode),
                        {.extents = extents, .taps = both, .boundary = everywhere(mode, rank)},
                        StencilData::integers,
                        n == 5});
      }
}

/// Every mode against every mode on the two sides of an axis, and on different axes.
void add_mixed_boundaries(List& list) {
  for (std::size_t i = 0; i < kModeCount; ++i)
    for (std::size_t j = 0; j < kModeCount; ++j) {
      const BoundarySide low(kBoundaries[i], 3.0), high(kBoundaries[j], -5.0),
          third(kBoundaries[(i + 2 * j + 1) % kModeCount], 7.0);
      const std::string name = std::string(name_of(low.mode)) + "|" + name_of(high.mode);
      if (possible(low.mode, high.mode))
        list.push_back({"sides " + name,
                        {.extents = {23}, .taps = scattered(1, Weights::integer), .boundary = BoundaryAxis(low, high)},
                        StencilData::integers,
                        i != j && i + j == kModeCount});
      list.push_back({"axes " + name,
                      {.extents = {9, 12},
                       .taps = box(2, 2, Weights::integer),
                       .boundary = {BoundaryAxis(low), BoundaryAxis(high)}},
                      StencilData::integers,
                      i != j});
      list.push_back({"axes and sides " + name + "|" + name_of(third.mode),
                      {.extents = {6, 7, 5},
                       .taps = box(3, 1, Weights::integer) + scattered(3, Weights::integer),
                       .boundary = {sides(low, third), BoundaryAxis(high), sides(third, low)}},
                      StencilData::integers,
                      i < j});
      const bool several_steps = low.mode != Boundary::halo && high.mode != Boundary::halo;
      if (several_steps && possible(low.mode, high.mode))
        list.push_back({"axes " + name + " 3 steps",
                        {.extents = {29, 34},
                         .taps = box(2, 2, Weights::contracting),
                         .boundary = {BoundaryAxis(low, high), BoundaryAxis(high, low)},
                         .steps = 3},
                        StencilData::random,
                        i < j});
    }
}

/// Steps, with the error bound carried through; sum |c| <= 1 keeps it sharp. Larger than one tile of any algorithm.
void add_steps(List& list) {
  const Extents large[] = {{1000}, {130, 143}, {33, 37, 71}};
  for (int rank = 1; rank <= 3; ++rank)
    for (const std::int64_t steps : {0, 1, 2, 3, 5, 10})
      for (std::size_t m = 0; m + 1 < kModeCount; ++m) {
        const Named choices[] = {{"star1", star(rank, 1, Weights::contracting)},
                                 {"scattered", scattered(rank, Weights::contracting)},
                                 {"star2", star(rank, 2, Weights::contracting)}};
        const Named& named = choices[(m + std::size_t(steps)) % 3];
        list.push_back({std::to_string(rank) + "d " + std::to_string(steps) + " steps " + named.name + " " +
                            name_of(kBoundaries[m]),
                        {.extents = large[rank - 1],
                         .taps = named.taps,
                         .boundary = everywhere(kBoundaries[m], rank),
                         .steps = steps},
                        StencilData::random,
                        steps == 5 || steps == 10});
        if (steps > 3) continue;  // beyond, exact sums outgrow f32
        list.push_back({std::to_string(rank) + "d " + std::to_string(steps) + " exact steps " + name_of(kBoundaries[m]),
                        {.extents = large[rank - 1],
                         .taps = star(rank, 1, Weights::integer),
                         .boundary = everywhere(kBoundaries[m], rank),
                         .steps = steps},
                        StencilData::integers,
                        steps == 2});
      }
  for (const std::int64_t steps : {4, 7})  // more steps than the domain is wide: every point is a boundary point
    for (std::size_t m = 0; m + 1 < kModeCount; ++m)
      list.push_back({"narrow " + std::to_string(steps) + " steps " + name_of(kBoundaries[m]),
                      {.extents = {3, 4, 35},
                       .taps = box(3, 2, Weights::contracting),
                       .boundary = everywhere(kBoundaries[m], 3),
                       .steps = steps},
                      StencilData::random,
                      true});
}

void add_strided(List& list, const std::string& name, StencilDesc desc) {
  const int rank = int(desc.extents.size());
  for (const Boundary mode : kBoundaries)
    for (const std::int64_t steps : {1, 2}) {
      if (mode == Boundary::halo && steps > 1) continue;
      desc.taps = reaching(rank);
      desc.boundary = everywhere(mode, rank);
      desc.steps = steps;
      list.push_back(
          {name + " " + name_of(mode) + (steps > 1 ? " 2 steps" : ""), desc, StencilData::integers, steps == 2});
    }
}

/// Strides wide enough for the halo of reaching(), which is 3 on one axis and less on the others.
void add_strides(List& list) {
  add_strided(list, "every third point", {.extents = {67}, .taps = {}, .in_strides = {3}, .out_strides = {2}});
  add_strided(list, "gaps in rows", {.extents = {19, 35}, .taps = {}, .in_strides = {45, 1}, .out_strides = {36, 1}});
  add_strided(list, "gaps in in only", {.extents = {19, 35}, .taps = {}, .in_strides = {200, 2}});
  add_strided(list, "gaps in out only", {.extents = {9, 12, 14}, .taps = {}, .out_strides = {700, 17, 1}});
  add_strided(list, "Fortran order", {.extents = {21, 33}, .taps = {}, .in_strides = {1, 27}, .out_strides = {1, 21}});
  add_strided(list, "C to Fortran order",
              {.extents = {21, 33}, .taps = {}, .in_strides = {41, 1}, .out_strides = {1, 21}});
  add_strided(list, "axes 1 2 0",
              {.extents = {9, 12, 14}, .taps = {}, .in_strides = {1, 400, 20}, .out_strides = {1, 126, 9}});
  add_strided(list, "axes 2 0 1",
              {.extents = {9, 12, 14}, .taps = {}, .in_strides = {24, 1, 500}, .out_strides = {170, 14, 1}});
  add_strided(list, "axes 0 2 1, gaps in all",
              {.extents = {9, 12, 14}, .taps = {}, .in_strides = {2000, 3, 61}, .out_strides = {2, 20, 300}});
}

/// Rows of whole vectors of any type, in which tiles of vectors lie between both ends.
void add_whole_vectors(List& list) {
  std::vector<Named> all;
  for (int radius = 1; radius <= 4; ++radius) {
    all.push_back({"1d star" + std::to_string(radius), star(1, radius, Weights::integer)});
    all.push_back({"1d derivative" + std::to_string(radius), taps::derivative(1, 0, 1, 2 * radius)});
    all.push_back({"2d star" + std::to_string(radius), star(2, radius, Weights::integer)});
  }
  for (int radius = 1; radius <= 2; ++radius)
    all.push_back({"2d box" + std::to_string(radius), box(2, radius, Weights::integer)});
  for (const Named& named : all) {
    const int rank = named.taps.rank();
    const bool integers = named.name.find("derivative") == std::string::npos;
    for (const Boundary mode : kBoundaries)
      list.push_back({"whole vectors " + named.name + " " + name_of(mode),
                      {.extents = rank == 1 ? Extents{2320} : Extents{35, 296},
                       .taps = named.taps,
                       .boundary = everywhere(mode, rank)},
                      integers ? StencilData::integers : StencilData::random,
                      mode == Boundary::fixed || mode == Boundary::periodic});
  }
}

/// Rows of whole cache lines, or as far apart as those: algorithms may compute several of them together. Odd numbers of
/// planes and rows are left over; rows end with points that are frozen, mapped or constant.
void add_whole_lines(List& list) {
  const Named choices[] = {{"star1", star(3, 1, Weights::integer)},
                           {"star4", star(3, 4, Weights::integer)},
                           {"box1", box(3, 1, Weights::integer)},
                           {"box2", box(3, 2, Weights::integer)},
                           {"line8-axis0", line(3, 0, 8, Weights::integer)},
                           {"scattered", scattered(3, Weights::integer)}};
  for (const Named& named : choices)
    for (const Boundary mode : kBoundaries) {
      const std::string name = "whole lines " + named.name + " " + name_of(mode);
      StencilDesc desc{.extents = {19, 23, 96}, .taps = named.taps, .boundary = everywhere(mode, 3)};
      list.push_back({name, desc, StencilData::integers, named.name != "star4"});
      desc.extents = {18, 22, 89};
      desc.out_strides = {24 * 96, 96, 1};
      list.push_back({name + " part of the last", desc, StencilData::integers, named.name == "box1"});
    }
}

/// Stars in volumes whose sides keep their values, in several tiles: rows that are aligned and that begin anywhere.
void add_volumes_with_fixed_sides(List& list) {
  for (int radius = 1; radius <= 4; ++radius)
    for (const Extents& extents : {Extents{40, 35, 67 + radius}, Extents{21, 70, 136}})
      for (const std::int64_t steps : {1, 3, 7})
        list.push_back(
            {"fixed sides star" + std::to_string(radius) + " " + text(extents) + " " + std::to_string(steps) + " steps",
             {.extents = extents, .taps = star(3, radius, Weights::contracting), .steps = steps},
             StencilData::random,
             steps != 1});
}

void add_special_values(List& list) {
  for (int rank = 1; rank <= 3; ++rank)
    for (std::size_t m = 0; m + 1 < kModeCount; ++m) {
      const std::string name = std::to_string(rank) + "d " + name_of(kBoundaries[m]);
      StencilDesc desc{.extents = medium(rank), .taps = star(rank, 2, Weights::integer)};
      desc.boundary = everywhere(kBoundaries[m], rank);
      list.push_back({"NaN and Inf " + name, desc, StencilData::nan_and_inf, m == 0});
      desc.steps = 3;
      list.push_back({"NaN and Inf " + name + " 3 steps", desc, StencilData::nan_and_inf, m == 2});
      desc.steps = 2;
      desc.boundary = Boundaries(std::vector<BoundaryAxis>(std::size_t(rank), BoundaryAxis(kBoundaries[m])));
      list.push_back({"denormals " + name, desc, StencilData::denormal, true});  // constant sides are 0 here
    }
  // A NaN of the caller's, all of whose bits are set: rounding it as a number would make it a zero.
  const BoundarySide nan(Boundary::constant, std::bit_cast<double>(~std::uint64_t{0}));
  list.push_back({"NaN around a plane",
                  {.extents = {20, 296}, .taps = star(2, 2, Weights::integer), .boundary = nan},
                  StencilData::random,
                  true});
}

void add_large(List& list) {
  for (const Boundary mode : {Boundary::fixed, Boundary::periodic}) {
    list.push_back({std::string("large 1d ") + name_of(mode),
                    {.extents = {70001}, .taps = line(1, 0, 4, Weights::contracting), .boundary = mode, .steps = 6}});
    list.push_back({std::string("large 2d ") + name_of(mode),
                    {.extents = {517, 523}, .taps = star(2, 1, Weights::contracting), .boundary = mode, .steps = 8}});
    list.push_back({std::string("large 2d box ") + name_of(mode),
                    {.extents = {301, 1033}, .taps = box(2, 1, Weights::contracting), .boundary = mode, .steps = 3}});
    list.push_back(
        {std::string("large 3d ") + name_of(mode),
         {.extents = {67, 65, 131}, .taps = star(3, 4, Weights::contracting), .boundary = mode, .steps = 2}});
  }
}

/// Many steps on domains of several tiles, where passes of many steps have a remainder.
void add_many_steps(List& list) {
  const struct {
    Extents extents;
    std::int64_t steps;
  } shapes[] = {{{5003}, 45}, {{41, 2101}, 35}, {{13, 151, 99}, 11}};
  for (const auto& [extents, steps] : shapes)
    for (std::size_t m = 0; m + 1 < kModeCount; ++m) {
      const int rank = int(extents.size());
      const BoundarySide low(kBoundaries[m], 1.0), high(kBoundaries[(m + 1) % (kModeCount - 1)], -1.0);
      std::vector<BoundaryAxis> axes(std::size_t(rank), BoundaryAxis(BoundarySide(kBoundaries[m], 2.0)));
      if (rank > 1) axes[m % std::size_t(rank)] = sides(low, high);
      list.push_back({std::to_string(steps) + " steps on " + text(extents) + " " + name_of(kBoundaries[m]),
                      {.extents = extents,
                       .taps = m % 2 == 0 ? star(rank, 1, Weights::contracting) : one_sided(rank, Weights::contracting),
                       .boundary = Boundaries(axes),
                       .steps = steps},
                      StencilData::random,
                      m == 0 && rank == 2});
    }
}

}  // namespace

std::vector<StencilCase> stencil_cases() {
  List list;
  add_taps_and_modes(list);
  add_physics(list);
  add_extents(list);
  add_tiny_domains(list);
  add_mixed_boundaries(list);
  add_steps(list);
  add_strides(list);
  add_whole_vectors(list);
  add_whole_lines(list);
  add_volumes_with_fixed_sides(list);
  add_special_values(list);
  add_large(list);
  add_many_steps(list);
  for (StencilCase& block : block_cases()) list.push_back(std::move(block));
  for (StencilCase& fused : fused_steps_cases()) list.push_back(std::move(fused));
  for (StencilCase& permuted : permuted_axes_cases()) list.push_back(std::move(permuted));
  return list;
}

}  // namespace tessera::test
