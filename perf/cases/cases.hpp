// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems that are measured, one table per operation.
#pragma once

#include "problem.hpp"

#include <string>
#include <vector>

namespace tessera::perf {

/// Where a case is measured.
enum class Size {
  any,   ///< everywhere
  host,  ///< CPU backends: seconds of work at most
  gpu,   ///< devices
};

struct Case {
  Problem problem;  ///< without the kind
  Size size = Size::any;
  bool quick = false;            ///< part of --quick
  std::vector<Kind> kinds = {};  ///< that it is measured in
};

std::vector<Case> gemm_cases();
std::vector<Case> stencil_cases();

/// The kinds of these names, separated by spaces: "f32 bf16->f32". Throws std::runtime_error where there is no such
/// one.
std::vector<Kind> kinds_named(const std::string& names);

/// "none", "relu", ..., "tanh".
inline constexpr const char* kActivations[] = {"none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"};

/// Gives a product a bias for each column, and the activation of that number.
void add_epilogue(GemmShape& shape, tessera_activation activation);

/// The problem of a kind: counts, work and traffic filled in.
Problem resolve(const Case& c, Kind kind);

}  // namespace tessera::perf
