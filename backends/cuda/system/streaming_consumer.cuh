// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Threads of a block that make points: they keep their column of u in registers and read its neighbours from the ring.
/// Sums are taken in one order: the centre, then z, x and y, each from the lowest offset to the highest.
#pragma once

#include "../bulk_copy.cuh"
#include "streaming_access.cuh"
#include "streaming_layout.hpp"

#include <cuda_runtime.h>

namespace tessera::cuda {

template <class Layout>
class StreamingConsumer {
  using T = typename Layout::T;
  using Tile = typename Layout::Tile;
  using Step = StreamingStep<T, Layout::kRadius>;
  static constexpr int R = Layout::kRadius, kVector = Layout::kVector, kPoints = Layout::kPoints, kRows = Tile::kRows;
  static constexpr int kSums = Layout::kSums, kStar = kSums - 1;
  /// Points of a thread in a row.
  struct Row {
    T v[kPoints];
  };
  using Queue = Row[2 * R + 1][kRows];
  using Sums = T[kSums][kRows][kPoints];
  /// Where the thread's first point lies in a plane of u, in the rows from y - R on, one for each class.
  struct Slot {
    std::uint32_t at[Layout::kClasses];
  };

 public:
  __device__ StreamingConsumer(const Step& step, std::uint32_t shared, int first_x, int first_y, int thread)
      : step_(step), shared_(shared) {
    const int x = thread % Layout::kLanes * (Tile::kAligned ? kVector : 1), y = thread / Layout::kLanes * kRows;
    x_ = first_x + x, y_ = first_y + y;
#pragma unroll
    for (int m = 0; m < Layout::kClasses; ++m)
      own_[m] = std::uint32_t((y + m) % Layout::kClasses * Layout::kClassBytes +
                              (y + m) / Layout::kClasses * Layout::kPitch + (Layout::kHalo + x) * Layout::kSize);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      own_stream_[r] = std::uint32_t((y + r) % Layout::kClasses * Layout::kStreamClassBytes +
                                     (y + r) / Layout::kClasses * Layout::kStreamPitch + x * Layout::kSize);
#pragma unroll
    for (int v = 0; v < kPoints; ++v) moves_x_[v] = x_at(v) >= R && x_at(v) < step_.nx - R;
#pragma unroll
    for (int r = 0; r < kRows; ++r) moves_y_[r] = y_ + r >= R && y_ + r < step_.ny - R;
    load_profiles();
  }

  __device__ __forceinline__ void run(int first, int steps) const {
    Queue queue;
    prime(queue, first);
    T ahead_z = profile(2, first);
    barrier_wait(shared_, 0);
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int r = 0; r < kRows; ++r) queue[R + i][r] = load_row(place(slot_at(i, first + i), r));
    int stage = 0, centre = 0, ahead = R;
    std::uint32_t parity = 0;
    // By hand: nvcc 13.0 unrolls `#pragma unroll 3` around barriers without testing the count between the copies.
    for (int k0 = 0;; k0 += Layout::kUnroll) {
#pragma unroll
      for (int j = 0; j < Layout::kUnroll; ++j) {
        if (k0 + j >= steps) return;
        const std::uint32_t full = shared_ + std::uint32_t(stage) * 16;
        const int z = first + k0 + j;
        const T own_z = ahead_z;
        ahead_z = profile(2, z + 1 < step_.nz ? z + 1 : z);
        barrier_wait(full, parity);
        make_plane(queue, z, full, stage, slot_at(centre, z), slot_at(ahead, z + R), own_z);
        shift(queue);
        if (++centre == Layout::kSlots) centre = 0;
        if (++ahead == Layout::kSlots) ahead = 0;
        if (++stage == Layout::kDepth) stage = 0, parity ^= 1;
      }
    }
  }

