// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// C and D of 16 bits by way of shared memory, in boxes of 64 x 64: C comes by asynchronous copies under the main loop,
/// D goes by bulk copies, or in words.
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
};

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

  /// The reverse: sums = alpha sums + beta C, of C's 64 columns here.
  template <class T>
  __device__ __forceinline__ void combine(Scalar<T>* sums, const Epilogue<T>& epilogue) const {
    const std::uint32_t from = of_thread();
#pragma unroll
    for (int i = 0; i < kLines / 2; i += 8) {
      std::uint32_t words[4];
      load_matrices<kTurned>(words, behind(from, i));
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        Scalar<T>* const s = sums + i + 2 * e;
        s[0] = epilogue(s[0], detail::lower(T{}, words[e])), s[1] = epilogue(s[1], detail::upper(T{}, words[e]));
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

/// C of 16 bits under a warpgroup's part of a tile, which comes by boxes. Two are on their way while products run, and
/// the others to the second-level cache, so that nobody waits for memory line by line.
template <class T, bool kTurned>
class WarpgroupC {
 public:
  /// `memory`: of the warpgroup, where D will be laid out.
  __device__ WarpgroupC(unsigned char* memory, const GemmArguments<T>& g, const WarpgroupPart& part)
      : memory_(memory),
        from_(g.c.elements() + (part.tile.batch * g.stride_c + (kTurned ? part.tile.column * g.ldc + part.first
                                                                        : part.first * g.ldc + part.tile.column))),
        ld_(g.ldc),
        columns_(part.columns),
        rows_(int(min(g.m - part.first, std::int64_t(64)))),
        vectors_(g.ldc % kWidth == 0 && reinterpret_cast<std::uintptr_t>(from_) % 16 == 0) {}

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
      cp_async_wait<1>();
      warpgroup_sync();
      box(number).template combine<T>(sums + number * (kLines / 2), epilogue);
      if ((number + 2) * kLines < columns_) warpgroup_sync();  // all have read it
      copy(number + 2);
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

/// The last columns of a tile that is not turned, fewer than a box has, in vectors. `first`: of them, in the tile.
template <class T>
__device__ __forceinline__ void write_rest(const WarpgroupBox<false>& box, const GemmArguments<T>& g,
                                           const WarpgroupPart& part, int first) {
  constexpr int kWidth = 8;
  const int rows = int(min(g.m - part.first, std::int64_t(64)));
  T* const d = g.d.elements() + (part.tile.batch * g.stride_d + part.first * g.ldd + part.tile.column + first);
#pragma unroll 1
  for (int i = int(threadIdx.x) % 128; i < rows * kWidth; i += 128) {
    const int row = i / kWidth, in_row = i % kWidth;
    if (in_row * kWidth < part.columns - first)
      *reinterpret_cast<uint4*>(d + row * g.ldd + in_row * kWidth) = box.vector(row, in_row);
  }
}

/// By bulk copies, each of which may go on while the next box is laid out. `memory`: of the warpgroup.
template <bool kTurned, class T, int kSums>
__device__ __forceinline__ void write_bulk(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                           const WarpgroupArguments<T>& w, const WarpgroupPart& part) {
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
        return write_rest(box, w.x.g, part, first);
      }
    }
    fence_for_bulk_copies();  // bulk copies read by another way
    warpgroup_sync();
    if (!copies) continue;
    const int column = int(part.tile.column) + first, lines = kTurned ? min(kLines, part.columns - first) : kLines;
#pragma unroll 1
    for (int line = warp * w.box_rows; line < lines; line += 4 * w.box_rows)
      store_box(w.d, shared_address(box.line(line)), kTurned ? int(part.first) : column,
                line + (kTurned ? column : int(part.first)), int(part.tile.batch));
    stores_commit();
  }
}

/// Rows of 16 bits that begin anywhere: pairs from the first element at a multiple of 4 bytes on, and what that leaves
/// one by one. The product is turned.
template <class T, int kSums>
__device__ __forceinline__ void write_words(unsigned char* memory, const Scalar<T> (&sums)[kSums],
                                            const WarpgroupArguments<T>& w, const WarpgroupPart& part) {
  const GemmArguments<T>& g = w.x.g;
  using Box = WarpgroupBox<true>;
  constexpr int kLines = Box::kLines;
  const int warp = int(threadIdx.x) % 128 / 32, element = int(threadIdx.x) % 32 * 2;
  const int length = int(min(g.m - part.first, std::int64_t(64)));
  auto* const d = reinterpret_cast<std::uint16_t*>(g.d.elements()) + part.tile.batch * g.stride_d +
                  part.tile.column * g.ldd + part.first;
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
      std::uint16_t* const to = d + (first + line) * g.ldd;
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
