// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which problems "register_tile" takes, how it lays them out, and how long it takes: pure functions, without CUDA.
#pragma once

#include "../offers.hpp"
#include "../tap_shape.hpp"

#include <array>
#include <string>

namespace tessera::cuda {

inline constexpr int kRegisterTileThreads = 256;
inline constexpr int kRegisterTileRows[] = {1, 2, 4};  ///< that a thread may take

using RegisterTileShapes =
    TapShapes<TapShape<TapPattern::star, 1, 1>, TapShape<TapPattern::star, 1, 2>, TapShape<TapPattern::star, 1, 3>,
              TapShape<TapPattern::star, 1, 4>, TapShape<TapPattern::star, 2, 1>, TapShape<TapPattern::star, 2, 2>,
              TapShape<TapPattern::star, 2, 3>, TapShape<TapPattern::star, 2, 4>, TapShape<TapPattern::box, 2, 1>,
              TapShape<TapPattern::star, 3, 1>, TapShape<TapPattern::star, 3, 2>, TapShape<TapPattern::star, 3, 3>,
              TapShape<TapPattern::star, 3, 4>, TapShape<TapPattern::box, 3, 1>>;

/// Whether any of the points (0, 0, 0) to (0, rows - 1, 0) reads a point.
template <class Shape, int kRows>
TESSERA_HOST_DEVICE constexpr bool reads_point(int z, int y, int x) {
  for (int row = 0; row < kRows; ++row)
    if (Shape::place(z, y - row, x) >= 0) return true;
  return false;
}

/// Blocks and a block's threads on axes 0 to 2. A thread has so many rows; on a line, so many points that lie a block
/// apart.
struct RegisterTileGrid {
  std::array<unsigned, plugin::kAxes> blocks, threads;
};
RegisterTileGrid register_tile_grid(const plugin::StencilProblem& problem, int rows);
}  // namespace tessera::cuda
