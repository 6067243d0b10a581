// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "foreign_boundary.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <stdexcept>

namespace tessera::cli {
namespace {

/// What is to be taken for a mode that is unknown here; "" where nobody knows.
std::string advice(const std::string& name) {
  return name == name_of(Boundary::halo) ? ": a file holds no ghost points" : foreign_boundary(name);
}

/// A constant side without a value of its own takes the one that is given for such sides, and says so.
BoundarySide parse_side(const std::string& text, double value, bool& taken) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string whole = "boundary '" + npy::clip(text) + "'";
  for (const Boundary mode : kBoundaries) {
    if (mode == Boundary::halo || parts[0] != name_of(mode)) continue;  // a file holds no ghost points
    if (parts.size() == 1) {
      if (mode != Boundary::constant) return {mode, 0.0};
      taken = true;
      return {mode, value};
    }
    if (parts.size() == 2 && mode == Boundary::constant) return {mode, parse_number(parts[1], whole)};
    throw std::invalid_argument(whole + ": only constant takes a value, as in constant:20");
  }
  throw std::invalid_argument(whole + " is unknown" + advice(parts[0]) +
                              "; there are fixed, constant, periodic, nearest, reflect "
                              "and mirror, and LOW/HIGH where the sides differ");
}

}  // namespace

std::vector<BoundaryAxis> parse_boundaries(const std::string& text, std::optional<double> value) {
  std::vector<BoundaryAxis> axes;
  bool taken = false;
  for (const std::string& axis : split(text, ',')) {
    const std::vector<std::string> sides = split(axis, '/');
    if (sides.size() > 2)
      throw std::invalid_argument("boundary '" + npy::clip(axis) + "': an axis has two sides, LOW/HIGH");
    axes.emplace_back(parse_side(sides.front(), value.value_or(0.0), taken),
                      parse_side(sides.back(), value.value_or(0.0), taken));
  }
  if (value && !taken)
    throw std::invalid_argument(
        "--value is for constant sides that have no value of their own, as in --boundary constant; boundary '" +
        npy::clip(text) + "' has none");
  return axes;
}

}  // namespace tessera::cli
