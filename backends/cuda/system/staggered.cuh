// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stages of staggered systems: up to six fields are made in place, each from itself at the point and one-dimensional
/// differences of other fields:
///   next = own * m + sum over groups of A * (sum over the group's differences D),
///   A = scale, scale * array, or scale * (1 / array),
///   D = sum over t of c[t] * f[p + (first + t) e_axis], 2 R taps, first = -R (behind) or -R + 1 (ahead).
/// Order: D from the lowest tap on, sums of D in the order of the list, from group to group, at last own * m.
#pragma once

#include "row_points.cuh"
#include "staggered.hpp"

namespace tessera::cuda {

template <class T, int R>
struct StageDifference {
  const T* field;
  T c[2 * R];
  int first, axis;  ///< axis 0: z, 1: y, 2: x, 3: none, D = c[0] f[p]
};
template <class T>
struct StageGroup {
  T scale;
  signed char factor;        ///< -1: none
  signed char first, count;  ///< of `list`
};
template <class T>
struct StageMade {
  T* at;
  T own;
  int low[3], high[3];  ///< the points that move: z, y, x
  int first, count;     ///< of `groups`
};
template <class T>
struct StageFactor {
  const T* array;
  int reciprocal;
};
template <class T, int R>
struct StageStep {
  int nx, ny, nz, plane;  ///< plane = nx * ny
  int tiles_x, panel;     ///< tiles of a row; rows of tiles in a panel
  int made_count, difference_count, factor_count;
  StageMade<T> made[kMostStageMade];
  StageGroup<T> groups[kMostStageGroups];
  StageFactor<T> factors[kMostStageFactors];
  StageDifference<T, R> differences[kMostStageDifferences];
  signed char list[kMostStageList];
};
static_assert(sizeof(StageStep<double, 2>) <= 4096, "kernel arguments");

/// A thread's points: `row` is where its row begins in each array.
template <class T, int R, bool kAligned>
struct StagePlace {
  Along<T, kAligned> x;
  int y, z;
  std::ptrdiff_t row;
  bool exists;
  /// Panels: blocks go along x, then the panel's rows of tiles, then z, then on to the next panel.
  __device__ __forceinline__ explicit StagePlace(const StageStep<T, R>& s) {
    using Points = RowPoints<T, kAligned>;
    const int tile_y = int(blockIdx.x) / s.tiles_x, tile_x = int(blockIdx.x) - tile_y * s.tiles_x;
    x.nx = s.nx;
    x.x = kAligned ? (tile_x * int(blockDim.x) + int(threadIdx.x)) * Points::kPoints
                   : tile_x * 32 * Points::kPoints + int(threadIdx.x);
    y = (int(blockIdx.z) * s.panel + tile_y) * int(blockDim.y) + int(threadIdx.y);
    z = int(blockIdx.y) * int(blockDim.z) + int(threadIdx.z);
    exists = x.x < s.nx && y < s.ny && z < s.nz;
    row = (std::ptrdiff_t(z) * s.ny + y) * s.nx;
  }
};

/// A factor at the thread's points.
template <class T, int R, bool kAligned>
__device__ __forceinline__ RowPoints<T, kAligned> stage_factor(const StageFactor<T>& f,
                                                               const StagePlace<T, R, kAligned>& p) {
  RowPoints<T, kAligned> value = p.x.load(f.array + p.row);
  if (f.reciprocal)
#pragma unroll
    for (int v = 0; v < value.kPoints; ++v) value.v[v] = T(1) / value.v[v];
  return value;
}
template <class T>
__device__ __forceinline__ bool stage_row_moves(const StageMade<T>& m, int y, int z) {
  return z >= m.low[0] && z < m.high[0] && y >= m.low[1] && y < m.high[1];
}

// ---- The differences

/// The taps of a difference along any axis, by loads that do not depend on it. Aligned and along x: the vectors before,
/// at and behind the thread's points, or (R = 1) the one at them and the one beside.
template <class T, int R, bool kAligned>
struct StageTaps {
  using Points = RowPoints<T, kAligned>;
  static constexpr int N = Points::kPoints;
  static_assert(!kAligned || R <= N, "a vector holds what is read beside another");
  Points at[2 * R];

