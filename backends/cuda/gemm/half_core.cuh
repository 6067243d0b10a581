// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A core for 16-bit elements on mma.sync m16n8k16, sums in f32: a prototype that nothing uses yet.
#pragma once

#include "tile_loader.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

namespace tessera::cuda {

template <bool kTranspose>
__device__ __forceinline__ void load_matrices(unsigned (&d)[4], std::uint32_t address) {
  if constexpr (kTranspose)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
}
template <class T>
__device__ __forceinline__ void mma16(float (&d)[4], const unsigned (&a)[4], const unsigned* b) {
  if constexpr (std::is_same_v<T, __half>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <class TT, int kMV, int kNV, int kTileKV, int kWarpM, int kWarpN, bool kKA, bool kKB>
class HalfCore {
 public:
  using T = TT;
  using Sum = float;
  static constexpr int kM = kMV, kN = kNV, kTileK = kTileKV;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKA, kKMajorB = kKB;
  static constexpr int kVectorA = 8, kVectorB = 8, kSteps = kTileK / 16;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;
  template <int kExtent, bool kKMajor>
  using Layout = std::conditional_t<kKMajor, KMajor<kExtent, kTileK, 8>, ExtentMajor<kExtent, kTileK, 8>>;
  using LayoutA = Layout<kM, kKMajorA>;
  using LayoutB = Layout<kN, kKMajorB>;
  static constexpr int kSegmentWidth = 2, kSegments = kWarpM * kWarpN / 64;
  struct Fragment {
    unsigned a[kWarpM / 16][4], b[kWarpN / 16][4];
  };
  __device__ HalfCore() {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, q = lane / 8, r = lane % 8;
    const int fm = warp / kWarpsN * kWarpM, fn = warp % kWarpsN * kWarpN;
    row_ = fm + lane / 4;
    column_ = fn + lane % 4 * 2;
    at_a_ = 2 * (kKMajorA ? LayoutA::offset(fm + q % 2 * 8 + r, q / 2 * 8)
                          : LayoutA::offset(fm + q % 2 * 8, q / 2 * 8 + r));
    at_b_ = 2 * (kKMajorB ? LayoutB::offset(fn + q / 2 * 8 + r, q % 2 * 8)
                          : LayoutB::offset(fn + q / 2 * 8, q % 2 * 8 + r));
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum_[i][j][e] = 0.f;
  }
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    const std::uint32_t pa = shared_address(a) + at_a_, pb = shared_address(b) + at_b_;
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i) load_matrices<!kKMajorA>(f.a[i], pa + 2 * LayoutA::offset(16 * i, 16 * step));
#pragma unroll
    for (int j = 0; j < kGroupsN / 2; ++j)
      load_matrices<!kKMajorB>(f.b[j], pb + 2 * LayoutB::offset(16 * j, 16 * step));
  }
  __device__ __forceinline__ void multiply(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j) {
        const int back = i % 2 ? kGroupsN - 1 - j : j;
        mma16<T>(sum_[i][back], f.a[i], &f.b[back / 2][back % 2 * 2]);
      }
  }
  __device__ __forceinline__ int row(int segment) const {
    return row_ + 16 * (segment / (2 * kGroupsN)) + 8 * (segment / kGroupsN % 2);
  }
  __device__ __forceinline__ int column(int segment) const { return column_ + 8 * (segment % kGroupsN); }
  __device__ __forceinline__ float element(int segment, int e) const {
    return sum_[segment / (2 * kGroupsN)][segment % kGroupsN][2 * (segment / kGroupsN % 2) + e];
  }

 private:
  static constexpr int kWarpsN = kN / kWarpN, kGroupsM = kWarpM / 16, kGroupsN = kWarpN / 8;
  int row_, column_;
  std::uint32_t at_a_, at_b_;
  float sum_[kGroupsM][kGroupsN][4];
};

}  // namespace tessera::cuda
