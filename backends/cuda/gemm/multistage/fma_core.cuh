// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of tiles on the multiply-add units: each thread keeps kThreadM x kThreadN elements
/// of C in registers.
#pragma once

#include "multistage_tiles.hpp"
#include "tile_loader.cuh"

namespace tessera::cuda {

/// kM x kN tiles of C, kTileK of k at a time; a warp computes kWarpM x kWarpN of it, a thread
/// kThreadM x kThreadN in groups of 4 x 4, so that a warp reads 16-byte words that lie next to one another.
template <int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, int kThreadM, int kThreadN,
          bool kKMajorAValue, bool kKMajorBValue>
class FmaCore {
 public:
  using T = float;
  using Sum = T;
  static constexpr bool kOneWriter = false;  ///< D is written in one way alone, and one kernel does all
  static constexpr bool kTriangles = kMValue > 16 && kNValue > 16;  ///< kernels for any arguments compute triangles
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kKMajorAValue, kKMajorB = kKMajorBValue;       ///< k is contiguous in memory
  static constexpr int kVectorA = kKMajorA ? 1 : 4, kVectorB = kKMajorB ? 1 : 4;  ///< elements of the widest copy
  static constexpr int kSteps = kTileK;
  /// Steps over which a tile's copies are spread. Chosen by measurement, with an eye on the compiler: where
  /// registers are short, spreading makes it spill, or leaves the three operands of a multiply-add in one bank of
  /// the register file, which costs 8 %.
  template <bool kCluster>
  static constexpr int kCopyParts = kM* kN < 128 * 128 || (kKMajorA && kKMajorB) ? 1
                                    : kCluster                                   ? 3
                                                                                 : 4;
  /// Rows of C that are read at a time, chosen likewise, and whether kernels for any arguments ask for C sooner.
  template <bool kCluster>
  static constexpr int kRowsAhead = kCluster ? 6 : 4;
  static constexpr bool kPrefetchesC = false;
  // Extent-major in shared memory in any case: a K-major operand is transposed on its way, word by word.
  static constexpr int kPad = MultistageLayout<T>::kExtentMajorPad;
  using LayoutA = ExtentMajor<kM, kTileK, kKMajorA ? kPad : 0>;
  using LayoutB = ExtentMajor<kN, kTileK, kKMajorB ? kPad : 0>;
  static constexpr int kTilePad = MultistageLayout<T>::kResultPad;
  static constexpr int kSegmentWidth = 4;
  static constexpr int kSegments = kThreadM * kThreadN / kSegmentWidth;

  struct Fragment {
    alignas(16) T a[kThreadM];  // read four at a time
    alignas(16) T b[kThreadN];
  };

  __device__ FmaCore() {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    row_ = warp / kWarpsN * kWarpM + lane / kLanesN * 4;
    column_ = warp % kWarpsN * kWarpN + lane % kLanesN * 4;
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) sum_[i][j] = T(0);
  }

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
#pragma unroll
    for (int g = 0; g < kThreadM / 4; ++g)
      *reinterpret_cast<float4*>(f.a + 4 * g) =
          *reinterpret_cast<const float4*>(a + LayoutA::offset(row_ + g * 4 * kLanesM, step));
#pragma unroll
    for (int g = 0; g < kThreadN / 4; ++g)
      *reinterpret_cast<float4*>(f.b + 4 * g) =
          *reinterpret_cast<const float4*>(b + LayoutB::offset(column_ + g * 4 * kLanesN, step));
  }

  __device__ __forceinline__ void multiply(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) {
        const int back = i % 2 ? kThreadN - 1 - j : j;  // back and forth: operands stay in the reuse cache
        sum_[i][back] = fma(f.a[i], f.b[back], sum_[i][back]);
      }
  }

  /// The thread's elements as segments of kSegmentWidth neighbours in a row.
  __device__ __forceinline__ int row(int segment) const {
    const int i = segment / kGroupsN;
    return row_ + i / 4 * (4 * kLanesM) + i % 4;
  }
  __device__ __forceinline__ int column(int segment) const { return column_ + segment % kGroupsN * (4 * kLanesN); }
  __device__ __forceinline__ T element(int segment, int i) const {
    return sum_[segment / kGroupsN][segment % kGroupsN * 4 + i];
  }

 private:
  static constexpr int kWarpsN = kN / kWarpN;
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN, kGroupsN = kThreadN / 4;
  static_assert(kLanesM * kLanesN == 32);

  int row_, column_;
  T sum_[kThreadM][kThreadN];
};

}  // namespace tessera::cuda
