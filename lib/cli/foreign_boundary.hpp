// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What other programs call boundary modes. The Python package says it as well.
#pragma once

#include <tessera/boundary.hpp>

#include <string>
#include <string_view>

namespace tessera::cli {

/// What is to be taken for a mode that is unknown here, as ": scipy's wrap is periodic"; "" where nobody knows.
inline std::string foreign_boundary(std::string_view name) {
  struct Foreign {
    const char* name;
    const char* where;
    Boundary mode;
  };
  static constexpr Foreign kForeign[] = {{"wrap", "scipy's and NumPy's", Boundary::periodic},
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
  static constexpr const char* kAlone[] = {"empty", "linear_ramp", "maximum", "mean", "median", "minimum"};
  for (const Foreign& foreign : kForeign)
    if (name == foreign.name)
      return std::string(": ") + foreign.where + " " + foreign.name + " is " + name_of(foreign.mode);
  for (const char* alone : kAlone)
    if (name == alone)
      return std::string(": nothing here is like NumPy's ") + alone +
             ", whose values outside are neither given nor those of single points; pad the array and crop the result";
  return "";
}

}  // namespace tessera::cli
