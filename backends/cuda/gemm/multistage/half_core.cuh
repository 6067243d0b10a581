// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles of 16-bit elements on the tensor cores (PTX mma.sync, shape m16n8k16, with ldmatrix):
/// products are exact, sums are of f32.
#pragma once

#include "../load_matrices.cuh"
#include "../warp_sums.cuh"
#include "multistage_tiles.hpp"
#include "tile_loader.cuh"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// d += a b for a warp: a 16 x 16, b 16 x 8, d 16 x 8.
__device__ __forceinline__ void mma(float16, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void mma(bfloat16, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// kM x kN tiles of D, kTileK of k at a time; a warp computes kWarpM x kWarpN of it.
template <class TValue, int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, bool kKMajorAValue,
          bool kKMajorBValue>
class HalfCore : public WarpSums<Scalar<TValue>, kWarpM, kWarpN, kNValue / kWarpN> {
  using Sums = WarpSums<Scalar<TValue>, kWarpM, kWarpN, kNValue / kWarpN>;
  using Sums::kGroupsM, Sums::kGroupsN;

 public:
  using T = TValue;
  static constexpr bool kOneWriter = true;   ///< D is written in one way alone, and one kernel does all
  static constexpr bool kTriangles = false;  ///< kernels for any arguments compute triangles
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKMajorAValue, kKMajorB = kKMajorBValue;  ///< k is contiguous in memory
  static constexpr int kVectorA = 8, kVectorB = 8;                           ///< elements of the widest copy
  static constexpr int kSteps = kTileK / 16;
  template <bool kCluster>
  static constexpr int kCopyParts = kSteps - 1;  ///< steps over which a tile's copies are spread
  using Pads = MultistageLayout<T>;
  template <int kExtent, bool kKMajor>
  using Layout = std::conditional_t<kKMajor, KMajor<kExtent, kTileK, Pads::kKMajorPad>,
                                    ExtentMajor<kExtent, kTileK, Pads::kExtentMajorPad>>;
  using LayoutA = Layout<kM, kKMajorA>;
  using LayoutB = Layout<kN, kKMajorB>;
  static constexpr int kTilePad = Pads::kResultPad;

  struct Fragment {
    std::uint32_t a[kGroupsM][4], b[kGroupsN / 2][4];
  };

  /// Of the warp's first 16 x 16 elements of A a lane reads a row of the quarter lane / 8: quarters lie beneath one
  /// another, then beside. Of B's, along k first.
  __device__ HalfCore() {
    const int warp = int(threadIdx.x) / 32, quarter = int(threadIdx.x) % 32 / 8, line = int(threadIdx.x) % 8;
    const int row = warp / (kN / kWarpN) * kWarpM + quarter % 2 * 8, k_of_a = quarter / 2 * 8;
    const int column = warp % (kN / kWarpN) * kWarpN + quarter / 2 * 8, k_of_b = quarter % 2 * 8;
    at_a_ = kKMajorA ? LayoutA::offset(row + line, k_of_a) : LayoutA::offset(row, k_of_a + line);
    at_b_ = kKMajorB ? LayoutB::offset(column + line, k_of_b) : LayoutB::offset(column, k_of_b + line);
  }

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    const std::uint32_t from_a = shared_address(a + at_a_), from_b = shared_address(b + at_b_);
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
      load_matrices<!kKMajorA>(f.a[i], from_a + int(sizeof(T)) * LayoutA::offset(16 * i, 16 * step));
#pragma unroll
    for (int j = 0; j < kGroupsN / 2; ++j)
      load_matrices<!kKMajorB>(f.b[j], from_b + int(sizeof(T)) * LayoutB::offset(16 * j, 16 * step));
  }

  __device__ __forceinline__ void multiply(const Fragment& f) {
    Sums::for_each_tile([&](auto& sum, int i, int j) { mma(T{}, sum, f.a[i], &f.b[j / 2][j % 2 * 2]); });
  }

 private:
  static_assert(sizeof(T) == 2 && kTileK % 16 == 0 && kGroupsN % 2 == 0);

  int at_a_, at_b_;
};

}  // namespace tessera::cuda
