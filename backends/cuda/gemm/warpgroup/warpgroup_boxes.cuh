// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// C, D and aux of 16 bits by way of shared memory, in boxes of 64 x 64: what is read comes by asynchronous copies
/// under the main loop, what is written goes by bulk copies, or in words.
#pragma once

#include "../load_matrices.cuh"
#include "../tile_writer.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_product.cuh"

#include <cstdint>

namespace tessera::cuda {

__device__ __forceinline__ void warpgroup_sync() {
  asm volatile("bar.sync %0, 128;" ::"r"(4 + threadIdx.x / 128) : "memory");
}

/// A warpgroup's part of a tile, 64 rows.
struct WarpgroupPart {
  const GemmTile& tile;
  std::int64_t first;       ///< row of the warpgroup's
  std::int64_t thread_row;  ///< the thread's first
  int columns;              ///< that exist, from the tile's first on
  int slice;

  /// Whether it has no elements of a triangle.
  __device__ bool is_missed(const TriangleTiles& triangle) const {
    return triangle.misses(first, tile.column, 64, columns);
  }
};

/// Columns whose sums' registers a loop selects at a time: half a box.
inline constexpr int kWarpgroupColumns = 32;

/// Where a warpgroup lays out its 64 rows of the product for 64 columns at a time, of 16 bits: 64 rows of D, or of C,
/// of 128 bytes, whose 16-byte parts are permuted as in operands. There are two such places. The rows are the
/// product's, or where that is turned its columns.
template <bool kTurned>
class WarpgroupBox {
 public:
  static constexpr int kLines = 64, kBytes = kLines * 128;

  __device__ WarpgroupBox(unsigned char* memory, int number) : memory_(memory + number * kBytes) {}

  __device__ __forceinline__ unsigned char* line(int number) const { return memory_ + number * 128; }
  __device__ __forceinline__ std::uint32_t word(int line, int element) const {
    return *reinterpret_cast<const std::uint32_t*>(memory_ + swizzled(line, element / 8) + element % 8 * 2);
  }
  /// The `part`th 16 bytes of a line.
  __device__ __forceinline__ uint4 vector(int line, int part) const {
    return *reinterpret_cast<const uint4*>(memory_ + swizzled(line, part));
  }
  __device__ __forceinline__ std::uint32_t address(int line, int part) const {
    return shared_address(memory_ + swizzled(line, part));
  }
  /// Lays out a thread's sums of 64 columns: see add_products(). Four blocks of 8 x 8 at a time, of a turned product
  /// transposed: of the warp's upper and lower rows, of eight columns and of the next eight; each thread gives the
  /// place of a line of one of them.
  template <class T>
  __device__ __forceinline__ void put(const Scalar<T>* sums) const {
    const std::uint32_t to = of_thread();
#pragma unroll
    for (int i = 0; i < kLines / 2; i += 8) {
      const Scalar<T>* const s = sums + i;
      const std::uint32_t words[4] = {detail::word_of(T{}, s[0], s[1]), detail::word_of(T{}, s[2], s[3]),
                                      detail::word_of(T{}, s[4], s[5]), detail::word_of(T{}, s[6], s[7])};
      if constexpr (kTurned)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(behind(to, i)),
                     "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
      else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(behind(to, i)),
                     "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    }
  }

  /// The reverse, from sum number `first` on: calls with(i, value) for each of kSums.
  template <class T, int kSums, class With>
  __device__ __forceinline__ void take(int first, const With& with) const {
    const std::uint32_t from = of_thread();
#pragma unroll
    for (int i = 0; i < kSums; i += 8) {
      std::uint32_t words[4];
      load_matrices<kTurned>(words, behind(from, first + i));
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        with(i + 2 * e, detail::lower(T{}, words[e]));
        with(i + 2 * e + 1, detail::upper(T{}, words[e]));
      }
    }
  }

 private:
  unsigned char* memory_;

