// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The reference's windows of a stencil beside the whole field, computed plainly.

#include "beyond.hpp"
#include "cases.hpp"
#include "check.hpp"
#include "random.hpp"
#include "taps.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace tessera;
using namespace tessera::perf;

namespace {

constexpr std::uint64_t kSeed = 5;
const std::array<std::int64_t, 3> kExtents[] = {{1, 1, 300}, {1, 37, 29}, {13, 11, 17}, {3, 2, 1}};

/// What is beyond the points a b c d, as the text of tessera_boundary has it; '0' is a constant, '.' is not looked at.
const std::map<Boundary, std::string> kMaps = {{Boundary::periodic, "abcd|abcd|abcd"},
                                               {Boundary::nearest, "aaaa|abcd|dddd"},
                                               {Boundary::reflect, "dcba|abcd|dcba"},
                                               {Boundary::mirror, ".dcb|abcd|cba."}};

StencilShape shape_of(Boundary boundary, Pattern pattern, int radius, const std::array<std::int64_t, 3>& extents,
                      std::int64_t steps) {
  StencilShape s;
  s.rank = extents[0] > 1 ? 3 : extents[1] > 1 ? 2 : 1;
  s.pattern = pattern, s.radius = radius, s.extents = extents, s.boundary = boundary, s.steps = steps;
  return s;
}

std::vector<double> stepped(const StencilShape& s, const std::vector<double>& in) {
  const auto [nz, ny, nx] = s.extents;
  const std::vector<ConstantTap> taps = taps_of(s);
  std::vector<double> out;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x) {
        double sum = 0.0;
        bool leaves = false;
        for (const ConstantTap& tap : taps) {
          const std::int64_t at[] = {z + tap.z, y + tap.y, x + tap.x};
          const bool outside = at[0] < 0 || at[0] >= nz || at[1] < 0 || at[1] >= ny || at[2] < 0 || at[2] >= nx;
          leaves = leaves || outside;
          if (outside && (s.boundary == Boundary::constant || s.boundary == Boundary::fixed)) continue;
          sum += tap.coefficient *
                 in[std::size_t((test::source_of(s.boundary, at[0], nz) * ny + test::source_of(s.boundary, at[1], ny)) *
                                    nx +
                                test::source_of(s.boundary, at[2], nx))];
        }
        out.push_back(leaves && s.boundary == Boundary::fixed ? in[out.size()] : sum);
      }
  return out;
}

Samples windows_of(const StencilShape& s) {
  Case c;
  c.problem.op = Op::stencil;
  c.problem.stencil = s;
  return stencil_windows(resolve(c, DType::f32), kSeed);
}

/// The largest error of the windows' points in units of their bounds, beside a field with that boundary.
double error_beside(const Samples& windows, const StencilShape& s, Boundary boundary) {
  std::vector<double> field;
  for (std::int64_t i = 0; i < s.points(); ++i)
    field.push_back(double(float(random_element<float>(kSeed, std::uint64_t(i)))));
  StencilShape other = s;
  other.boundary = boundary;
  for (std::int64_t step = 0; step < s.steps; ++step) field = stepped(other, field);
  double error = 0.0;
  for (std::size_t i = 0; i < windows.where.size(); ++i)
    error = std::max(error, std::abs(double(windows.value[i]) - field[std::size_t(windows.where[i])]) /
                                std::max(double(windows.bound[i]), 1e-12));
  return error;
}

/// Whether taps of the shape read other values with one boundary than with the other.
bool differ(const StencilShape& s, Boundary one, Boundary other) {
  if (one == Boundary::halo || other == Boundary::halo || s.points() < 10) return false;
  const auto repeats_ends = [](Boundary mode) { return mode == Boundary::nearest || mode == Boundary::reflect; };
  return one != other && !(s.radius == 1 && repeats_ends(one) && repeats_ends(other));  // a | a b
}

}  // namespace

TEST_CASE("what taps read beyond the ends of an axis is what the public header says") {
  for (const auto& [boundary, text] : kMaps) {
    std::string map = text;
    std::erase(map, '|');
    for (std::int64_t i = -4; i < 8; ++i) {
      CAPTURE(tessera::name_of(boundary), i);
      const char expected = map[std::size_t(i + 4)];
      if (expected != '.') CHECK('a' + test::source_of(boundary, i, 4) == expected);
      CHECK(test::source_of(boundary, i, 1) == 0);
    }
    CHECK(test::source_of(boundary, 100, 3) == (boundary == Boundary::periodic  ? 1
                                                : boundary == Boundary::reflect ? 1
                                                : boundary == Boundary::mirror  ? 0
                                                                                : 2));
  }
}

TEST_CASE("windows are right with every boundary, and wrong with another one") {
  for (const Boundary boundary : kBoundaries) {
    if (boundary == Boundary::halo) continue;
    for (const auto& extents : kExtents)
      for (const Pattern pattern : {Pattern::star, Pattern::box})
        for (const int radius : {1, 3})
          for (const std::int64_t steps : {1, 3}) {
            const StencilShape s = shape_of(boundary, pattern, radius, extents, steps);
            CAPTURE(tessera::name_of(boundary), extents, int(pattern), radius, steps);
            const Samples windows = windows_of(s);
            CHECK(error_beside(windows, s, boundary) < 1.0);
            for (const Boundary other : kBoundaries)
              if (differ(s, boundary, other)) CHECK(error_beside(windows, s, other) > 100.0);
          }
  }
}
