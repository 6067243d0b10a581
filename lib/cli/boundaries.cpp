// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <stdexcept>

namespace tessera::cli {
namespace {

/// What other programs call a mode.
struct Foreign {
  const char* name;
  const char* where;
  Boundary mode;
};
constexpr Foreign kForeign[] = {{"wrap", "scipy's and NumPy's", Boundary::periodic},
                                {"grid-wrap", "scipy's", Boundary::periodic},
                                {"circular", "PyTorch's and MATLAB's", Boundary::periodic},
                                {"edge", "NumPy's", Boundary::nearest},
                                {"replicate", "PyTorch's and MATLAB's", Boundary::nearest},
                                {"symmetric", "NumPy's and MATLAB's", Boundary::reflect},
                                {"symm", "scipy.signal's", Boundary::reflect},
                                {"grid-mirror", "scipy's", Boundary::reflect},
                                {"grid-constant", "scipy's", Boundary::constant},
                                {"fill", "scipy.signal's", Boundary::constant},
                                {"zeros", "PyTorch's", Boundary::constant}};
/// numpy.pad's that are no mode of a stencil.
constexpr const char* kForeignAlone[] = {"empty", "linear_ramp", "maximum", "mean", "median", "minimum"};

/// What is to be taken for a mode that is unknown here; "" where nobody knows.
std::string advice(const std::string& name) {
  for (const Foreign& foreign : kForeign)
    if (name == foreign.name) return std::string(": ") + foreign.where + " " + name + " is " + name_of(foreign.mode);
  for (const char* alone : kForeignAlone)
    if (name == alone)
      return ": nothing here is like NumPy's " + name +
             ", whose values outside are neither given nor those of single points; pad the array and crop the result";
  if (name == name_of(Boundary::halo)) return ": a file holds no ghost points";
  return "";
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