  __device__ __forceinline__ void load(const StageStep<T, R>& s, const StageDifference<T, R>& d,
                                       const StagePlace<T, R, kAligned>& p) {
    const bool along = d.axis == 2;
    const int lowest = (d.axis == 0 ? p.z : p.y) + d.first, count = d.axis == 0 ? s.nz : s.ny;
    const bool inside = d.axis < 2 && lowest >= 0 && lowest + 2 * R <= count;
    const int step = inside ? d.axis == 0 ? s.plane : s.nx : 0;
    const T* const from = d.field + p.row + std::ptrdiff_t(d.first) * step;
#pragma unroll
    for (int t = 0; t < 2 * R; ++t) {
      if constexpr (kAligned) {
        const int before = p.x.x >= N ? -N : 0, behind = p.x.x + N < s.nx ? N : 0;
        const int beside = R == 1   ? (t == 0          ? 0
                                       : d.first == -R ? before
                                                       : behind)
                           : t == 0 ? before
                           : t == 2 ? behind
                                    : 0;
        at[t] = p.x.load(from + (along ? beside : t * step));
      } else {
        at[t] = p.x.load_beside(from + t * step, along ? d.first + t : 0);
      }
    }
  }
  __device__ __forceinline__ Points sum(const StageDifference<T, R>& d) const {
    Points sum;
    if (kAligned && d.axis == 2) {
      T w[N + 2 * R - 1];
      window(d.first != -R, w);
#pragma unroll
      for (int v = 0; v < N; ++v) {
        sum.v[v] = d.c[0] * w[v];
#pragma unroll
        for (int t = 1; t < 2 * R; ++t) sum.v[v] = fma(d.c[t], w[v + t], sum.v[v]);
      }
    } else {
#pragma unroll
      for (int v = 0; v < N; ++v) sum.v[v] = d.c[0] * at[0].v[v];
      if (d.axis != 3)
#pragma unroll
        for (int v = 0; v < N; ++v)
#pragma unroll
          for (int t = 1; t < 2 * R; ++t) sum.v[v] = fma(d.c[t], at[t].v[v], sum.v[v]);
    }
    return sum;
  }

 private:
  __device__ __forceinline__ void window(bool ahead, T (&w)[N + 2 * R - 1]) const {
    const Points &own = at[R == 1 ? 0 : 1], &before = at[R == 1 ? 1 : 0], &behind = at[R == 1 ? 1 : 2];
    const auto value = [&](int i) { return i < 0 ? before.v[(i + N) % N] : i < N ? own.v[i % N] : behind.v[i % N]; };
#pragma unroll
    for (int i = 0; i < N + 2 * R - 1; ++i) w[i] = ahead ? value(i - R + 1) : value(i - R);
  }
};

// ---- The stage

/// What runs as copies to shared memory beside the differences, where rows are aligned: nothing, the factors, or the
/// factors and the fields that are made.
enum StageCopies { kNone, kFactors, kAll };

__device__ __forceinline__ void copy_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}

/// A thread's differences and factors wait in shared memory, each taken once, for the fields that are made of them.
template <class T, int R, bool kAligned, int kCopies, int kBatch>
class StageMaker {
  using Points = RowPoints<T, kAligned>;
  static constexpr bool kCopiesFactors = kAligned && kCopies != kNone, kCopiesOwn = kAligned && kCopies == kAll;

