// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How sums become elements of a triangle of D, and of the other side of a mirrored one. The product is turned. Little
/// code: it is fetched anew for each tile.
#pragma once

#include "../triangle_tiles.hpp"
#include "warpgroup_boxes.cuh"
#include "warpgroup_kernels.hpp"

#include <cstdint>

namespace tessera::cuda {

/// Calls `with` with the number of the first sum of the 64 columns from `first` on.
template <int kSums, class With>
__device__ __forceinline__ void with_box(int first, const With& with) {
  static_assert(kSums == 128);
  switch (first / 64) {
    case 0:
      return with(0);
    case 1:
      return with(32);
    case 2:
      return with(64);
    case 3:
      return with(96);
  }
}

/// Lines of D from a box of shared memory.
template <class T>
struct WarpgroupSide {
  T* to;  ///< where the first line begins
  std::int64_t ld;
  int lines, length;  ///< that exist, and elements of one
  /// The elements up to one place are of the triangle, or those from there on: in the first line that, in each line the
  /// next.
  int diagonal;
  bool up_to;

  __device__ __forceinline__ void write(const WarpgroupBox<true>& box, bool vectors) const {
    constexpr int kWidth = 8;
#pragma unroll 1
    for (int i = int(threadIdx.x) % 128; i < lines * kWidth; i += 128) {
      const int line = i / kWidth, part = i % kWidth, at = part * kWidth, cut = diagonal + line;
      const int begin = up_to ? at : max(at, cut), end = min(at + kWidth, up_to ? min(length, cut + 1) : length);
      T* const place = to + (line * ld + at);
      const uint4 all = box.vector(line, part);
      if (vectors && begin == at && end == at + kWidth) {
        *reinterpret_cast<uint4*>(place) = all;
        continue;
      }
      const std::uint32_t pairs[kWidth / 2] = {all.x, all.y, all.z, all.w};
#pragma unroll
      for (int e = 0; e < kWidth; ++e)
        if (at + e >= begin && at + e < end)
          reinterpret_cast<std::uint16_t*>(place)[e] = std::uint16_t(pairs[e / 2] >> (16 * (e % 2)));
    }
  }
};

/// `memory`: of the warpgroup.
template <class T, int kSums>
__device__ __forceinline__ void write_triangle(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                               const WarpgroupArguments<T>& w, const WarpgroupPart& part) {
  constexpr int kLines = WarpgroupBox<true>::kLines;
  const GemmArguments<T>& g = w.x.g;
  const TriangleTiles& triangle = w.order.triangle;
  const WarpgroupBox<true> as_d(memory, 0), other(memory, 1);
  T* const d = g.d.elements() + part.tile.batch * g.stride_d;
  const bool vectors = reinterpret_cast<std::uintptr_t>(d) % 16 == 0 && g.ldd % 8 == 0;
  const int rows = int(min(g.m - part.first, std::int64_t(kLines)));
#pragma unroll 1
  for (int first = 0; first < part.columns; first += kLines) {
    warpgroup_sync();  // what was there is no longer read
    with_box<kSums>(first, [&](int from) {
      as_d.put<T>(sums + from);
      if (triangle.mirrored) WarpgroupBox<false>(memory, 1).template put<T>(sums + from);
    });
    warpgroup_sync();
    const std::int64_t column = part.tile.column + first;
    const int columns = min(kLines, part.columns - first);
    // From a tile that is far from the diagonal no line is cut.
    const int apart = int(max(min(column - part.first, std::int64_t(2 * kLines)), std::int64_t(-2 * kLines)));
    const WarpgroupSide<T> side{d + (column * g.ldd + part.first), g.ldd, columns, rows, apart, triangle.upper};
    side.write(as_d, vectors);
    if (!triangle.mirrored) continue;
    const WarpgroupSide<T> opposite{d + (part.first * g.ldd + column), g.ldd, rows, columns, -apart, !triangle.upper};
    opposite.write(other, vectors);
  }
}

}  // namespace tessera::cuda
