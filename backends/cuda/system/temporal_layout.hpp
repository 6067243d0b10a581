// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "temporal" for systems, and "marching" for several steps of a stencil, cut a domain, and how long a pass takes:
/// pure functions, without CUDA. Blocks take tiles that overlap, and compute the overlap again.
#pragma once

#include "../machine.hpp"
#include "streaming_offers.hpp"

#include <tessera/plugin/system_star.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace tessera::cuda {

using plugin::StarForm;
using plugin::StarSystem;

inline constexpr int kWaveDepth = 4;  ///< steps of the deepest pass

/// What a block computes of each plane: kX by kY points, two rows of 16 bytes a thread.
template <class T>
struct WaveTile {
  static constexpr int kVector = 16 / int(sizeof(T)), kX = 64, kLanes = kX / kVector;
  static constexpr int kRows = 2, kThreads = 512, kY = kThreads / kLanes * kRows;
  static constexpr int kPlaneBytes = kX * kY * int(sizeof(T)), kPitch = kX * int(sizeof(T));
};

/// Tiles along an axis: of `size` points, `halo` of which are computed for nothing at each end inside of the domain.
/// The first one begins at 0, each other one `stride` behind the one before it.
struct WaveAxis {
  int size, halo, stride, tiles;

  WaveAxis() = default;
  WaveAxis(int points, int tile, int overlap)
      : size(tile),
        halo(overlap),
        stride(tile - 2 * overlap),
        tiles(points <= tile ? 1 : (points - tile + stride - 1) / stride + 1) {}
  /// The first and the last tile that have a point.
  int first_with(int point) const { return point < size ? 0 : (point - size) / stride + 1; }
  int last_with(int point) const { return (std::min)(point / stride, tiles - 1); }
};

/// A pass cuts a plane into tiles and the first axis into chunks. All passes of a plan do it alike.
struct WaveLayout {
  WaveAxis x, y;
  int planes, chunks;  ///< planes of a chunk
  int tiles;           ///< of a plane

  int blocks() const { return tiles * chunks; }
};

template <class T>
WaveLayout wave_layout(std::span<const std::int64_t, 3> extents, int depth, const Machine& machine) {
  using Tile = WaveTile<T>;
  const int halo_x = (depth + Tile::kVector - 1) / Tile::kVector * Tile::kVector;
  WaveLayout layout{};
  layout.x = {int(extents[2]), Tile::kX, halo_x}, layout.y = {int(extents[1]), Tile::kY, depth};
  layout.tiles = layout.x.tiles * layout.y.tiles;
  const int nz = int(extents[0]);
  layout.planes = planes_of_march(layout.tiles, nz, machine.multiprocessors, 2 * depth + 2);
  layout.chunks = (nz + layout.planes - 1) / layout.planes;
  return layout;
}

/// Seconds of a pass of so many steps that moves so many bytes, without its launch. Not fitted: what an H100 showed in
/// domains of 64^3 to 768^3. A block has its plane as soon as it has made the last one, or as memory brings it.
template <class T>
double wave_pass_seconds(StarForm form, std::span<const std::int64_t, 3> extents, int depth, double bytes,
                         const Machine& machine) {
  // Of f32: a plane, the square of a pass's steps, another array.
  constexpr double kPlane = 0.96e-6, kSteps = 0.0675e-6, kArray = 0.18e-6;
  constexpr double kWide = 0.88, kUnaligned = 2.6e-6, kRate = 0.84;  // f64, rows that are not aligned
  const WaveLayout layout = wave_layout<T>(extents, depth, machine);
  const bool aligned = extents[2] % WaveTile<T>::kVector == 0;
  const double type = sizeof(T) == 8 ? kWide : 1.0;
  const double plane =
      type * (kPlane + kSteps * depth * depth + kArray * streams_of(form)) + (aligned ? 0.0 : kUnaligned);
  const double rounds = std::ceil(double(layout.blocks()) / machine.multiprocessors);
  return std::max(rounds * (layout.planes + 2 * depth) * plane, bytes / (kRate * machine.memory_rate));
}

}  // namespace tessera::cuda