 private:
  __device__ __forceinline__ int x_at(int v) const { return x_ + v * Layout::kGap; }
  __device__ __forceinline__ bool exists(int r, int v) const { return y_ + r < step_.ny && x_at(v) < step_.nx; }
  __device__ __forceinline__ std::size_t row_start(int z, int r) const {
    return (std::size_t(z) * std::size_t(step_.ny) + std::size_t(y_ + r)) * std::size_t(step_.nx);
  }
  static __host__ __device__ constexpr int offset(int i) { return i < R ? i - R : i - R + 1; }
  __device__ __forceinline__ T profile(int axis, int i) const {
    return step_.profiles[axis] != nullptr ? __ldg(step_.profiles[axis] + i) : T(1);
  }
  __device__ void load_profiles() {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int v = 0; v < kPoints; ++v)
        profile_xy_[r][v] = exists(r, v) ? profile(0, x_at(v)) * profile(1, y_ + r) : T(0);
  }

  static __device__ __forceinline__ Row load_row(std::uint32_t from) {
    Row row;
    if constexpr (Tile::kAligned) {
      detail::load_shared(row.v, from);
    } else {
#pragma unroll
      for (int v = 0; v < kPoints; ++v)
        detail::load_shared(row.v[v], from + std::uint32_t(v * Layout::kGap * Layout::kSize));
    }
    return row;
  }
  /// How many bytes late a row of an array lies in shared memory.
  __device__ __forceinline__ std::uint32_t late(const T* array, int row) const {
    if constexpr (Tile::kAligned) return 0;
    const auto address = std::uint32_t(reinterpret_cast<std::uintptr_t>(array));
    return (address + std::uint32_t(row) * std::uint32_t(step_.nx) * std::uint32_t(Layout::kSize)) & 15;
  }
  __device__ __forceinline__ Slot slot_at(int slot, int z) const {
    Slot s;
#pragma unroll
    for (int m = 0; m < Layout::kClasses; ++m)
      s.at[m] = shared_ + std::uint32_t(Layout::kFirstSlot + slot * Layout::kSlotBytes) + own_[m] +
                late(step_.u, z * step_.ny + y_ - R + m);
    return s;
  }
  /// Of the row y + j, j from -R to kRows - 1 + R.
  static __device__ __forceinline__ std::uint32_t place(const Slot& s, int j) {
    return s.at[(j + R) % Layout::kClasses] + std::uint32_t((j + R) / Layout::kClasses * Layout::kPitch);
  }
  __device__ __forceinline__ Row stream(int stage, int s, int z, int r) const {
    const int slot = stage * Layout::kStreams + s;
    return load_row(shared_ + std::uint32_t(Layout::kFirstStream + slot * Layout::kStreamSlotBytes) + own_stream_[r] +
                    late(step_.streams[s], z * step_.ny + y_ + r));
  }

  /// The planes of u before the first one: only the thread's own points are needed.
  __device__ void prime(Queue& queue, int first) const {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int z = first - R + i;
        const T* const row = step_.u + row_start(z < 0 ? 0 : z, r);
#pragma unroll
        for (int v = 0; v < kPoints; ++v) queue[i][r].v[v] = z >= 0 && exists(r, v) ? __ldg(row + x_at(v)) : T(0);
      }
  }
  static __device__ __forceinline__ void shift(Queue& queue) {
#pragma unroll
    for (int i = 0; i < 2 * R; ++i)
#pragma unroll
      for (int r = 0; r < kRows; ++r) queue[i][r] = queue[i + 1][r];
  }

  /// One plane: the newest value of the column, the sums, release of the ring's slots, the store.
  __device__ __forceinline__ void make_plane(Queue& queue, int z, std::uint32_t full, int stage, const Slot& centre,
                                             const Slot& ahead, T profile_z) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) queue[2 * R][r] = load_row(place(ahead, r));
    Sums sums;
    Row next[kRows];
    add_centre(sums, queue[R]);
    add_z(sums, queue);
    add_x(sums, queue[R], centre);
    add_y(sums, queue[R], centre);
