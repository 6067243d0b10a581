// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a warp, 16 rows, become elements of D where C is not read: from registers in pairs, or rounded and
/// laid out in shared memory for bulk copies or words.
#pragma once

#include "tile_writer.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_product.cuh"

#include <cstdint>

namespace tessera::cuda {

/// The bias of a warpgroup's part of a tile, kN columns. A thread reads its share before its sums are ready: by columns
/// those from its number on, every 128; by rows those of its two rows. -0 adds nothing.
template <class T, int kN>
class WarpgroupBias {
  using S = Scalar<T>;

 public:
  __device__ __forceinline__ void read(const GemmArguments<T>& g, const GemmTile& tile, int row) {
#pragma unroll
    for (S& value : mine_) value = -S(0);
    if (!g.finish.bias) return;
    const int thread = int(threadIdx.x) % 128, lane = thread % 32;
    const std::int64_t first = tile.row + row;
    const Finish<T> finish = g.finish.at(tile.batch, first, tile.column);
    if (finish.per_row) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (first + lane / 4 + 8 * half < g.m) rows_[half] = finish.bias_at(lane / 4 + 8 * half);
    } else {
#pragma unroll
      for (int i = 0; i < kShares; ++i)
        if (thread + 128 * i < kN && tile.column + thread + 128 * i < g.n) mine_[i] = finish.bias_at(thread + 128 * i);
    }
  }
  /// All of a warpgroup: lets its threads read what each has. `memory`: its kN values.
  __device__ __forceinline__ void share(S* memory) {
    const int thread = int(threadIdx.x) % 128;
    warpgroup_sync();  // what was there is no longer read
#pragma unroll
    for (int i = 0; i < kShares; ++i)
      if (thread + 128 * i < kN) memory[thread + 128 * i] = mine_[i];
    warpgroup_sync();
    columns_ = memory + thread % 4 * 2;
  }
  /// Adds to a thread's values of eight columns from `column` on.
  __device__ __forceinline__ void add(int column, S (&values)[4]) const {
    const float2 b = *reinterpret_cast<const float2*>(columns_ + column);
    values[0] += b.x + rows_[0], values[1] += b.y + rows_[0];
    values[2] += b.x + rows_[1], values[3] += b.y + rows_[1];
  }

 private:
  static constexpr int kShares = (kN + 127) / 128;
  static __device__ __forceinline__ void warpgroup_sync() {
    asm volatile("bar.sync %0, 128;" ::"r"(threadIdx.x / 128) : "memory");
  }
  S rows_[2] = {-S(0), -S(0)}, mine_[kShares];
  const S* columns_ = nullptr;
};

/// Where a warp's part of a tile goes, 16 rows.
template <class T>
struct WarpgroupPart {
  const WarpgroupArguments<T>& w;
  const GemmTile& tile;
  std::int64_t first;  ///< row
  int rows, columns;   ///< that exist, from the first on
  int slice;
};

/// Columns of 16 bits that a warp lays out at a time: rows of 64 columns have 128 bytes, whose 16-byte parts are
/// permuted as in operands.
template <int kN>
struct WarpgroupBoxes {
  static constexpr int kColumns = kN % 128 == 0 ? 128 : 64;
  unsigned char* memory;
  bool bulk;

  __device__ __forceinline__ std::uint32_t* place(int row, int column) const {
    return reinterpret_cast<std::uint32_t*>(memory + column / 64 * WarpgroupTile::kBoxBytes + row * 128 +
                                            (column % 64 / 8 ^ row % 8) * 16 + column % 8 * 2);
  }
  /// A thread's sums of eight columns from `column` on: see add_products().
  template <class T>
  __device__ __forceinline__ void put(int column, const Scalar<T>* s) const {
    const int lane = int(threadIdx.x) % 32;
    std::uint32_t* const to = place(lane / 4, column + lane % 4 * 2);
    to[0] = detail::word_of(T{}, s[0], s[1]);
    to[8 * 128 / 4] = detail::word_of(T{}, s[2], s[3]);
  }
  /// Before the next columns: the last ones have been read.
  __device__ __forceinline__ void begin() const {
    if (bulk && threadIdx.x % 32 == 0) stores_wait_read();
    __syncwarp();
  }
  /// Writes them to columns of D from `column` of the tile on.
  template <class T>
  __device__ __forceinline__ void end(const WarpgroupPart<T>& part, int column) const {
    if (!bulk) return write_words(part, column);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // bulk copies read by another way
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
#pragma unroll
    for (int box = 0; box < kColumns; box += 64)
      if (column + box < part.columns)
        store_box(part.w.d, shared_address(memory) + unsigned(box / 64 * WarpgroupTile::kBoxBytes),
                  int(part.tile.column) + column + box, int(part.first), int(part.tile.batch));
    stores_commit();
  }

