// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the temporal algorithm cuts a domain of one axis: pure functions, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include "../offers.hpp"
#include "../tap_shape.hpp"
#include "temporal_tiling.hpp"

namespace tessera::cuda {

/// The tap lists that have kernels: all offsets up to a radius, each exactly once.
using LineShapes = TapShapes<TapShape<TapPattern::star, 1, 1>, TapShape<TapPattern::star, 1, 2>,
                             TapShape<TapPattern::star, 1, 3>, TapShape<TapPattern::star, 1, 4>>;

/// Neighbouring points that a lane keeps in registers.
template <class T>
inline constexpr int kLinePoints = 64;
template <>
inline constexpr int kLinePoints<double> = 48;

/// Points of a warp's tile.
constexpr int line_width(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return 32 * kLinePoints<T>; });
}

/// Tiles begin at multiples of so many points, which are whole vectors of 16 bytes.
inline constexpr int kLineAlignment = 8;

/// Tiles of a pass. They overlap by what its steps reach.
AxisTiling line_tiling(const plugin::StencilProblem& problem, int radius, int depth);

/// The deepest pass. It loses half of a tile to the overlap.
constexpr int most_line_depth(int radius, tessera_dtype dtype) { return line_width(dtype) / 4 / radius; }

/// Seconds of a pass.
double line_pass_seconds(const plugin::StencilProblem& problem, int radius, int depth, const Machine& machine);

}  // namespace tessera::cuda
