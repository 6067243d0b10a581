// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "temporal" for systems, and "marching" for several steps of a stencil, cut a domain, and how long a pass takes:
/// pure functions, without CUDA. Blocks take tiles that overlap, and compute the overlap again.
#pragma once

#include "../machine.hpp"
#include "streaming_offers.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/system_star.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tessera::cuda {

using plugin::StarForm;
using plugin::StarSystem;

/// Steps of the deepest pass; 0: there are no kernels, since a step a pass is faster.
template <class T>
constexpr int wave_depth(int radius) {
  if (sizeof(T) == 8) return radius == 1 ? 4 : radius == 2 ? 2 : 0;
  return radius == 1 ? 4 : radius == 2 ? 3 : radius == 3 ? 2 : 0;
}

/// Passes of at least a step and at most so many, about as many steps each: an even number of them, so that the last
/// one ends in the caller's arrays, or all of a single step.
struct WavePasses {
  std::int64_t steps, count;

  WavePasses(std::int64_t all, std::int64_t depth) : steps(all), count(plugin::ceil_div(all, depth)) {
    if (count % 2 != 0 && count < steps) ++count;
  }
  /// The first step of a pass.
  std::int64_t begin(std::int64_t pass) const { return pass * (steps / count) + (std::min)(pass, steps % count); }
  int depth(std::int64_t pass) const { return int(begin(pass + 1) - begin(pass)); }
  int deepest() const { return count == 0 ? 1 : depth(0); }
};

/// What a block computes of each plane: kX by kY points, two rows of 16 bytes a thread. Far stars in f32 need the
/// registers of four more warps.
template <class T, int kRadius>
struct WaveTile {
  static constexpr int kVector = 16 / int(sizeof(T)), kX = 64, kLanes = kX / kVector;
  static constexpr int kRows = 2, kThreads = sizeof(T) == 4 && kRadius > 1 ? 384 : 512, kY = kThreads / kLanes * kRows;
  static constexpr int kPlaneBytes = kX * kY * int(sizeof(T)), kPitch = kX * int(sizeof(T));
};

/// Calls body(std::integral_constant<int, radius>), where there are kernels.
template <class Body>
auto with_wave_radius(int radius, Body&& body) {
  switch (radius) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    default:
      return body(std::integral_constant<int, 3>());
  }
}

/// Tiles along an axis: of `size` points, `halo` of which are computed for nothing at each end inside of the domain.
/// The first one begins at 0, each other one `stride` behind the one before it.
struct WaveAxis {
  int size, halo, stride, tiles;

  WaveAxis() = default;
  WaveAxis(int points, int tile, int overlap)
      : size(tile),
        halo(overlap),
        stride(tile - 2 * overlap),
        tiles(points <= tile ? 1 : plugin::ceil_div(points - tile, stride) + 1) {}
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

/// Of passes of so many steps of a star.
template <class T>
WaveLayout wave_layout(std::span<const std::int64_t, 3> extents, int radius, int depth, const Machine& machine) {
  constexpr int kVector = WaveTile<T, 1>::kVector, kX = WaveTile<T, 1>::kX;
  const int tile_y = with_wave_radius(radius, [](auto r) { return WaveTile<T, r>::kY; }), halo = radius * depth;
  WaveLayout layout{};
  layout.x = {int(extents[2]), kX, plugin::round_up(halo, kVector)};
  layout.y = {int(extents[1]), tile_y, halo};
  layout.tiles = layout.x.tiles * layout.y.tiles;
  const int nz = int(extents[0]);
  layout.planes = planes_of_march(layout.tiles, nz, machine.multiprocessors, 2 * halo + 2);
  layout.chunks = plugin::ceil_div(nz, layout.planes);
  return layout;
}

/// Seconds of a pass of so many steps that moves so many bytes, without its launch. Not fitted: what an H100 showed in
/// domains of 64^3 to 768^3. A block has its plane as soon as it has made the last one, or as memory brings it.
template <class T>
double wave_pass_seconds(const StarSystem& star, std::span<const std::int64_t, 3> extents, int depth, double bytes,
                         const Machine& machine) {
  // A plane, the square of a pass's steps, the same by radius, another array; rows that are not aligned.
  constexpr bool kDouble = sizeof(T) == 8;
  constexpr double kPlane = kDouble ? 1.13e-6 : 0.96e-6, kSteps = kDouble ? 0.043e-6 : 0.0675e-6;
  constexpr double kReach = kDouble ? 0.088e-6 : 0.1e-6, kArray = kDouble ? 0.158e-6 : 0.18e-6;
  constexpr double kUnaligned = 2.6e-6, kRate = 0.84;
  const WaveLayout layout = wave_layout<T>(extents, star.radius, depth, machine);
  const bool aligned = extents[2] % WaveTile<T, 1>::kVector == 0;
  const double steps = kSteps * depth * depth + kReach * (star.radius - 1) * depth;
  const double plane = kPlane + steps + kArray * streams_of(star.form) + (aligned ? 0.0 : kUnaligned);
  const double rounds = std::ceil(double(layout.blocks()) / machine.multiprocessors);
  const double iterations = layout.planes + 2.0 * star.radius * depth;
  return std::max(rounds * iterations * plane, bytes / (kRate * machine.memory_rate));
}

}  // namespace tessera::cuda
