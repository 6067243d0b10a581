// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles of doubles on the tensor cores (PTX mma.sync, shape m16n8k4, or m8n8k4
/// before compute capability 9.0).
#pragma once

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
template <int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, bool kKMajorAValue, bool kKMajorBValue>
class MmaCore {
 public:
  using T = double;
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKMajorAValue, kKMajorB = kKMajorBValue;  ///< k is contiguous in memory
  static constexpr int kVectorA = 2, kVectorB = 2;                           ///< elements of the widest copy
  static constexpr int kSteps = kTileK / 4;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;  ///< steps over which a tile's copies are spread
  template <int kExtent, bool kKMajor>
  using Layout =
      std::conditional_t<kKMajor, KMajor<kExtent, kTileK, kOperandPad>, ExtentMajor<kExtent, kTileK, kOperandPad>>;
  using LayoutA = Layout<kM, kKMajorA>;
  using LayoutB = Layout<kN, kKMajorB>;
  static constexpr int kTilePad = MultistageLayout<T>::kResultPad;
  static constexpr int kSegmentWidth = 2;
  static constexpr int kSegments = kWarpM * kWarpN / 32 / kSegmentWidth;

  struct Fragment {
    T a[kWarpM / 16][2], b[kWarpN / 8];
  };

  __device__ MmaCore() {
    const int warp = int(threadIdx.x) / 32;
    row_ = warp / kWarpsN * kWarpM + int(threadIdx.x) % 32 / 4;
    first_column_ = warp % kWarpsN * kWarpN;
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum_[i][j][e] = T(0);
  }

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    a += LayoutA::offset(row_, int(threadIdx.x) % 4);
    b += LayoutB::offset(first_column_ + int(threadIdx.x) % 32 / 4, int(threadIdx.x) % 4);
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int x = 0; x < 2; ++x) f.a[i][x] = a[LayoutA::offset(16 * i + 8 * x, 4 * step)];
#pragma unroll
    for (int j = 0; j < kGroupsN; ++j) f.b[j] = b[LayoutB::offset(8 * j, 4 * step)];
  }

  __device__ __forceinline__ void multiply(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j) {
        const int back = i % 2 ? kGroupsN - 1 - j : j;
        mma(sum_[i][back], f.a[i], f.b[back]);
      }
  }

  /// The thread's elements as segments of kSegmentWidth neighbours in a row: segment = (i * 2 + x) * groups + j.
  __device__ __forceinline__ int row(int segment) const {
    const int i = segment / (2 * kGroupsN), x = segment / kGroupsN % 2;
    return row_ + 16 * i + 8 * x;
  }
  __device__ __forceinline__ int column(int segment) const {
    return first_column_ + 8 * (segment % kGroupsN) + 2 * (int(threadIdx.x) % 4);
  }
  __device__ __forceinline__ T element(int segment, int e) const {
    return sum_[segment / (2 * kGroupsN)][segment % kGroupsN][2 * (segment / kGroupsN % 2) + e];
  }

 private:
  static constexpr int kWarpsN = kN / kWarpN, kGroupsM = kWarpM / 16, kGroupsN = kWarpN / 8;
  static_assert(sizeof(T) == 8 && kWarpM % 16 == 0 && kWarpN % 8 == 0);

  int row_, first_column_;
  T sum_[kGroupsM][kGroupsN][4];
};

}  // namespace tessera::cuda
