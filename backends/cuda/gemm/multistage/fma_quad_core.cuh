// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner product of narrow tiles on the multiply-add units whose long operand is K-major. It is read along k, four
/// elements at a time, and so copied 16 bytes at a time. A narrow tile waits for memory: transposing the long operand
/// word by word halved its rate. A large tile has no registers for this.
#pragma once

#include "multistage_tiles.hpp"
#include "tile_loader.cuh"

#include <type_traits>

namespace tessera::cuda {

/// Like FmaCore, but four of k a step. kALong: A is the long operand, else B. Of its extent a thread has one element of
/// each lane group: with a pad of 4 words the banks differ.
template <int kMValue, int kNValue, int kTileKValue, int kWarpM, int kWarpN, int kThreadM, int kThreadN, bool kALong,
          bool kKMajorOther>
class FmaQuadCore {
 public:
  using T = float;
  using Sum = T;
  static constexpr bool kOneWriter = false;  ///< D is written in one way alone, and one kernel does all
  static constexpr bool kTriangles = false;  ///< kernels for any arguments compute triangles
  static constexpr int kM = kMValue, kN = kNValue, kTileK = kTileKValue;
  static constexpr int kThreads = 32 * (kM / kWarpM) * (kN / kWarpN);
  static constexpr bool kKMajorA = kALong || kKMajorOther, kKMajorB = !kALong || kKMajorOther;
  static constexpr int kVectorOther = kKMajorOther ? 1 : 4;  ///< elements of the widest copy
  static constexpr int kVectorA = kALong ? 4 : kVectorOther, kVectorB = kALong ? kVectorOther : 4;
  static constexpr int kQuad = 4, kSteps = kTileK / kQuad;
  template <bool kCluster>
  static constexpr int kCopyParts = 1;
  template <bool kCluster>
  static constexpr int kRowsAhead = kCluster ? 6 : 4;
  static constexpr bool kPrefetchesC = false;
  using Pads = MultistageLayout<T>;
  template <int kExtent, bool kLong>
  using Layout = std::conditional_t<kLong, KMajor<kExtent, kTileK, Pads::kKMajorPad>,
                                    ExtentMajor<kExtent, kTileK, kKMajorOther ? Pads::kExtentMajorPad : 0>>;
  using LayoutA = Layout<kM, kALong>;
  using LayoutB = Layout<kN, !kALong>;
  static constexpr int kTilePad = Pads::kResultPad;
  static constexpr int kSegmentWidth = kALong ? 4 : 1;
  static constexpr int kSegments = kThreadM * kThreadN / kSegmentWidth;

  struct Fragment {
    alignas(16) T a[kThreadM][kQuad];  // read four at a time
    alignas(16) T b[kThreadN][kQuad];
  };

  __device__ FmaQuadCore() {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    row_ = warp / kWarpsN * kWarpM + lane / kLanesN * (kALong ? 1 : 4);
    column_ = warp % kWarpsN * kWarpN + lane % kLanesN * (kALong ? 4 : 1);
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) sum_[i][j] = T(0);
  }

  /// What step `step` multiplies.
  __device__ __forceinline__ void read(Fragment& f, const T* a, const T* b, int step) const {
    read_operand<LayoutA, kALong, kLanesM>(f.a, a, row_, step * kQuad);
    read_operand<LayoutB, !kALong, kLanesN>(f.b, b, column_, step * kQuad);
  }

  __device__ __forceinline__ void multiply(const Fragment& f) {
#pragma unroll
    for (int p = 0; p < kQuad; ++p)
#pragma unroll
      for (int i = 0; i < kThreadM; ++i)
#pragma unroll
        for (int j = 0; j < kThreadN; ++j) {
          const int back = i % 2 ? kThreadN - 1 - j : j;  // back and forth: operands stay in the reuse cache
          sum_[i][back] = fma(f.a[i][p], f.b[back][p], sum_[i][back]);
        }
  }

  /// The thread's elements as segments of kSegmentWidth neighbours in a row.
  __device__ __forceinline__ int row(int segment) const {
    return row_ + place<kALong, kLanesM>(segment * kSegmentWidth / kThreadN);
  }
  __device__ __forceinline__ int column(int segment) const {
    return column_ + place<!kALong, kLanesN>(segment * kSegmentWidth % kThreadN);
  }
  __device__ __forceinline__ T element(int segment, int i) const {
    return sum_[segment * kSegmentWidth / kThreadN][segment * kSegmentWidth % kThreadN + i];
  }

 private:
  static constexpr int kWarpsN = kN / kWarpN;
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static_assert(kLanesM * kLanesN == 32);

  /// Of the thread's element `i`, from its first one: one of each group of lanes, or four neighbours.
  template <bool kLong, int kLanes>
  static __device__ constexpr int place(int i) {
    return kLong ? i * kLanes : i / 4 * (4 * kLanes) + i % 4;
  }

  template <class Layout, bool kLong, int kLanes, int kCount>
  static __device__ __forceinline__ void read_operand(T (&to)[kCount][kQuad], const T* tile, int first, int k) {
    const auto four = [&](int i, int p) {
      return *reinterpret_cast<const float4*>(tile + Layout::offset(first + place<kLong, kLanes>(i), k + p));
    };
    if constexpr (kLong) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) *reinterpret_cast<float4*>(to[i]) = four(i, 0);
    } else {
#pragma unroll
      for (int p = 0; p < kQuad; ++p)
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
          const float4 of_extent = four(i, p);
          to[i][p] = of_extent.x, to[i + 1][p] = of_extent.y, to[i + 2][p] = of_extent.z, to[i + 3][p] = of_extent.w;
        }
    }
  }

  int row_, column_;
  T sum_[kThreadM][kThreadN];
};

}  // namespace tessera::cuda
