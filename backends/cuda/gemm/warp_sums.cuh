// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sums of a warp that multiplies on the tensor cores.
#pragma once

namespace tessera::cuda {

/// kWarpM x kWarpN sums of a warp, kWarpsN of which lie beside one another, in tiles of 16 x 8 as PTX's mma.sync has
/// them: with g = lane / 4 and t = lane % 4 a thread has sum[2 x + e] = (g + 8 x, 2 t + e) of each.
template <class S, int kWarpM, int kWarpN, int kWarpsN>
class WarpSums {
 public:
  using Sum = S;
  static constexpr int kSegmentWidth = 2;
  static constexpr int kSegments = kWarpM * kWarpN / 32 / kSegmentWidth;
  /// Rows of C that are read at a time, and whether it is asked for before the first product.
  template <bool kCluster>
  static constexpr int kRowsAhead = 32 / int(sizeof(S));
  static constexpr bool kPrefetchesC = true;

  __device__ WarpSums() {
    const int warp = int(threadIdx.x) / 32;
    row_ = warp / kWarpsN * kWarpM + int(threadIdx.x) % 32 / 4;
    first_column_ = warp % kWarpsN * kWarpN;
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum_[i][j][e] = S(0);
  }

  /// The thread's elements as segments of kSegmentWidth neighbours in a row: segment = (i * 2 + x) * groups + j.
  __device__ __forceinline__ int row(int segment) const {
    const int i = segment / (2 * kGroupsN), x = segment / kGroupsN % 2;
    return row_ + 16 * i + 8 * x;
  }
  __device__ __forceinline__ int column(int segment) const {
    return first_column_ + 8 * (segment % kGroupsN) + 2 * (int(threadIdx.x) % 4);
  }
  __device__ __forceinline__ S element(int segment, int e) const {
    return sum_[segment / (2 * kGroupsN)][segment % kGroupsN][2 * (segment / kGroupsN % 2) + e];
  }
  __device__ __forceinline__ void set(int segment, int e, S value) {
    sum_[segment / (2 * kGroupsN)][segment % kGroupsN][2 * (segment / kGroupsN % 2) + e] = value;
  }

 protected:
  static constexpr int kGroupsM = kWarpM / 16, kGroupsN = kWarpN / 8;
  static_assert(kWarpM % 16 == 0 && kWarpN % 8 == 0);

  /// Tiles (i, j) back and forth: operands stay in the reuse cache.
  template <class Multiply>
  __device__ __forceinline__ void for_each_tile(const Multiply& multiply) {
#pragma unroll
    for (int i = 0; i < kGroupsM; ++i)
#pragma unroll
      for (int j = 0; j < kGroupsN; ++j) {
        const int back = i % 2 ? kGroupsN - 1 - j : j;
        multiply(sum_[i][back], i, back);
      }
  }

  int row_, first_column_;

 private:
  S sum_[kGroupsM][kGroupsN][4];
};

}  // namespace tessera::cuda
