// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// multiply_panels for one type: included by a file per type.

#include "../caches.hpp"
#include "grid.hpp"
#include "pack.hpp"
#include "panels.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

/// Columns of a full tile: the width of a panel of op(B).
template <class T>
constexpr std::int64_t kWidth = kVectors* kLanes<T>;

template <class T>
using TileKernel = void (*)(std::int64_t, const TileOperands<T>&, Epilogue<T>, int);

/// Kernels by rows - 1 and vectors - 1: first those whose last vector is a part, then those of whole ones.
template <class T, bool kRowsAdjacent>
struct KernelTable {
  std::array<std::array<TileKernel<T>, 2 * kVectors>, kRows> kernel;

  constexpr KernelTable() : kernel(make(std::make_index_sequence<kRows>{})) {}

 private:
  template <std::size_t... kR>
  static constexpr auto make(std::index_sequence<kR...>) {
    return std::array{make_row<int(kR) + 1>(std::make_index_sequence<2 * kVectors>{})...};
  }
  template <int kR, std::size_t... kI>
  static constexpr std::array<TileKernel<T>, 2 * kVectors> make_row(std::index_sequence<kI...>) {
    return {multiply_tile<T, kR, int(kI) % kVectors + 1, kRowsAdjacent, (kI < kVectors)>...};
  }
};

/// How the rows of a block are cut into panels: packed ones are full but the last, others as equal as can be, since a
/// low tile wastes registers.
struct RowPanels {
  std::int64_t count, height, higher;  ///< the first `higher` panels have a row more than `height`
  std::int64_t rows;

  RowPanels(std::int64_t all, bool packed) : count(1), height(all), higher(0), rows(all) {
    if (all <= kRows) return;
    count = divide_up(all, kRows);
    height = packed ? kRows : all / count;
    higher = packed ? 0 : all % count;
  }
  std::int64_t first(std::int64_t panel) const { return panel * height + std::min(panel, higher); }
  std::int64_t height_of(std::int64_t panel) const { return std::min(height + (panel < higher), rows - first(panel)); }
};

/// A block of op(A) as the kernels read it.
template <class T>
struct BlockA {
  const T* data;
  std::int64_t row;     ///< distance of rows, for packed ones on the average of a panel
  std::int64_t stride;  ///< the kernels': of depths where rows are adjacent, else of rows
  bool rows_adjacent;
};

template <class T>
[[gnu::noinline]] BlockA<T> pack_a(const TileProduct<T>& p, std::int64_t i, std::int64_t l, std::int64_t rows,
                                   std::int64_t depth, T* target) {
  if (p.trans_a) {
    pack_rows<T, kRows>(p.a + l * p.lda + i, p.lda, rows, depth, target);
  } else {
    const T* a = p.a + i * p.lda + l;
    for (std::int64_t first = 0; first < rows; first += kRows)
      pack_transposed<T, kRows>(a + first * p.lda, p.lda, int(std::min<std::int64_t>(kRows, rows - first)), depth,
                                target + first * depth, kRows);
  }
  return {target, depth, kRows, true};
}

template <class T>
BlockA<T> block_a(const TileProduct<T>& p, std::int64_t i, std::int64_t l) {
  if (p.trans_a) return {p.a + l * p.lda + i, 1, p.lda, true};
  return {p.a + i * p.lda + l, p.lda, p.lda, false};
}

/// A block of op(B) as the kernels read it.
template <class T>
struct BlockB {
  const T* data;
  std::int64_t panel, depth;  ///< distances of panels and of depths
  bool packed;
};

template <class T>
[[gnu::noinline]] BlockB<T> pack_b(const TileProduct<T>& p, std::int64_t l, std::int64_t j, std::int64_t columns,
                                   std::int64_t depth, T* target) {
  constexpr std::int64_t width = kWidth<T>;
  if (!p.trans_b) {
    pack_rows<T, int(width)>(p.b + l * p.ldb + j, p.ldb, columns, depth, target);
  } else {
    const T* b = p.b + j * p.ldb + l;
    for (std::int64_t first = 0; first < columns; first += kLanes<T>)
      pack_transposed<T, kLanes<T>>(b + first * p.ldb, p.ldb, int(std::min<std::int64_t>(kLanes<T>, columns - first)),
                                    depth, target + first / width * width * depth + first % width, width);
  }
  return {target, width * depth, width, true};
}

/// Depth from which a tile takes long enough for its part of C to arrive from memory meanwhile.
constexpr std::int64_t kPrefetchDepth = 64;

template <class T>
void prefetch_full_tile(const T* c, std::int64_t ldc, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < kWidth<T>; j += 64 / int(sizeof(T))) __builtin_prefetch(c + r * ldc + j, 1);
}