 public:
  __device__ __forceinline__ StageMaker(const StageStep<T, R>& s, const StagePlace<T, R, kAligned>& p,
                                        unsigned char* memory)
      : s_(s), p_(p), threads_(int(blockDim.x * blockDim.y * blockDim.z)) {
    const int thread = int((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    stash_ = reinterpret_cast<Points*>(memory) + thread;
  }
  __device__ __forceinline__ void run() const {
    take_factors();
    if constexpr (kCopiesOwn) copy_own();
#pragma unroll 1
    for (int i = 0; i < s_.difference_count; i += kBatch) {
      const int left = s_.difference_count - i;
      if (left >= kBatch)
        take<kBatch>(i);
      else if (kBatch == 3 && left == 2)
        take<2>(i);
      else
        take<1>(i);
    }
    if constexpr (kCopiesFactors) finish_copies();
    if (s_.made_count > 3)
      make<6>();
    else
      make<3>();
  }

 private:
  __device__ __forceinline__ Points& slot(int i) const { return stash_[i * threads_]; }
  __device__ __forceinline__ Points& factor_slot(int f) const { return slot(s_.difference_count + f); }
  __device__ __forceinline__ Points& own_slot(int m) const { return slot(s_.difference_count + s_.factor_count + m); }

  __device__ __forceinline__ void take_factors() const {
#pragma unroll 1
    for (int f = 0; f < s_.factor_count; ++f) {
      if constexpr (kCopiesFactors)
        copy_16(&factor_slot(f), s_.factors[f].array + p_.row + p_.x.x);
      else
        factor_slot(f) = stage_factor<T, R, kAligned>(s_.factors[f], p_);
    }
  }
  __device__ __forceinline__ void copy_own() const {
#pragma unroll 1
    for (int m = 0; m < s_.made_count; ++m) copy_16(&own_slot(m), s_.made[m].at + p_.row + p_.x.x);
  }
  __device__ __forceinline__ void finish_copies() const {
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll 1
    for (int f = 0; f < s_.factor_count; ++f)
      if (s_.factors[f].reciprocal) {
        Points& value = factor_slot(f);
#pragma unroll
        for (int v = 0; v < Points::kPoints; ++v) value.v[v] = T(1) / value.v[v];
      }
  }
  template <int kCount>
  __device__ __forceinline__ void take(int first) const {
    StageTaps<T, R, kAligned> taps[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) taps[i].load(s_, s_.differences[first + i], p_);
#pragma unroll
    for (int i = 0; i < kCount; ++i) slot(first + i) = taps[i].sum(s_.differences[first + i]);
  }
  /// Up to kCount made fields, loaded together.
  template <int kCount>
  __device__ __forceinline__ void make() const {
    const int last = s_.made_count - 1;
    Points own[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int m = min(i, last);
      own[i] = kCopiesOwn ? own_slot(m) : p_.x.own(s_.made[m].at + p_.row);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i > last) break;
      const StageMade<T>& m = s_.made[i];
      if (stage_row_moves(m, p_.y, p_.z)) p_.x.store(m.at + p_.row, next(m, own[i]), own[i], m.low[2], m.high[2]);
    }
  }
  __device__ __forceinline__ Points next(const StageMade<T>& m, const Points& own) const {
    Points total;
#pragma unroll
    for (int v = 0; v < Points::kPoints; ++v) total.v[v] = T(0);
#pragma unroll 1
    for (int g = m.first; g < m.first + m.count; ++g) {
      const StageGroup<T>& group = s_.groups[g];
      Points sum = slot(s_.list[group.first]), factor;
#pragma unroll 1
      for (int i = 1; i < group.count; ++i) {
        const Points more = slot(s_.list[group.first + i]);
#pragma unroll
        for (int v = 0; v < Points::kPoints; ++v) sum.v[v] = sum.v[v] + more.v[v];
      }
      if (group.factor >= 0) factor = factor_slot(group.factor);
#pragma unroll
      for (int v = 0; v < Points::kPoints; ++v)
        total.v[v] = fma(group.factor >= 0 ? group.scale * factor.v[v] : group.scale, sum.v[v], total.v[v]);
    }
#pragma unroll
    for (int v = 0; v < Points::kPoints; ++v) total.v[v] = fma(m.own, own.v[v], total.v[v]);
    return total;
  }

  const StageStep<T, R>& s_;
  const StagePlace<T, R, kAligned>& p_;
  int threads_;
  Points* stash_;
};

template <class T, int R, bool kAligned, int kCopies, int kBatch, int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) system_stage_kernel(const __grid_constant__ StageStep<T, R> s) {
  extern __shared__ __align__(16) unsigned char memory[];
  const StagePlace<T, R, kAligned> p(s);
  if (p.exists) StageMaker<T, R, kAligned, kCopies, kBatch>(s, p, memory).run();
}

}  // namespace tessera::cuda
