// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the temporal algorithm cuts a domain of one axis: pure functions, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include "../tap_shape.hpp"
#include "temporal_tiling.hpp"

namespace tessera::cuda {

/// The tap lists that have kernels: all offsets up to a radius, each exactly once.
using LineShapes = TapShapes<TapShape<TapPattern::star, 1, 1>, TapShape<TapPattern::star, 1, 2>,
                             TapShape<TapPattern::star, 1, 3>, TapShape<TapPattern::star, 1, 4>>;

/// Neighbouring points that a lane keeps in registers, and those of a warp's tile.
TESSERA_HOST_DEVICE constexpr int line_points(bool f64) { return f64 ? 48 : 64; }
TESSERA_HOST_DEVICE constexpr int line_width(bool f64) { return 32 * line_points(f64); }

/// Tiles begin at multiples of so many points, 32 bytes and more.
inline constexpr int kLineUnit = 8;

/// Tiles of a pass. They overlap by what its steps reach.
StripCut cut_line(const plugin::StencilProblem& problem, int radius, int depth);

/// The deepest pass: half of a tile is then lost to the overlap.
constexpr int most_line_depth(int radius, bool f64) { return line_width(f64) / 4 / radius; }

/// Steps of the passes that take the least estimated time.
int choose_line_depth(const plugin::StencilProblem& problem, int radius, int multiprocessors);

}  // namespace tessera::cuda
