// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "streaming" cuts a domain.
#pragma once

#include "../launch_limits.hpp"
#include "../machine.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tessera::cuda {

/// Why the kernels cannot run there, or not on a domain of so many planes, rows and points a row; "" where they can.
inline std::string why_not_streaming(const Machine& machine, const std::int64_t (&extents)[3]) {
  if (machine.major != 9 || machine.minor != 0)
    return "needs a device of compute capability 9.0, whose instructions no other has";
  constexpr std::int64_t kRows = 32, kLeastPlanes = 16, kMost = std::int64_t{1} << 31;
  if (extents[0] > kLeastPlanes * kMaxGridYz || extents[1] > kRows * kMaxGridYz || extents[2] >= kMost / 2 ||
      extents[0] * extents[1] >= kMost)
    return "takes up to " + std::to_string(kLeastPlanes * kMaxGridYz) + " planes of up to " +
           std::to_string(kRows * kMaxGridYz) + " rows, and 2^31 rows in all";
  return {};
}

/// Planes that a block makes, where `tiles` columns cover a plane and `slots` blocks run at once: the fewest times of a
/// plane on the busiest multiprocessor, where a block costs `fixed` of them besides its planes. Never many: blocks in
/// long marches drift apart, and the second-level cache loses halos before the neighbours read them.
inline int planes_of_march(std::int64_t tiles, int nz, std::int64_t slots, int fixed) {
  constexpr int kMost = 192, kLeast = 16;
  std::int64_t best = -1;
  int planes = nz;
  for (int chunks = (nz + kMost - 1) / kMost; best < 0 || nz / chunks >= kLeast; ++chunks) {
    const int p = (nz + chunks - 1) / chunks;
    const std::int64_t blocks = tiles * ((nz + p - 1) / p);
    const std::int64_t cost = (blocks + slots - 1) / slots * (p + fixed);
    if (best < 0 || cost < best) best = cost, planes = p;
  }
  return planes;
}

/// The same for a kernel (StreamingKernel) of a radius and its arrays (StreamingArrays).
template <class Kernel, class Arrays>
int streaming_planes(const Kernel& kernel, const Arrays& a, int multiprocessors, int radius) {
  const auto tiles = [](int points, int size) { return std::int64_t((points + size - 1) / size); };
  return planes_of_march(tiles(a.nx, kernel.tile_x) * tiles(a.ny, kernel.tile_y), a.last - a.first, multiprocessors,
                         radius + 2);
}

/// Blocks of a launch that makes so many planes a block.
template <class Kernel, class Arrays>
std::int64_t streaming_blocks(const Kernel& kernel, const Arrays& a, int planes) {
  const auto tiles = [](int points, int size) { return std::int64_t((points + size - 1) / size); };
  return tiles(a.nx, kernel.tile_x) * tiles(a.ny, kernel.tile_y) * tiles(a.last - a.first, planes);
}

}  // namespace tessera::cuda