#pragma unroll
    for (int r = 0; r < kRows; ++r) next[r] = finish(sums, queue[R][r], stage, z, r, profile_z);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(full + 8);
    store(next, z);
  }
  __device__ __forceinline__ void add_centre(Sums& sums, const Row (&own)[kRows]) const {
#pragma unroll
    for (int s = 0; s < kSums; ++s)
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int v = 0; v < kPoints; ++v) sums[s][r][v] = step_.centre[s == kStar ? 1 : 0] * own[r].v[v];
  }
  __device__ __forceinline__ void add_z(Sums& sums, const Queue& queue) const {
#pragma unroll
    for (int i = 0; i < 2 * R; ++i)
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int v = 0; v < kPoints; ++v)
          sums[kStar][r][v] = fma(step_.z[i], queue[i < R ? i : i + 1][r].v[v], sums[kStar][r][v]);
  }
  __device__ __forceinline__ void add_x(Sums& sums, const Row (&own)[kRows], const Slot& slot) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if constexpr (Tile::kAligned) {
        constexpr int kSide = Layout::kHaloVectors;
        T around[(2 * kSide + 1) * kVector];  // the vectors beside the thread's
#pragma unroll
        for (int h = 0; h <= 2 * kSide; ++h) {
          const Row row = h == kSide ? own[r] : load_row(place(slot, r) + std::uint32_t((h - kSide) * 16));
#pragma unroll
          for (int v = 0; v < kVector; ++v) around[h * kVector + v] = row.v[v];
        }
#pragma unroll
        for (int i = 0; i < 2 * R; ++i)
#pragma unroll
          for (int v = 0; v < kPoints; ++v)
            sums[kStar][r][v] = fma(step_.x[i], around[Layout::kHalo + v + offset(i)], sums[kStar][r][v]);
      } else {
#pragma unroll
        for (int i = 0; i < 2 * R; ++i) {
          const Row row = load_row(place(slot, r) + std::uint32_t(offset(i) * Layout::kSize));
#pragma unroll
          for (int v = 0; v < kPoints; ++v) sums[kStar][r][v] = fma(step_.x[i], row.v[v], sums[kStar][r][v]);
        }
      }
    }
  }
  __device__ __forceinline__ void add_y(Sums& sums, const Row (&own)[kRows], const Slot& slot) const {
#pragma unroll
    for (int j = -R; j < kRows + R; ++j) {
      const Row row = j >= 0 && j < kRows ? own[j < 0 ? 0 : j < kRows ? j : kRows - 1] : load_row(place(slot, j));
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int o = j - r;
        if (o == 0 || o < -R || o > R) continue;
#pragma unroll
        for (int v = 0; v < kPoints; ++v)
          sums[kStar][r][v] = fma(step_.y[o < 0 ? o + R : o + R - 1], row.v[v], sums[kStar][r][v]);
      }
    }
  }

  /// What the point itself adds to row r, the profiles, and the points that keep their values.
  __device__ __forceinline__ Row finish(const Sums& sums, const Row& own, int stage, int z, int r, T profile_z) const {
    constexpr int kArrayStream = Layout::kOther ? 1 : 0;
    Row other, array, damping, next;
    if constexpr (Layout::kOther) other = stream(stage, 0, z, r);
    if constexpr (Layout::kArray) array = stream(stage, kArrayStream, z, r);
    if constexpr (Layout::kDamping) damping = stream(stage, kArrayStream + 1, z, r);
    const bool moves = z >= R && z < step_.nz - R && moves_y_[r];
#pragma unroll
    for (int v = 0; v < kPoints; ++v) {
      T value = sums[0][r][v];
      if constexpr (Layout::kOther) value = fma(step_.other, other.v[v], value);
      if constexpr (Layout::kDamping) value *= damping.v[v];
      if constexpr (Layout::kArray) value = fma(array.v[v], sums[kStar][r][v], value);
      value *= profile_xy_[r][v] * profile_z;
      next.v[v] = moves && moves_x_[v] ? value : own.v[v];
    }
    return next;
  }
  __device__ __forceinline__ void store(const Row (&next)[kRows], int z) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      T* const row = step_.next + row_start(z, r);
      if constexpr (Tile::kAligned) {
        if (exists(r, 0)) detail::store_streaming(row + x_, next[r].v);
      } else {
#pragma unroll
        for (int v = 0; v < kPoints; ++v)
          if (exists(r, v)) __stcs(row + x_at(v), next[r].v[v]);
      }
    }
  }

  const Step& step_;
  std::uint32_t shared_;
  int x_, y_;  ///< the thread's first point
  std::uint32_t own_[Layout::kClasses], own_stream_[kRows];
  bool moves_x_[kPoints], moves_y_[kRows];  ///< the star stays inside
  T profile_xy_[kRows][kPoints];
};

}  // namespace tessera::cuda
