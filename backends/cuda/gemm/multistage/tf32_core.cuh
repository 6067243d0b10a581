// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles of f32 on the tensor cores (PTX mma.sync, shape m16n8k8), which take each operand rounded
/// to tf32, that is to 11 significant bits.
#pragma once

#include "../warp_sums.cuh"
#include "multistage_tiles.hpp"
#include "tile_loader.cuh"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// Rounds to nearest, ties away from zero.
__device__ __forceinline__ std::uint32_t to_tf32(float value) {
  std::uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return rounded;
}

/// d += a b for a warp: a 16 x 8, b 8 x 8, d 16 x 8. With g = lane / 4 and t = lane % 4 a thread gives
/// a[x + 2 y] = a(g + 8 x, t + 4 y) and b[y] = b(t + 4 y, g).
__device__ __forceinline__ void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// kM x kN tiles of D, kTileK of k at a time; a warp computes kWarpM x kWarpN of it.
template <int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, bool kKMajorAValue, bool kKMajorBValue>
class Tf32Core : public WarpSums<float, kWarpM, kWarpN, kNValue / kWarpN> {
  using Sums = WarpSums<float, kWarpM, kWarpN, kNValue / kWarpN>;
  using Sums::kGroupsM, Sums::kGroupsN, Sums::row_, Sums::first_column_;

 public:
  using T = float;
  static constexpr bool kOneWriter = true;   ///< D is written in one way alone, and one kernel does all
  static constexpr bool kTriangles = false;  ///< kernels for any arguments compute triangles
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKMajorAValue, kKMajorB = kKMajorBValue;  ///< k is contiguous in memory
  static constexpr int kVectorA = 4, kVectorB = 4;                           ///< elements of the widest copy
  static constexpr int kSteps = kTileK / 8;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;  ///< steps over which a tile's copies are spread
  using Pads = MultistageLayout<Tf32>;
  template <int kExtent, bool kKMajor>
  using Layout = std::conditional_t<kKMajor, KMajor<kExtent, kTileK, Pads::kKMajorPad>,
                                    ExtentMajor<kExtent, kTileK, Pads::kExtentMajorPad>>;
  using LayoutA = Layout<kM, kKMajorA>;
  using LayoutB = Layout<kN, kKMajorB>;
  static constexpr int kTilePad = Pads::kResultPad;

  struct Fragment {
    T a[kGroupsM][4], b[kGroupsN][2];
  };

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    a += LayoutA::offset(row_, int(threadIdx.x) % 4);
    b += LayoutB::offset(first_column_ + int(threadIdx.x) % 32 / 4, int(threadIdx.x) % 4);
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) f.a[i][e] = a[LayoutA::offset(16 * i + 8 * (e % 2), 8 * step + 4 * (e / 2))];
#pragma unroll
    for (int j = 0; j < kGroupsN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) f.b[j][e] = b[LayoutB::offset(8 * j, 8 * step + 4 * e)];
  }

  /// Rounds here, so that reading waits for nothing.
  __device__ __forceinline__ void multiply(const Fragment& f) {
    std::uint32_t a[kGroupsM][4], b[kGroupsN][2];
#pragma unroll
    for (int j = 0; j < kGroupsN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) b[j][e] = to_tf32(f.b[j][e]);
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) a[i][e] = to_tf32(f.a[i][e]);
    Sums::for_each_tile([&](auto& sum, int i, int j) { mma_tf32(sum, a[i], b[j]); });
  }
};

}  // namespace tessera::cuda
