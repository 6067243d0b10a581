// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Expressions of a system's fields as text: "s * (2 * u - u[-1] + c2 * laplacian(u, 8))".
#pragma once

#include <tessera/system.hpp>
#include <tessera/taps.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::cli {

/// What an expression may name.
struct ExpressionNames {
  int rank;
  std::vector<std::pair<std::string, SystemField>> fields;
  std::vector<std::pair<std::string, Taps>> taps;
};

/// sum      = product {("+" | "-") product}
/// product  = factor {"*" factor | "/" factor}                 a divisor is a number
/// factor   = {"+" | "-"} (number | "(" sum ")" | value | function)
/// value    = map "(" field ")" | field                        abs, positive_part, negative_part, reciprocal
/// field    = name ["[" level "]"] ["(" offset {"," offset} ")"]
/// function = ("laplacian" | "derivative" | name of taps) "(" value {"," number} ")"
///
/// It means what the same text means in C++, with .under(taps) as a function and .at({...}) as u(...). Throws
/// std::invalid_argument, which begins with the place: "column 7: ".
Expression parse_expression(std::string_view text, const ExpressionNames& names);

}  // namespace tessera::cli
