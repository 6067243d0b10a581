// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems that are measured, one table per operation.
#pragma once

#include "problem.hpp"

#include <vector>

namespace tessera::perf {

/// Where a case is measured.
enum class Size {
  any,   ///< everywhere
  host,  ///< CPU backends: seconds of work at most
  gpu,   ///< devices
};

struct Case {
  Problem problem;  ///< without the type
  Size size = Size::any;
  bool quick = false;  ///< part of --quick
};

std::vector<Case> gemm_cases();
std::vector<Case> stencil_cases();

/// The problem of a type: counts, work and traffic filled in.
Problem resolve(const Case& c, DType dtype);

}  // namespace tessera::perf