 private:
  /// Rows begin anywhere: pairs from the first element at a multiple of 4 bytes on, and what that leaves one by one.
  template <class T>
  __device__ __forceinline__ void write_words(const WarpgroupPart<T>& part, int first) const {
    const GemmArguments<T>& g = part.w.x.g;
    const int lane = int(threadIdx.x) % 32, columns = min(kColumns, part.columns - first);
    auto* const d = reinterpret_cast<std::uint16_t*>(g.d.elements()) + part.tile.batch * g.stride_d +
                    part.first * g.ldd + part.tile.column + first;
    const auto odd_of = [](const std::uint16_t* p) { return int(reinterpret_cast<std::uintptr_t>(p) / 2 % 2); };
    __syncwarp();
#pragma unroll 4
    for (int row = 0; row < part.rows; ++row) {
      std::uint16_t* const to = d + row * g.ldd;
      const int odd = odd_of(to);
#pragma unroll
      for (int i = 0; i < kColumns / 64; ++i) {
        const int column = 64 * i + 2 * lane, at = column + odd;
        const std::uint32_t low = *place(row, column), high = *place(row, column + 2 < kColumns ? column + 2 : column);
        const std::uint32_t pair = odd != 0 ? __funnelshift_r(low, high, 16) : low;
        if (at + 1 < columns && at + 1 < kColumns)
          *reinterpret_cast<std::uint32_t*>(to + at) = pair;
        else if (at < columns)
          to[at] = std::uint16_t(pair);
      }
    }
    std::uint16_t* const mine = d + lane * g.ldd;
    if (lane < part.rows && odd_of(mine) != 0 && columns > 0) *mine = std::uint16_t(*place(lane, 0));
  }
};

/// D of the type of sums, or the sums of a slice, in pairs: four threads write a sector.
template <class T>
class WarpgroupPairs {
  using S = Scalar<T>;

 public:
  __device__ explicit WarpgroupPairs(const WarpgroupPart<T>& part) {
    const SlicedArguments<T>& x = part.w.x;
    const bool partial = x.partial != nullptr;
    const int lane = int(threadIdx.x) % 32;
    ld_ = partial ? x.partial_ld : x.g.ldd;
    const std::int64_t matrix =
        partial ? (part.slice * x.g.batch + part.tile.batch) * x.g.m * ld_ : part.tile.batch * x.g.stride_d;
    S* const base = partial ? x.partial : reinterpret_cast<S*>(x.g.d.elements());
    data_ = base + matrix + (part.first + lane / 4) * ld_ + part.tile.column + lane % 4 * 2;
    rows_ = part.rows - lane / 4, columns_ = part.columns - lane % 4 * 2;
  }
  __device__ __forceinline__ void put(int column, const S* s) const {
    if (column >= columns_) return;
    if (rows_ > 0) *reinterpret_cast<Vector<S, 2>*>(data_ + column) = {{s[0], s[1]}};
    if (rows_ > 8) *reinterpret_cast<Vector<S, 2>*>(data_ + 8 * ld_ + column) = {{s[2], s[3]}};
  }

 private:
  S* data_;  ///< of the thread's first row and columns
  std::int64_t ld_;
  int rows_, columns_;  ///< that exist, from there on
};

/// Without bias and activation. Code that is short: what is long must be fetched anew after each main loop.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_boxes(const WarpgroupBoxes<Shape::kN>& boxes, const Scalar<T> (&sums)[kSums],
                                            Scalar<T> alpha, const WarpgroupPart<T>& part) {
  constexpr int kColumns = WarpgroupBoxes<Shape::kN>::kColumns;
#pragma unroll
  for (int first = 0; first < Shape::kN; first += kColumns) {
    boxes.begin();
#pragma unroll
    for (int column = 0; column < kColumns; column += 8) {
      Scalar<T> values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = alpha * sums[(first + column) / 2 + e];
      boxes.template put<T>(column, values);
    }
    boxes.end(part, first);
  }
}
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_pairs(const Scalar<T> (&sums)[kSums], Scalar<T> alpha,
                                            const WarpgroupPart<T>& part) {
  const WarpgroupPairs<T> pairs(part);
#pragma unroll
  for (int column = 0; column < Shape::kN; column += 8) {
    Scalar<T> values[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) values[e] = alpha * sums[column / 2 + e];
    pairs.put(column, values);
  }
}

