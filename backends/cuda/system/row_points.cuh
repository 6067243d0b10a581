// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a thread holds of one row: 16 bytes where rows begin at multiples of 16 bytes, else four points 32 apart.
#pragma once

#include "../vector.cuh"

#include <cuda_runtime.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace tessera::cuda {

template <class T, bool kAlignedRows>
struct RowPoints {
  static constexpr bool kAligned = kAlignedRows;
  static constexpr int kPoints = kAligned ? int(16 / sizeof(T)) : 4, kGap = kAligned ? 1 : 32;
  T v[kPoints];
};

/// Whether rows of so many points begin at multiples of 16 bytes in all arrays.
template <class T>
bool rows_are_aligned(std::int64_t points, std::initializer_list<const void*> arrays) {
  constexpr std::uintptr_t kBytes = 16;
  bool aligned = std::uintptr_t(points) * sizeof(T) % kBytes == 0;
  for (const void* array : arrays) aligned &= reinterpret_cast<std::uintptr_t>(array) % kBytes == 0;
  return aligned;
}

/// The thread's points along x. Places that do not exist are read at the last one that does.
template <class T, bool kAligned>
struct Along {
  using R = RowPoints<T, kAligned>;
  static constexpr int N = R::kPoints;
  int x, nx;
  __device__ __forceinline__ int at(int v) const { return x + v * R::kGap; }
  __device__ __forceinline__ bool exists(int v) const { return at(v) < nx; }
  __device__ __forceinline__ int clamped(int i) const { return min(max(i, 0), nx - 1); }

  /// Of an array that the kernel only reads; `row`: where the row begins.
  __device__ __forceinline__ R load(const T* row) const {
    R r;
    if constexpr (kAligned)
      copy(r, load_words(row + x));
    else
#pragma unroll
      for (int v = 0; v < N; ++v) r.v[v] = __ldg(row + clamped(at(v)));
    return r;
  }
  /// Of an array that the kernel writes, at these points.
  __device__ __forceinline__ R own(const T* row) const {
    R r;
    if constexpr (kAligned)
      copy(r, *reinterpret_cast<const Vector<T, N>*>(row + x));
    else
#pragma unroll
      for (int v = 0; v < N; ++v) r.v[v] = *(row + clamped(at(v)));
    return r;
  }
  __device__ __forceinline__ R load_beside(const T* row, int o) const {
    R r;
#pragma unroll
    for (int v = 0; v < N; ++v) r.v[v] = __ldg(row + clamped(at(v) + o));
    return r;
  }
  /// Points of [low, high) take `next`, others keep `own`.
  __device__ __forceinline__ void store(T* row, R next, const R& own, int low, int high) const {
#pragma unroll
    for (int v = 0; v < N; ++v) next.v[v] = at(v) >= low && at(v) < high ? next.v[v] : own.v[v];
    if constexpr (kAligned)
      store_words(row + x, next);
    else
#pragma unroll
      for (int v = 0; v < N; ++v)
        if (exists(v)) row[at(v)] = next.v[v];
  }

 private:
  static __device__ __forceinline__ void copy(R& to, const Vector<T, N>& from) {
#pragma unroll
    for (int v = 0; v < N; ++v) to.v[v] = from.value[v];
  }
  /// 16 bytes through the read-only path, and to memory that nobody reads soon.
  static __device__ __forceinline__ Vector<T, N> load_words(const T* from) {
    const int4 words = __ldg(reinterpret_cast<const int4*>(from));
    Vector<T, N> vector;
    memcpy(&vector, &words, sizeof words);
    return vector;
  }
  static __device__ __forceinline__ void store_words(T* to, const R& from) {
    int4 words;
    memcpy(&words, from.v, sizeof words);
    __stcs(reinterpret_cast<int4*>(to), words);
  }
};

}  // namespace tessera::cuda
