// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The innermost product: a tile of D that fits into registers.
#pragma once

#include "../vector.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::cpu {

/// The register tile of packed operands, and the most vectors of others.
inline constexpr int kRows = kInstructionSet.tile_rows, kVectors = kInstructionSet.tile_vectors,
                     kMostVectors = kInstructionSet.most_vectors;
constexpr int most_rows(int vectors) { return kInstructionSet.most_rows(vectors); }

/// D <- alpha * sum + beta * C; with beta = 0, C is not read.
template <class T>
struct Epilogue {
  T alpha, beta;
  bool continues = false;  ///< sums do not begin with 0 but with what C holds; beta is 0
};

/// What a tile reads and writes: rows of op(A), op(B) from its first column on, C, and D, which may be C. P: what
/// op(A) and op(B) are packed as.
template <class T, class P = T>
struct TileOperands {
  const P* a;
  std::int64_t a_stride;  ///< from row to row, or from one k to the next; the other distance is 1
  const P* b;
  std::int64_t b_stride;  ///< from one k to the next; columns are neighbours
  const T* c;
  std::int64_t ldc;
  T* d;
  std::int64_t ldd;
};

/// Neighbours in memory lie in kV registers, the last one in part.
template <class T, int kV, bool kPartial>
class Row {
 public:
  explicit Row(int last_lanes) : part_(last_lanes) {}

  Vector<T> load(const T* row, int i) const {
    return kPartial && i == kV - 1 ? part_.load(row + i * kLanes<T>) : cpu::load(row + i * kLanes<T>);
  }
  void store(T* row, int i, Vector<T> v) const {
    if (kPartial && i == kV - 1)
      part_.store(row + i * kLanes<T>, v);
    else
      cpu::store(row + i * kLanes<T>, v);
  }

 private:
  Part<T> part_;
};

/// What a tile's sums begin with.
template <class T, int kR, int kV, bool kPartial, class P>
[[gnu::always_inline]] inline void begin_tile(Vector<T> (&sum)[kR][kV], const TileOperands<T, P>& t,
                                              const Epilogue<T>& epilogue, int last_lanes) {
  if (!epilogue.continues) return;
  const Row<T, kV, kPartial> part(last_lanes);
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int i = 0; i < kV; ++i) sum[r][i] = part.load(t.c + r * t.ldc, i);
}

/// D <- alpha * sum + beta * C for a tile.
template <class T, int kR, int kV, bool kPartial, class P>
[[gnu::always_inline]] inline void store_tile(Vector<T> (&sum)[kR][kV], const TileOperands<T, P>& t,
                                              const Epilogue<T>& epilogue, int last_lanes) {
  const Row<T, kV, kPartial> part(last_lanes);
  const std::int64_t ldd = t.ldd;
  T* d = t.d;
  const T alpha = epilogue.alpha, beta = epilogue.beta;
  if (alpha != T(1))
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
      for (int i = 0; i < kV; ++i) sum[r][i] *= alpha;
  if (beta != T(0))
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
      for (int i = 0; i < kV; ++i) sum[r][i] += beta * part.load(t.c + r * t.ldc, i);
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r, d += ldd)
#pragma GCC unroll 4
    for (int i = 0; i < kV; ++i) part.store(d, i, sum[r][i]);
}

/// kR x kV registers of D, the last one of each row in part. kRowsAdjacent: rows of op(A) are neighbours in memory
/// (packed, or transposed), else neighbours belong to one row. kAhead: of B, whose rows follow one another, so many
/// bytes further on are asked for.
template <class T, int kR, int kV, bool kRowsAdjacent, bool kPartial, int kAhead = 0>
void multiply_tile(std::int64_t k, const TileOperands<T>& t, const Epilogue<T>& epilogue, int last_lanes) {
  const Row<T, kV, kPartial> part(last_lanes);
  Vector<T> sum[kR][kV] = {};
  begin_tile<T, kR, kV, kPartial>(sum, t, epilogue, last_lanes);
  const std::int64_t a_stride = t.a_stride, b_stride = t.b_stride;
  const T *a = t.a, *b = t.b;
  // Rows from the ninth on have a pointer of their own; one pointer and 15 offsets would take too many registers.
  const T* far = a + 8 * a_stride;
  if (kR > 8) asm("" : "+r"(far));
  for (std::int64_t l = 0; l < k; ++l) {
    Vector<T> row[kV];
#pragma GCC unroll 4
    for (int i = 0; i < kV; ++i) {
      row[i] = part.load(b, i);
      if (kAhead > 0) __builtin_prefetch(reinterpret_cast<const char*>(b + i * kLanes<T>) + kAhead);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
      const T factor = kRowsAdjacent ? a[r] : r < 8 ? a[r * a_stride] : far[(r - 8) * a_stride];
#pragma GCC unroll 4
      for (int i = 0; i < kV; ++i) sum[r][i] += factor * row[i];
    }
    a += kRowsAdjacent ? a_stride : 1;
    ++far;
    b += b_stride;
  }
  store_tile<T, kR, kV, kPartial>(sum, t, epilogue, last_lanes);
}

}  // namespace tessera::cpu
