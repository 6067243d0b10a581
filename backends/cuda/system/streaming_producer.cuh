// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The thread of a block that fills the ring of planes.
#pragma once

#include "../bulk_copy.cuh"
#include "block_meetings.cuh"
#include "streaming_layout.hpp"

namespace tessera::cuda {

template <class Layout>
struct StreamingProducer {
  using Step = StreamingStep<typename Layout::T, Layout::kRadius>;
  const Step& step;
  const StreamingMaps<Layout::kClasses>& maps;
  std::uint32_t shared;
  int x, y;  ///< the tile's first point
  std::uint64_t keep, normal;

  /// Step k brings the plane of u kRadius ahead and the planes of the streams; the first one also the planes between.
  __device__ void run(int first, int steps) const {
    int stage = 0, slot = Layout::kRadius;
    std::uint32_t parity = 1;
    BlockMeetings meetings(step.meetings, int((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x),
                           int(gridDim.x * gridDim.y * gridDim.z));
    for (int k = 0; k < steps; ++k) {
      meetings.meet(k);
      const std::uint32_t full = shared + std::uint32_t(stage) * 16, empty = full + 8;
      barrier_wait(empty, parity);
      barrier_expect(full, unsigned(Layout::kPlaneBytes * (k == 0 ? Layout::kRadius + 1 : 1) +
                                    Layout::kStreams * Layout::kStreamBytes));
      if (k == 0) {
#pragma unroll 1
        for (int i = 0; i < Layout::kRadius; ++i) load_plane(i, first + i, full);
      }
      load_plane(slot, first + k + Layout::kRadius, full);
      load_streams(stage, first + k, full);
      if (++slot == Layout::kSlots) slot = 0;
      if (++stage == Layout::kDepth) stage = 0, parity ^= 1;
    }
    meetings.end(steps - 1);
  }

  __device__ void load_plane(int slot, int z, std::uint32_t full) const {
    const std::uint32_t to = shared + std::uint32_t(Layout::kFirstSlot + slot * Layout::kSlotBytes);
    load<Layout::kClassBytes>(to, maps.u, x - Layout::kHalo, y - Layout::kRadius, z, full, keep);
  }
  __device__ void load_streams(int stage, int z, std::uint32_t full) const {
#pragma unroll
    for (int s = 0; s < Layout::kStreams; ++s) {
      const int slot = stage * Layout::kStreams + s;
      const std::uint32_t to = shared + std::uint32_t(Layout::kFirstStream + slot * Layout::kStreamSlotBytes);
      load<Layout::kStreamClassBytes>(to, maps.streams[s], x, y, z, full, normal);
    }
  }
  /// A box from (along, row) of a plane on. With classes, numbers of rows run through all planes: a box of class c
  /// takes rows kClasses apart, from the first one at or above `row` on. Rows beyond the plane are never used.
  template <int kClassBytes>
  __device__ void load(std::uint32_t to, const CUtensorMap (&map)[Layout::kClasses], int along, int row, int z,
                       std::uint32_t full, std::uint64_t policy) const {
    if constexpr (Layout::Tile::kAligned) {
      copy_box(to, map[0], full, along, row, z, policy);
    } else {
      const int number = z * step.ny + row;
#pragma unroll
      for (int c = 0; c < Layout::kClasses; ++c) {
        const int part = (c - number) & (Layout::kClasses - 1);
        copy_box(to + std::uint32_t(part * kClassBytes), map[c], full, along, (number + part - c) / Layout::kClasses, 0,
                 policy);
      }
    }
  }
};

}  // namespace tessera::cuda
