// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The boundary modes of stencils and their names: the one place that lists them.
#pragma once

#include <tessera/types.h>
#include <tessera/cxx20.hpp>

#include <cstdint>

namespace tessera {

/// What a tap reads when it leaves the domain across a side: see tessera_boundary for the exact maps. An axis is
/// periodic on both sides or on none.
enum class Boundary : std::int32_t {
  fixed = TESSERA_BOUNDARY_FIXED,
  constant = TESSERA_BOUNDARY_CONSTANT,
  periodic = TESSERA_BOUNDARY_PERIODIC,
  nearest = TESSERA_BOUNDARY_NEAREST,
  reflect = TESSERA_BOUNDARY_REFLECT,
  mirror = TESSERA_BOUNDARY_MIRROR,
  halo = TESSERA_BOUNDARY_HALO,
};

/// All modes, in the order of their numbers. halo is the last one.
inline constexpr Boundary kBoundaries[] = {Boundary::fixed,   Boundary::constant, Boundary::periodic, Boundary::nearest,
                                           Boundary::reflect, Boundary::mirror,   Boundary::halo};

/// "fixed", "constant"...; "?" for a number that is no mode.
constexpr const char* name_of(Boundary mode) {
  switch (mode) {
    case Boundary::fixed:
      return "fixed";
    case Boundary::constant:
      return "constant";
    case Boundary::periodic:
      return "periodic";
    case Boundary::nearest:
      return "nearest";
    case Boundary::reflect:
      return "reflect";
    case Boundary::mirror:
      return "mirror";
    case Boundary::halo:
      return "halo";
  }
  return "?";
}

}  // namespace tessera