  /// Of the line that a thread gives of the first four blocks.
  __device__ __forceinline__ std::uint32_t of_thread() const {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) % 128 / 32, lower = lane / 8 % 2;
    if constexpr (kTurned) return address(lane / 16 * 8 + lane % 8, warp * 2 + lower);
    return address(16 * warp + 8 * lower + lane % 8, lane / 16);
  }
  /// The same of those of the sums from `sum` on, twice as many columns further: as many lines, or parts whose numbers
  /// differ in other bits than those of the first.
  static __device__ __forceinline__ std::uint32_t behind(std::uint32_t first, int sum) {
    return kTurned ? first + unsigned(sum * 256) : first ^ unsigned(sum * 4);
  }
};

/// A matrix of D's size and of 16 bits, C or aux, under a warpgroup's part of a tile, which comes by boxes. Two are on
/// their way while products run, and the others to the second-level cache, so that nobody waits for memory line by
/// line.
template <class T, bool kTurned>
class WarpgroupInput {
 public:
  /// `memory`: of the warpgroup, where D will be laid out. `stride`: of the batch; `m`: rows of the product.
  __device__ WarpgroupInput(unsigned char* memory, const Elements<T>& matrices, std::int64_t ld, std::int64_t stride,
                            std::int64_t m, const WarpgroupPart& part)
      : memory_(memory),
        from_(matrices.elements() + (part.tile.batch * stride + (kTurned ? part.tile.column * ld + part.first
                                                                         : part.first * ld + part.tile.column))),
        ld_(ld),
        columns_(part.columns),
        rows_(int(min(m - part.first, std::int64_t(64)))),
        vectors_(ld % kWidth == 0 && reinterpret_cast<std::uintptr_t>(from_) % 16 == 0) {}
  static __device__ WarpgroupInput c(unsigned char* memory, const GemmArguments<T>& g, const WarpgroupPart& part) {
    return {memory, g.c, g.ldc, g.stride_c, g.m, part};
  }
  static __device__ WarpgroupInput aux(unsigned char* memory, const GemmArguments<T>& g, const WarpgroupPart& part) {
    return {memory, g.finish.aux.data, g.finish.aux.ld, g.finish.aux.stride, g.m, part};
  }

  /// Begins to copy the first two boxes. Bulk copies of D, if there are any, no longer read them then.
  __device__ __forceinline__ void begin(bool bulk) const {
    if (bulk && elected()) stores_wait_read<0>();
    warpgroup_sync();
    if (vectors_) copy(0), copy(1);
    const int first = vectors_ ? 2 * kLines : 0;  // of those that do not come at once
    const int end = kTurned ? columns_ : (columns_ + kLines - 1) / kLines * kLines;
    for (int i = first + int(threadIdx.x) % 128; i < end; i += 128) {
      const int number = i / kLines;
      if (i % kLines >= lines(number) || length(number) <= 0) continue;
      const T* const at = line(number, i % kLines);  // of 128 bytes, in two lines of the cache if not in one
      prefetch_line(at);
      prefetch_line(at + (length(number) - 1));
    }
    if (!vectors_) copy(0), copy(1);
  }
  /// sums = alpha sums + beta C.
  template <int kSums>
  __device__ __forceinline__ void combine(Scalar<T> (&sums)[kSums], const Epilogue<T>& epilogue) const {
#pragma unroll
    for (int number = 0; number < 2 * kSums / kLines; ++number) {
      if (number * kLines >= columns_) return;
      arrive();
      Scalar<T>* const s = sums + number * (kLines / 2);
      box(number).template take<T, kLines / 2>(0, [&](int i, Scalar<T> value) { s[i] = epilogue(s[i], value); });
      leave(number);
    }
  }
  /// Calls with(first, values) for those under the sums of the columns from `first` on.
  template <class With>
  __device__ __forceinline__ void for_columns(const With& with) const {
#pragma unroll 1
    for (int first = 0; first < columns_; first += kWarpgroupColumns) {
      const int number = first / kLines, in_box = first % kLines;
      if (in_box == 0) arrive();
      Scalar<T> values[kWarpgroupColumns / 2];
      box(number).template take<T, kWarpgroupColumns / 2>(in_box / 2,
                                                          [&](int i, Scalar<T> value) { values[i] = value; });
      if (in_box + kWarpgroupColumns == kLines) leave(number);
      with(first, values);
    }
  }

