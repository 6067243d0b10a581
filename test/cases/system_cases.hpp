// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Systems of fields for every backend and algorithm: those that simulations step, and random ones.
#pragma once

#include <tessera/system.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

struct SystemCase {
  std::string name;
  StencilSystem system;
  std::int64_t steps;
  bool essential = true;
};

/// What all fields of a case share.
struct SystemStyle {
  DType dtype = DType::f32;    ///< in which is computed
  DType storage = DType::f32;  ///< of the fields
  Boundaries boundary = Boundary::fixed;
  bool gaps = false;  ///< points and rows are not next to each other
};

/// The systems that the documentation names, on these extents where they have that rank.
std::vector<SystemCase> known_systems(const Integers& extents, const SystemStyle& style, const std::string& suffix);

/// Systems of the forms that fast algorithms take, in sizes and types of all kinds, systems that are hard in other
/// ways, and `random` ones by chance.
std::vector<SystemCase> special_systems(int random);

/// Known systems in many styles, and special_systems(). The same for the same seed.
std::vector<SystemCase> system_cases(int random = 40);

}  // namespace tessera::test
