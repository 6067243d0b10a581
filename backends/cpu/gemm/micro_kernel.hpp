// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The innermost product: a tile of C that fits into registers.
#pragma once

#include "../vector.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace tessera::cpu {

/// The register tile: kRows x kVectors sums, kVectors of op(B) and one broadcast of op(A) fill the 32 registers
/// of AVX-512 and of aarch64, or the 16 of AVX2 and SSE (which also needs one for a product, without FMA).
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kRows = 8, kVectors = 3;
#elif defined(__AVX2__)
inline constexpr int kRows = 4, kVectors = 3;
#else
inline constexpr int kRows = 4, kVectors = 2;
#endif

/// C <- alpha * sum + beta * C; with beta = 0, C is not read.
template <class T>
struct Epilogue {
  T alpha, beta;
};

/// What a tile reads and writes: rows of op(A), op(B) from its first column on, and C.
template <class T>
struct TileOperands {
  const T* a;
  std::int64_t a_stride;  ///< from row to row, or from depth to depth; the other one is 1
  const T* b;
  std::int64_t b_depth;  ///< distance of depths, that of columns is 1
  T* c;
  std::int64_t ldc;
};

/// kR x kV registers of C, the last one of each row in part. kRowsAdjacent: rows of op(A) are neighbours in memory
/// (packed, or transposed), else neighbours are depths.
template <class T, int kR, int kV, bool kRowsAdjacent, bool kPartial>
void multiply_tile(std::int64_t k, const TileOperands<T>& t, Epilogue<T> epilogue, int last_lanes) {
  const Part<T> part(last_lanes);
  const auto load_row = [&part](const T* row, Vector<T>(&v)[kV]) {
    for (int i = 0; i < kV; ++i)
      v[i] = kPartial && i == kV - 1 ? part.load(row + i * kLanes<T>) : load(row + i * kLanes<T>);
  };
  Vector<T> sum[kR][kV] = {};
  const T *a = t.a, *b = t.b;
  for (std::int64_t l = 0; l < k; ++l) {
    Vector<T> row[kV];
    load_row(b, row);
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) {
      const T factor = kRowsAdjacent ? a[r] : a[r * t.a_stride];
#pragma GCC unroll 3
      for (int i = 0; i < kV; ++i) sum[r][i] += factor * row[i];
    }
    a += kRowsAdjacent ? t.a_stride : 1;
    b += t.b_depth;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r) {
    T* c = t.c + r * t.ldc;
    Vector<T> old[kV] = {};
    if (epilogue.beta != T(0)) load_row(c, old);
#pragma GCC unroll 3
    for (int i = 0; i < kV; ++i) {
      const Vector<T> result = epilogue.alpha * sum[r][i] + epilogue.beta * old[i];
      if (kPartial && i == kV - 1)
        part.store(c + i * kLanes<T>, result);
      else
        store(c + i * kLanes<T>, result);
    }
  }
}

}  // namespace tessera::cpu