 private:
  using Box = WarpgroupBox<kTurned>;
  static constexpr int kLines = Box::kLines, kWidth = 8;

  unsigned char* memory_;
  const T* from_;
  std::int64_t ld_;
  int columns_, rows_;  ///< of the product that exist
  bool vectors_;        ///< lines begin at multiples of 16 bytes

  __device__ __forceinline__ Box box(int number) const { return {memory_, number % 2}; }
  /// Waits for the next box.
  __device__ __forceinline__ void arrive() const {
    cp_async_wait<1>();
    warpgroup_sync();
  }
  /// When the thread has read a box: has the next but one take its place.
  __device__ __forceinline__ void leave(int number) const {
    if ((number + 2) * kLines < columns_) warpgroup_sync();  // all have read it
    copy(number + 2);
  }
  /// Lines of a box, and elements of one, that exist.
  __device__ __forceinline__ int lines(int number) const {
    if constexpr (kTurned) return min(kLines, columns_ - number * kLines);
    return number * kLines < columns_ ? rows_ : 0;
  }
  __device__ __forceinline__ int length(int number) const {
    return kTurned ? rows_ : min(kLines, columns_ - number * kLines);
  }
  __device__ __forceinline__ const T* line(int number, int in_box) const {
    return from_ + (kTurned ? (number * kLines + in_box) * ld_ : in_box * ld_ + number * kLines);
  }
  /// A group of copies, also where there is nothing to copy.
  __device__ __forceinline__ void copy(int number) const {
#pragma unroll 1
    for (int i = int(threadIdx.x) % 128; i < lines(number) * kWidth; i += 128) {
      const int in_box = i / kWidth, part = i % kWidth, left = length(number) - part * kWidth;
      const T* const at = line(number, in_box) + part * kWidth;
      const std::uint32_t to = box(number).address(in_box, part);
      if (vectors_)
        cp_async_part(to, at, min(max(left, 0), kWidth) * int(sizeof(T)));
      else
        store_part(to, part_of(at, left));
    }
    cp_async_commit();
  }
};

/// Where a tile's elements go: to D, or to aux.
template <class T>
struct WarpgroupOutput {
  Elements<T> matrices;
  std::int64_t ld, stride;  ///< the stride: of the batch
  const CUtensorMap* map;   ///< where bulk copies write it

  static __device__ __forceinline__ WarpgroupOutput d(const WarpgroupArguments<T>& w) {
    return {w.x.g.d, w.x.g.ldd, w.x.g.stride_d, &w.d};
  }
  static __device__ __forceinline__ WarpgroupOutput aux(const WarpgroupArguments<T>& w) {
    const Aux<T>& aux = w.x.g.finish.aux;
    return {aux.data, aux.ld, aux.stride, &w.aux};
  }
};

/// The last columns of a tile that is not turned, fewer than a box has, in vectors. `first`: of them, in the tile.
template <class T>
__device__ __forceinline__ void write_rest(const WarpgroupBox<false>& box, const WarpgroupOutput<T>& to, std::int64_t m,
                                           const WarpgroupPart& part, int first) {
  constexpr int kWidth = 8;
  const int rows = int(min(m - part.first, std::int64_t(64)));
  T* const at = to.matrices.elements() + (part.tile.batch * to.stride + part.first * to.ld + part.tile.column + first);
#pragma unroll 1
  for (int i = int(threadIdx.x) % 128; i < rows * kWidth; i += 128) {
    const int row = i / kWidth, in_row = i % kWidth;
    if (in_row * kWidth < part.columns - first)
      *reinterpret_cast<uint4*>(at + row * to.ld + in_row * kWidth) = box.vector(row, in_row);
  }
}

