// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles of doubles on the tensor cores (PTX mma.sync, shape m16n8k4, or m8n8k4
/// before compute capability 9.0).
#pragma once

#include "../warp_sums.cuh"
#include "multistage_tiles.hpp"
#include "tile_loader.cuh"

#include <type_traits>

namespace tessera::cuda {

/// d += a b for a warp: a 16 x 4, b 4 x 8, d 16 x 8. With g = lane / 4 and t = lane % 4 a thread gives
/// a[x] = a(g + 8 x, t) and b(t, g), and has d[2 x + e] = d(g + 8 x, 2 t + e).
__device__ __forceinline__ void mma(double (&d)[4], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int x = 0; x < 2; ++x)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[2 * x]), "+d"(d[2 * x + 1])
                 : "d"(a[x]), "d"(b));
#endif
}

/// kM x kN tiles of C, kTileK of k at a time; a warp computes kWarpM x kWarpN of it.
/// kTight: without pads, which are faster.
template <int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, bool kKMajorAValue, bool kKMajorBValue,
          bool kTight>
class MmaCore : public WarpSums<double, kWarpM, kWarpN, kNValue / kWarpN> {
  using Sums = WarpSums<double, kWarpM, kWarpN, kNValue / kWarpN>;
  using Sums::kGroupsM, Sums::kGroupsN, Sums::row_, Sums::first_column_;

 public:
  using T = double;
  static constexpr bool kOneWriter = false;  ///< D is written in one way alone, and one kernel does all
  static constexpr bool kTriangles = true;   ///< kernels for any arguments compute triangles
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKMajorAValue, kKMajorB = kKMajorBValue;  ///< k is contiguous in memory
  static constexpr int kVectorA = 2, kVectorB = 2;                           ///< elements of the widest copy
  static constexpr int kSteps = kTileK / 4;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;  ///< steps over which a tile's copies are spread
  using Pads = MultistageLayout<T>;
  template <int kExtent>
  using KMajorLayout =
      std::conditional_t<kTight, KMajorSwizzled<kExtent, kTileK>, KMajor<kExtent, kTileK, Pads::kKMajorPad>>;
  template <int kExtent, bool kKMajor>
  using Layout =
      std::conditional_t<kKMajor, KMajorLayout<kExtent>, ExtentMajor<kExtent, kTileK, Pads::kExtentMajorPad>>;
  using LayoutA = Layout<kM, kKMajorA>;
  using LayoutB = Layout<kN, kKMajorB>;
  static constexpr int kTilePad = Pads::kResultPad;

  struct Fragment {
    T a[kWarpM / 16][2], b[kWarpN / 8];
  };

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    a += LayoutA::offset(row_, int(threadIdx.x) % 4 + 4 * step);
    b += LayoutB::offset(first_column_ + int(threadIdx.x) % 32 / 4, int(threadIdx.x) % 4 + 4 * step);
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int x = 0; x < 2; ++x) f.a[i][x] = a[LayoutA::offset(16 * i + 8 * x, 0)];
#pragma unroll
    for (int j = 0; j < kGroupsN; ++j) f.b[j] = b[LayoutB::offset(8 * j, 0)];
  }

  __device__ __forceinline__ void multiply(const Fragment& f) {
    Sums::for_each_tile([&](auto& sum, int i, int j) { mma(sum, f.a[i], f.b[j]); });
  }
};

}  // namespace tessera::cuda
