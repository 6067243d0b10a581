// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Problems that an algorithm takes, where none is taken by all.
#pragma once

#include <tessera/tessera.hpp>

#include <initializer_list>
#include <string>

namespace tessera::test {

/// Whether an algorithm of stencils takes taps alone that fill a box.
inline bool takes_boxes_alone(const std::string& algorithm) { return algorithm == "separable" || algorithm == "dense"; }

/// The first of the problems that the algorithm takes. Where it refuses all as unsupported, the error of the last.
inline StencilDesc first_taken(Context& context, const std::string& algorithm,
                               std::initializer_list<StencilDesc> problems) {
  for (const StencilDesc* desc = problems.begin();; ++desc) try {
      StencilPlan(context, *desc, {.operands = Memory::device, .algorithm = algorithm});
      return *desc;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported || desc + 1 == problems.end()) throw;
    }
}

}  // namespace tessera::test