/// By bulk copies, each of which may go on while the next box is laid out. `memory`: of the warpgroup.
template <bool kTurned, class T, int kSums>
__device__ __forceinline__ void write_bulk(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                           const WarpgroupArguments<T>& w, const WarpgroupOutput<T>& to,
                                           const WarpgroupPart& part) {
  using Box = WarpgroupBox<kTurned>;
  constexpr int kLines = Box::kLines;
  const bool copies = elected();
  const int warp = __shfl_sync(~0u, int(threadIdx.x) % 128 / 32, 0);  // known to be the same in all its threads
#pragma unroll
  for (int first = 0; first < 2 * kSums; first += kLines) {
    if (first >= part.columns) return;
    const Box box(memory, first / kLines % 2);
    if (copies && first == 0) stores_wait_read<0>();
    if (copies && first > kLines) stores_wait_read<1>();
    if (first != kLines) warpgroup_sync();  // what was there is no longer read
    box.template put<T>(sums + first / 2);
    if constexpr (!kTurned) {
      // A box would reach into the next tile: beyond the end of D it writes nothing.
      if (first + kLines > w.tile.columns && part.tile.column + w.tile.columns < w.x.g.n) {
        warpgroup_sync();
        return write_rest(box, to, w.x.g.m, part, first);
      }
    }
    fence_for_bulk_copies();  // bulk copies read by another way
    warpgroup_sync();
    if (!copies) continue;
    const int column = int(part.tile.column) + first, lines = kTurned ? min(kLines, part.columns - first) : kLines;
#pragma unroll 1
    for (int line = warp * w.box_rows; line < lines; line += 4 * w.box_rows)
      store_box(*to.map, shared_address(box.line(line)), kTurned ? int(part.first) : column,
                line + (kTurned ? column : int(part.first)), int(part.tile.batch));
    stores_commit();
  }
}

/// Rows of 16 bits that begin anywhere: pairs from the first element at a multiple of 4 bytes on, and what that leaves
/// one by one. The product is turned.
template <class T, int kSums>
__device__ __forceinline__ void write_words(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const WarpgroupOutput<T>& out, std::int64_t m, const WarpgroupPart& part) {
  using Box = WarpgroupBox<true>;
  constexpr int kLines = Box::kLines;
  const int warp = int(threadIdx.x) % 128 / 32, element = int(threadIdx.x) % 32 * 2;
  const int length = int(min(m - part.first, std::int64_t(64)));
  auto* const at_part = reinterpret_cast<std::uint16_t*>(out.matrices.elements()) + part.tile.batch * out.stride +
                        part.tile.column * out.ld + part.first;
#pragma unroll
  for (int first = 0; first < 2 * kSums; first += kLines) {
    if (first >= part.columns) return;
    // Two places in turns: who lays out has seen that all have read what was there two boxes before.
    const Box box(memory, first / kLines % 2);
    if (first == 0) warpgroup_sync();
    box.put<T>(sums + first / 2);
    warpgroup_sync();
    const int lines = min(kLines, part.columns - first);
#pragma unroll 4
    for (int line = warp; line < lines; line += 4) {
      std::uint16_t* const to = at_part + (first + line) * out.ld;
      const int odd = int(reinterpret_cast<std::uintptr_t>(to) / 2 % 2), at = element + odd;
      const std::uint32_t low = box.word(line, element);
      const std::uint32_t high = box.word(line, element + 2 < 64 ? element + 2 : element);
      const std::uint32_t pair = odd != 0 ? __funnelshift_r(low, high, 16) : low;
      if (at + 1 < length)
        *reinterpret_cast<std::uint32_t*>(to + at) = pair;
      else if (at < length)
        to[at] = std::uint16_t(pair);
      if (odd != 0 && element == 0) to[0] = std::uint16_t(low);
    }
  }
}

}  // namespace tessera::cuda
