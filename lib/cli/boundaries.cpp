// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <stdexcept>

namespace tessera::cli {
namespace {

BoundarySide parse_side(const std::string& text, double value) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string whole = "boundary '" + npy::clip(text) + "'";
  for (const Boundary mode : kBoundaries) {
    if (mode == Boundary::halo || parts[0] != name_of(mode)) continue;  // a file holds no ghost points
    if (parts.size() == 1) return {mode, value};
    if (parts.size() == 2 && mode == Boundary::constant) return {mode, parse_number(parts[1], whole)};
    throw std::invalid_argument(whole + ": only constant takes a value, as in constant:20");
  }
  throw std::invalid_argument(whole +
                              " is unknown; there are fixed, constant, periodic, nearest, reflect "
                              "and mirror, and LOW/HIGH where the sides differ");
}

}  // namespace

std::vector<BoundaryAxis> parse_boundaries(const std::string& text, double value) {
  std::vector<BoundaryAxis> axes;
  for (const std::string& axis : split(text, ',')) {
    const std::vector<std::string> sides = split(axis, '/');
    if (sides.size() > 2)
      throw std::invalid_argument("boundary '" + npy::clip(axis) + "': an axis has two sides, LOW/HIGH");
    axes.emplace_back(parse_side(sides.front(), value), parse_side(sides.back(), value));
  }
  return axes;
}

}  // namespace tessera::cli
