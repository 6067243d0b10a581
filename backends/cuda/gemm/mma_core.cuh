// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles of doubles on the tensor cores (PTX mma.sync, shape m16n8k4, or m8n8k4
/// before compute capability 9.0).
#pragma once

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

/// kM x kN tiles of C, kDepth of k at a time; a warp computes kWarpM x kWarpN of it.
template <int kMValue, int kNValue, int kDepthValue, int kWarpM, int kWarpN, bool kADepthValue, bool kBDepthValue>
class MmaCore {
 public:
  using T = double;
  static constexpr int kM = kMValue, kN = kNValue, kDepth = kDepthValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kADepth = kADepthValue, kBDepth = kBDepthValue;  ///< contiguous in memory: the depth?
  static constexpr int kWideA = 2, kWideB = 2;                           ///< elements of the widest copy
  static constexpr int kSteps = kDepth / 4;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;  ///< a tile's copies are spread over so many steps
  template <int kExtent, bool kAlongDepth>
  using Layout = std::conditional_t<kAlongDepth, ExtentRows<kExtent, kDepth, 4>, DepthRows<kExtent, kDepth, 4>>;
  using LayoutA = Layout<kM, kADepth>;
  using LayoutB = Layout<kN, kBDepth>;
  static constexpr int kTilePad = 8;  ///< of rows of C in shared memory, for the banks
  static constexpr int kPieceWidth = 2;
  static constexpr int kPieces = kWarpM * kWarpN / 32 / kPieceWidth;

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

  /// The thread's elements as pieces of kPieceWidth neighbours in a row: piece = (i * 2 + x) * groups + j.
  __device__ __forceinline__ int row(int piece) const {
    const int i = piece / (2 * kGroupsN), x = piece / kGroupsN % 2;
    return row_ + 16 * i + 8 * x;
  }
  __device__ __forceinline__ int column(int piece) const {
    return first_column_ + 8 * (piece % kGroupsN) + 2 * (int(threadIdx.x) % 4);
  }
  __device__ __forceinline__ T element(int piece, int e) const {
    return sum_[piece / (2 * kGroupsN)][piece % kGroupsN][2 * (piece / kGroupsN % 2) + e];
  }

 private:
  static constexpr int kWarpsN = kN / kWarpN, kGroupsM = kWarpM / 16, kGroupsN = kWarpN / 8;
  static_assert(sizeof(T) == 8 && kWarpM % 16 == 0 && kWarpN % 8 == 0);

  int row_, first_column_;
  T sum_[kGroupsM][kGroupsN][4];
};

}  // namespace tessera::cuda