/// With bias and, unless `least` is -Inf, without what is less.
template <bool kBoxes, class Shape, class T, int kSums>
__device__ __forceinline__ void write_biased(const WarpgroupBoxes<Shape::kN>& boxes, const Scalar<T> (&sums)[kSums],
                                             Scalar<T> alpha, const WarpgroupPart<T>& part,
                                             const WarpgroupBias<T, Shape::kN>& bias, Scalar<T> least) {
  constexpr int kColumns = WarpgroupBoxes<Shape::kN>::kColumns;
  const WarpgroupPairs<T> pairs(part);
#pragma unroll
  for (int first = 0; first < Shape::kN; first += kColumns) {
    if (kBoxes) boxes.begin();
#pragma unroll
    for (int column = 0; column < kColumns; column += 8) {
      Scalar<T> values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = alpha * sums[(first + column) / 2 + e];
      bias.add(first + column, values);
#pragma unroll
      for (Scalar<T>& value : values) value = larger(value, least);
      if constexpr (kBoxes)
        boxes.template put<T>(column, values);
      else
        pairs.put(first + column, values);
    }
    if (kBoxes) boxes.end(part, first);
  }
}

/// With bias and any activation, 64 columns at a time: one loop, and in it a branch to their registers.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_activated(const WarpgroupBoxes<Shape::kN>& boxes, const Scalar<T> (&sums)[kSums],
                                                Scalar<T> alpha, const WarpgroupPart<T>& part,
                                                const WarpgroupBias<T, Shape::kN>& bias) {
  constexpr int kColumns = WarpgroupBoxes<Shape::kN>::kColumns, kStep = 64;
  const WarpgroupPairs<T> pairs(part);
#pragma unroll 1
  for (int first = 0; first < Shape::kN; first += kStep) {
    Scalar<T> values[kStep / 8][4], all[kStep / 2];
#pragma unroll
    for (int i = 0; i < Shape::kN / kStep; ++i) {
      if (kStep * i != first) continue;
#pragma unroll
      for (int e = 0; e < kStep / 2; ++e) values[e / 4][e % 4] = alpha * sums[i * kStep / 2 + e];
    }
#pragma unroll
    for (int i = 0; i < kStep / 8; ++i) bias.add(first + 8 * i, values[i]);
#pragma unroll
    for (int e = 0; e < kStep / 2; ++e) all[e] = values[e / 4][e % 4];
    part.w.x.g.finish.activate_all(all);
    if (part.w.writing != WarpgroupWriting::kPairs) {
      if (first % kColumns == 0) boxes.begin();
#pragma unroll
      for (int i = 0; i < kStep / 8; ++i) boxes.template put<T>(first % kColumns + 8 * i, all + 4 * i);
      if (first % kColumns == kColumns - kStep) boxes.end(part, first - (kColumns - kStep));
    } else {
#pragma unroll
      for (int i = 0; i < kStep / 8; ++i) pairs.put(first + 8 * i, all + 4 * i);
    }
  }
}

/// Without C. `memory`: of the warp; `row`: its first of the
/// tile; `shared_bias`: of the warpgroup.
template <class Shape, class T, int kSums>
__device__ __forceinline__ void write_plain(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const WarpgroupArguments<T>& w, const GemmTile& tile, int slice, int row,
                                            WarpgroupBias<T, Shape::kN>& bias, Scalar<T>* shared_bias) {
  const GemmArguments<T>& g = w.x.g;
  const std::int64_t first = tile.row + row;
  const int rows = int(g.m - first < 16 ? g.m - first : 16);
  const int columns = int(g.n - tile.column < Shape::kN ? g.n - tile.column : Shape::kN);
  const bool to_partial = w.x.partial != nullptr, finishes = !to_partial && g.finish;
  if (finishes) bias.share(shared_bias);
  if (rows <= 0 || columns <= 0) return;
  const Scalar<T> alpha = to_partial ? Scalar<T>(1) : (g.k != 0 ? g.alpha : Scalar<T>(0));
  const WarpgroupPart<T> part{w, tile, first, rows, columns, slice};
  const WarpgroupBoxes<Shape::kN> boxes{memory, w.writing == WarpgroupWriting::kBulk};
  const bool in_boxes = w.writing != WarpgroupWriting::kPairs;
  if (!finishes) {
    if (in_boxes)
      write_boxes<Shape>(boxes, sums, alpha, part);
    else
      write_pairs<Shape>(sums, alpha, part);
    return;
  }
  const tessera_activation activation = g.finish.activation;
  const Scalar<T> least = activation == TESSERA_ACTIVATION_RELU ? Scalar<T>(0) : -Scalar<T>(INFINITY);
  if (activation != TESSERA_ACTIVATION_NONE && activation != TESSERA_ACTIVATION_RELU)
    write_activated<Shape>(boxes, sums, alpha, part, bias);
  else if (in_boxes)
    write_biased<true, Shape>(boxes, sums, alpha, part, bias, least);
  else
    write_biased<false, Shape>(boxes, sums, alpha, part, bias, least);
}

}  // namespace tessera::cuda