/// C <- alpha * op(A) * op(B) + beta * C for one block of each, tile by tile: a panel of A waits in the first-level
/// cache, the block of B in the second.
template <class T>
void multiply_block(const BlockA<T>& a, const RowPanels& rows, const BlockB<T>& b, std::int64_t columns,
                    std::int64_t depth, Epilogue<T> epilogue, T* c, std::int64_t ldc, const Items& items) {
  static constexpr KernelTable<T, true> kAdjacent;
  static constexpr KernelTable<T, false> kApart;
  const auto& table = a.rows_adjacent ? kAdjacent.kernel : kApart.kernel;
  constexpr std::int64_t lanes = kLanes<T>;
  for (std::int64_t panel = 0; panel < rows.count; ++panel) {
    const std::int64_t first = rows.first(panel), height = rows.height_of(panel);
    TileOperands<T> tile{a.data + first * a.row, a.stride, b.data, b.depth, c + first * ldc, ldc};
    for (std::int64_t left = columns; left > 0;) {
      // A register more than a full tile goes in two tiles of about one width, where the panels allow it.
      const int wanted = int(divide_up(left, lanes));
      const int vectors = std::min(wanted, wanted == kVectors + 1 && !b.packed ? (wanted + 1) / 2 : kVectors);
      const std::int64_t taken = std::min(left, vectors * lanes), last_lanes = taken - (vectors - 1) * lanes;
      if (depth >= kPrefetchDepth && vectors == kVectors && last_lanes == lanes)
        prefetch_full_tile(tile.c, ldc, height);
      const auto kernel = table[std::size_t(height - 1)][std::size_t(vectors - 1 + (last_lanes == lanes) * kVectors)];
      TileOperands<T> one = tile;
      for (std::int64_t item = 0; item < items.count; ++item) {
        kernel(depth, one, epilogue, int(last_lanes));
        one.a += items.stride_a, one.b += items.stride_b, one.c += items.stride_c;
      }
      tile.b += vectors == kVectors ? b.panel : taken;
      tile.c += taken;
      left -= taken;
    }
  }
}

}  // namespace

template <class T>
Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool pack_a, bool pack_b, std::uint64_t bytes) {
  constexpr std::int64_t width = kWidth<T>;
  const std::int64_t size = sizeof(T);
  // A third of the first-level cache for a panel of A, beside what streams through; half of the second for a block of
  // B. A block of A is read once for a block of B: 2048 rows repay packing B.
  std::int64_t most_k = std::max<std::int64_t>(64, caches().level1 / 3 / (kRows * size));
  // B used up at once streams from memory: so many rows as hardware prefetchers follow.
  if (!pack_b && m <= kFewRows && n * k * size > caches().level2 / 4) most_k = 16;
  // A used up at once: long pieces of its rows, while the one panel of B stays in the second-level cache.
  if (!pack_a && n <= width) most_k = caches().level2 / 4 / (width * size);
  Blocks b{};
  b.k = round_up(divide_up(k, divide_up(k, most_k)), 8);
  const std::int64_t most_n = std::max(width, caches().level2 / 2 / (b.k * size) / width * width);
  b.n = round_up(divide_up(n, divide_up(n, most_n)), width);
  b.m = std::min<std::int64_t>(round_up(m, kRows), 2048);
  const std::int64_t room = std::int64_t(std::max(bytes, kStackBytes)) / size;
  for (;;) {
    b.packed_a = pack_a ? b.m * b.k : 0;
    b.packed_b = pack_b ? b.n * b.k : 0;
    if (b.packed_a + b.packed_b <= room) return b;
    if (b.m > kRows && b.packed_a >= b.packed_b)
      b.m = round_up(b.m / 2, kRows);
    else if (b.n > width)
      b.n = round_up(b.n / 2, width);
    else
      b.k = divide_up(b.k, 2);
  }
}

template <class T>
void multiply_panels(const TileProduct<T>& p, const Blocks& blocks, T* workspace, const Items& items) {
  alignas(64) T stack[kStackBytes / sizeof(T)];
  if (workspace == nullptr) workspace = stack;
  for (std::int64_t l = 0; l < p.k; l += blocks.k) {
    const std::int64_t depth = std::min(blocks.k, p.k - l);
    const Epilogue<T> epilogue{p.alpha, l == 0 ? p.beta : T(1)};
    for (std::int64_t i = 0; i < p.m; i += blocks.m) {
      const std::int64_t height = std::min(blocks.m, p.m - i);
      const RowPanels rows(height, blocks.packed_a > 0);
      const BlockA<T> a = blocks.packed_a > 0 ? pack_a(p, i, l, height, depth, workspace) : block_a(p, i, l);
      for (std::int64_t j = 0; j < p.n; j += blocks.n) {
        const std::int64_t columns = std::min(blocks.n, p.n - j);
        const BlockB<T> b = blocks.packed_b > 0 ? pack_b(p, l, j, columns, depth, workspace + blocks.packed_a)
                                                : BlockB<T>{p.b + l * p.ldb + j, kWidth<T>, p.ldb, false};
        multiply_block(a, rows, b, columns, depth, epilogue, p.c + i * p.ldc + j, p.ldc, items);
      }
    }
  }
}

}  // namespace tessera::cpu
