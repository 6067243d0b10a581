// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// multiply_panels for one type: included by a file per type.

#include "caches.hpp"
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

/// Kernels by rows - 1 and vectors - 1; the last entry of a row is the full width without a mask.
template <class T, bool kRowsAdjacent>
struct KernelTable {
  std::array<std::array<TileKernel<T>, kVectors + 1>, kRows> kernel;

  constexpr KernelTable() : kernel(make(std::make_index_sequence<kRows>{})) {}

 private:
  template <std::size_t... kR>
  static constexpr auto make(std::index_sequence<kR...>) {
    return std::array{make_row<int(kR) + 1>(std::make_index_sequence<kVectors>{})...};
  }
  template <int kR, std::size_t... kV>
  static constexpr std::array<TileKernel<T>, kVectors + 1> make_row(std::index_sequence<kV...>) {
    return {multiply_tile<T, kR, int(kV) + 1, kRowsAdjacent, true>...,
            multiply_tile<T, kR, kVectors, kRowsAdjacent, false>};
  }
};

/// The two kinds of panels that `rows` are cut into: as equal as can be, for a lower tile than full loses less.
struct RowPanels {
  std::int64_t count, height, higher;  ///< the first `higher` have a row more than `height`

  explicit RowPanels(std::int64_t rows) : count(divide_up(rows, kRows)), height(rows / count), higher(rows % count) {}
  std::int64_t first(std::int64_t panel) const { return panel * height + std::min(panel, higher); }
  int rows(std::int64_t panel) const { return int(height + (panel < higher)); }
};

/// A block of op(A) as the kernels read it.
template <class T>
struct BlockA {
  const T* data;
  std::int64_t row;     ///< distance of panels, per row or (packed) per panel
  std::int64_t stride;  ///< the kernel's
  bool rows_adjacent, packed;

  const T* panel(const RowPanels& rows, std::int64_t p) const { return data + (packed ? p : rows.first(p)) * row; }
};

template <class T>
BlockA<T> pack_a(const TileProduct<T>& p, const RowPanels& rows, std::int64_t i, std::int64_t l, std::int64_t depth,
                 T* target) {
  const T* a = p.a + (p.trans_a ? l * p.lda + i : i * p.lda + l);
  for (std::int64_t panel = 0; panel < rows.count; ++panel) {
    T* packed = target + panel * kRows * depth;
    const std::int64_t first = rows.first(panel);
    if (p.trans_a)
      pack_rows<T, kRows>(a + first, p.lda, rows.rows(panel), depth, packed, kRows);
    else
      pack_transposed<T, kRows>(a + first * p.lda, p.lda, rows.rows(panel), depth, packed, kRows);
  }
  return {target, kRows * depth, kRows, true, true};
}

template <class T>
BlockA<T> block_a(const TileProduct<T>& p, std::int64_t i, std::int64_t l) {
  if (p.trans_a) return {p.a + l * p.lda + i, 1, p.lda, true, false};
  return {p.a + i * p.lda + l, p.lda, p.lda, false, false};
}

/// A block of op(B) as the kernels read it.
template <class T>
struct BlockB {
  const T* data;
  std::int64_t panel, depth;  ///< distances of panels and of depths
};

template <class T>
BlockB<T> pack_b(const TileProduct<T>& p, std::int64_t l, std::int64_t j, std::int64_t depth, std::int64_t columns,
                 T* target) {
  const T* b = p.b + (p.trans_b ? j * p.ldb + l : l * p.ldb + j);
  constexpr std::int64_t width = kWidth<T>;
  for (std::int64_t first = 0; first < columns; first += width) {
    T* packed = target + first * depth;
    const std::int64_t in_panel = std::min(width, columns - first);
    if (!p.trans_b) {
      pack_rows<T, int(width)>(b + first, p.ldb, in_panel, depth, packed, width);
      continue;
    }
    for (std::int64_t k = 0; k < in_panel; k += kLanes<T>)
      pack_transposed<T, kLanes<T>>(b + (first + k) * p.ldb, p.ldb,
                                    int(std::min<std::int64_t>(kLanes<T>, in_panel - k)), depth, packed + k, width);
  }
  return {target, width * depth, width};
}

/// C += op(A) * op(B) for one block of each, tile by tile: a panel of A waits in the first-level cache, the block
/// of B in the second.
template <class T>
void multiply_block(const BlockA<T>& a, const RowPanels& rows, const BlockB<T>& b, std::int64_t columns,
                    std::int64_t depth, Epilogue<T> epilogue, T* c, std::int64_t ldc) {
  static constexpr KernelTable<T, true> kAdjacent;
  static constexpr KernelTable<T, false> kApart;
  const auto& table = a.rows_adjacent ? kAdjacent.kernel : kApart.kernel;
  constexpr std::int64_t width = kWidth<T>;
  for (std::int64_t panel = 0; panel < rows.count; ++panel) {
    const auto& kernels = table[std::size_t(rows.rows(panel) - 1)];
    TileOperands<T> tile{a.panel(rows, panel), a.stride, b.data, b.depth, c + rows.first(panel) * ldc, ldc};
    std::int64_t left = columns;
    for (; left >= width; left -= width) {
      kernels[kVectors](depth, tile, epilogue, kLanes<T>);
      tile.b += b.panel;
      tile.c += width;
    }
    if (left == 0) continue;
    const int vectors = int(divide_up(left, kLanes<T>));
    kernels[std::size_t(vectors - 1)](depth, tile, epilogue, int(left) - (vectors - 1) * kLanes<T>);
  }
}

}  // namespace

template <class T>
Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool pack_a, bool pack_b, std::uint64_t bytes) {
  constexpr std::int64_t width = kWidth<T>;
  const std::int64_t size = sizeof(T);
  // A third of the first-level cache for a panel of A, beside what streams through; half of the second for a block of
  // B. Rows: enough to use a packed block of B often.
  const std::int64_t most_k = std::max<std::int64_t>(64, caches().level1 / 3 / (kRows * size) / 64 * 64);
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
void multiply_panels(const TileProduct<T>& p, const Blocks& blocks, T* workspace) {
  alignas(64) T stack[kStackBytes / sizeof(T)];
  if (workspace == nullptr) workspace = stack;
  for (std::int64_t l = 0; l < p.k; l += blocks.k) {
    const std::int64_t depth = std::min(blocks.k, p.k - l);
    const Epilogue<T> epilogue{p.alpha, l == 0 ? p.beta : T(1)};
    for (std::int64_t i = 0; i < p.m; i += blocks.m) {
      const RowPanels rows(std::min(blocks.m, p.m - i));
      const BlockA<T> a = blocks.packed_a > 0 ? pack_a(p, rows, i, l, depth, workspace) : block_a(p, i, l);
      for (std::int64_t j = 0; j < p.n; j += blocks.n) {
        const std::int64_t columns = std::min(blocks.n, p.n - j);
        const BlockB<T> b = blocks.packed_b > 0 ? pack_b(p, l, j, depth, columns, workspace + blocks.packed_a)
                                                : BlockB<T>{p.b + l * p.ldb + j, kWidth<T>, p.ldb};
        multiply_block(a, rows, b, columns, depth, epilogue, p.c + i * p.ldc + j, p.ldc);
      }
    }
  }
}

}  // namespace tessera::cpu
