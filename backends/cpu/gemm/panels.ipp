// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// multiply_panels for one type: included by a file per type.

#include "kernel_table.hpp"
#include "pack.hpp"
#include "panels.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;

/// Columns of a full tile: the width of a panel of op(B).
template <class T>
constexpr std::int64_t kWidth = kVectors* kLanes<T>;

/// Elements of the largest tile.
template <class T>
constexpr std::int64_t kMostTile = 2 * kRows* kMostVectors* kLanes<T>;

/// An axis in chunks: all full but the last, as packing leaves them, or as equal as can be, since a low tile wastes
/// registers.
struct Chunks {
  std::int64_t length, count, size, larger;  ///< the first `larger` chunks have one more than `size`

  Chunks(std::int64_t all, std::int64_t most, bool equal) : length(all), count(1), size(all), larger(0) {
    if (all <= most) return;
    count = ceil_div(all, most);
    size = equal ? all / count : most;
    larger = equal ? all % count : 0;
  }
  std::int64_t first(std::int64_t chunk) const { return chunk * size + std::min(chunk, larger); }
  std::int64_t size_of(std::int64_t chunk) const { return std::min(size + (chunk < larger), length - first(chunk)); }
  std::int64_t largest() const { return size + (larger > 0); }
};

/// Calls body(i, rows, j, columns, vectors) for the tiles of an m x n block, row by row. `low`: of at most kRows rows.
template <class T, class Body>
void for_each_tile(std::int64_t m, std::int64_t n, bool a_packed, bool b_packed, bool low, Body&& body) {
  constexpr std::int64_t lanes = kLanes<T>;
  const Chunks across(ceil_div(n, lanes), b_packed ? kVectors : kMostVectors, !b_packed);
  const std::int64_t most = most_rows(int(across.largest()));
  const Chunks down(m, a_packed ? kRows : low ? std::min<std::int64_t>(kRows, most) : most, !a_packed);
  for (std::int64_t panel = 0; panel < down.count; ++panel)
    for (std::int64_t chunk = 0; chunk < across.count; ++chunk) {
      const std::int64_t j = across.first(chunk) * lanes, vectors = across.size_of(chunk);
      body(down.first(panel), down.size_of(panel), j, std::min(n - j, vectors * lanes), vectors);
    }
}

/// A block of op(A) as the kernels read it, packed as P.
template <class P>
struct BlockA {
  const P* data;
  std::int64_t row;     ///< distance of rows, for packed ones on the average of a panel
  std::int64_t stride;  ///< the kernels': from one k to the next where rows are adjacent, else from row to row
  bool rows_adjacent, packed;
  int least_exponent = 0;  ///< of pairs
};

/// Source: Singles or Pairs.
template <class Source, class T, class P = typename Source::Packed>
[[gnu::noinline]] BlockA<P> pack_a(const TileProduct<T>& p, std::int64_t i, std::int64_t l, std::int64_t rows,
                                   std::int64_t k, P* target) {
  Source source(p.a + (p.trans_a ? l * p.lda + i : i * p.lda + l), p.lda, k);
  const std::int64_t count = source.count();
  if (p.trans_a)
    pack_rows<kRows>(source, rows, target);
  else
    for (std::int64_t first = 0; first < rows; first += kRows)
      pack_transposed<kRows>(source, first, int(std::min<std::int64_t>(kRows, rows - first)), target + first * count,
                             kRows);
  return {target, count, kRows, true, true, source.least_exponent()};
}

template <class T>
BlockA<T> block_a(const TileProduct<T>& p, std::int64_t i, std::int64_t l) {
  if (p.trans_a) return {p.a + l * p.lda + i, 1, p.lda, true, false};
  return {p.a + i * p.lda + l, p.lda, p.lda, false, false};
}

/// A block of op(A), copied where that was chosen or its elements have 16 bits.
template <class Source, class T, class P = typename Source::Packed>
BlockA<P> read_a(const TileProduct<T>& p, const Blocks& blocks, std::int64_t i, std::int64_t l, std::int64_t rows,
                 std::int64_t k, P* workspace) {
  if constexpr (sizeof(T) != 2)
    if (blocks.packed_a == 0) return block_a(p, i, l);
  return pack_a<Source>(p, i, l, rows, k, workspace);
}

/// A block of op(B) as the kernels read it.
template <class P>
struct BlockB {
  const P* data;
  std::int64_t stride;  ///< from one k to the next
  bool packed;
  int least_exponent = 0;  ///< of pairs
  bool streamed = false;   ///< from memory
};

template <class Source, class T, class P = typename Source::Packed>
[[gnu::noinline]] BlockB<P> pack_b(const TileProduct<T>& p, std::int64_t l, std::int64_t j, std::int64_t columns,
                                   std::int64_t k, P* target) {
  constexpr std::int64_t width = kWidth<P>;
  constexpr int lanes = kLanes<P>;
  Source source(p.b + (p.trans_b ? j * p.ldb + l : l * p.ldb + j), p.ldb, k);
  if (!p.trans_b)
    pack_rows<int(width)>(source, columns, target);
  else
    for (std::int64_t first = 0; first < columns; first += lanes)
      pack_transposed<lanes>(source, first, int(std::min<std::int64_t>(lanes, columns - first)),
                             target + first / width * width * source.count() + first % width, width);
  return {target, width, true, source.least_exponent()};
}

/// Columns of a block that was packed before, number `block` along k: packed elements along k before it, and its own.
template <class P>
BlockB<P> panels_of(const Panels& p, std::int64_t block, std::int64_t before, std::int64_t j, std::int64_t columns,
                    std::int64_t count) {
  const std::int64_t column = p.first + j;
  const auto* const data = static_cast<const P*>(p.data) + p.columns * before + column * count;
  int least = std::numeric_limits<int>::max();
  if (p.least_exponents != nullptr)
    for (std::int64_t i = column / p.stretch; i * p.stretch < column + columns; ++i)
      least = std::min<int>(least, p.least_exponents[block * p.stretches + i]);
  return {data, kWidth<P>, true, least, true};
}

/// The same of op(B).
template <class Source, class T, class P = typename Source::Packed>
BlockB<P> read_b(const TileProduct<T>& p, const Blocks& blocks, std::int64_t l, std::int64_t j, std::int64_t columns,
                 std::int64_t k, P* workspace) {
  if (p.panels.data != nullptr)
    return panels_of<P>(p.panels, l / blocks.k, Source(nullptr, 0, l).count(), j, columns,
                        Source(nullptr, 0, k).count());
  if constexpr (sizeof(T) != 2)
    if (blocks.packed_b == 0) return {p.b + l * p.ldb + j, p.ldb, false};
  return pack_b<Source>(p, l, j, columns, k, workspace + blocks.packed_a);
}

/// The kernels for two blocks that are packed as P.
template <class P>
struct TilesOf {
  static auto find(const BlockA<P>& a, const BlockB<P>& b) {
    if (b.streamed)
      return a.rows_adjacent ? KernelTable<StreamedTiles<P, true>>::find : KernelTable<StreamedTiles<P, false>>::find;
    return a.rows_adjacent ? KernelTable<PlainTiles<P, true>>::find : KernelTable<PlainTiles<P, false>>::find;
  }
};

/// From this k on a tile takes long enough for its part of C and D to arrive from memory meanwhile.
constexpr std::int64_t kLeastPrefetchK = 64;

template <int kWrite, class T>
void prefetch_tile(const T* c, std::int64_t ldc, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; j += 64 / int(sizeof(T))) __builtin_prefetch(c + r * ldc + j, kWrite);
}

/// C and D of a block; where C is not read it stands for D. `finish` or `target` once the sums are complete.
template <class T>
struct Results {
  const T* c;
  std::int64_t ldc;
  T* d;
  std::int64_t ldd;
  Finish<T> finish;
  const Target<T>* target;
  std::int64_t i, j;  ///< of the block in the target
};

/// D <- alpha * op(A) * op(B) + beta * C for an m x n block, tile by tile: a panel of A waits in the first-level cache,
/// the block of B in the second. k counts packed elements.
template <class P, class T>
void multiply_block(const BlockA<P>& a, const BlockB<P>& b, std::int64_t m, std::int64_t n, std::int64_t k,
                    const Epilogue<T>& epilogue, const Results<T>& to) {
  // More rows than a cache of 4 KiB a way has ways would push each other out.
  constexpr std::int64_t kWay = 4096;
  const bool low = !a.rows_adjacent && a.stride * std::int64_t(sizeof(P)) % kWay == 0;
  const auto find = TilesOf<P>::find(a, b);
  for_each_tile<T>(m, n, a.packed, b.packed, low, [&](auto i, auto rows, auto j, auto columns, auto vectors) {
    const std::int64_t last_lanes = columns - (vectors - 1) * kLanes<T>;
    const P* const from = b.data + (b.packed ? j * k : j);
    const TileOperands<T, P> tile{a.data + i * a.row,    a.stride, from, b.stride, to.c + i * to.ldc + j, to.ldc,
                                  to.d + i * to.ldd + j, to.ldd};
    if (k >= kLeastPrefetchK && last_lanes == kLanes<T>) {
      if (to.target != nullptr)
        to.target->prefetch(to.i + i, to.j + j, rows, columns);
      else
        prefetch_tile<1>(tile.d, to.ldd, rows, columns);
      const bool is_there = to.target == nullptr ? tile.c == tile.d : epilogue.beta == T(0);
      if (!is_there) prefetch_tile<0>(tile.c, to.ldc, rows, columns);
    }
    const auto kernel = find(vectors, rows, last_lanes < kLanes<T>);
    if (!to.finish && to.target == nullptr) return kernel(k, tile, epilogue, int(last_lanes));
    // The sums wait in one piece: rows of D that are far apart may have the same few places in the cache.
    alignas(64) T sums[kMostTile<T>];
    TileOperands<T, P> waiting = tile;
    waiting.d = sums, waiting.ldd = vectors * kLanes<T>;
    kernel(k, waiting, epilogue, int(last_lanes));
    if (to.target != nullptr) return to.target->store(to.i + i, to.j + j, rows, columns, sums, waiting.ldd);
    to.finish.at(i, j).apply(rows, columns, sums, waiting.ldd, tile.d, to.ldd);
  });
}

/// multiply_panels for operands that Source packs.
template <class Source, class T>
void multiply_packed(const TileProduct<T>& p, const Blocks& blocks, Scalar<T>* workspace) {
  using S = Scalar<T>;
  using P = typename Source::Packed;
  static_assert(sizeof(P) == sizeof(S));
  alignas(64) P stack[kStackBytes / sizeof(P)];
  P* const packed = workspace == nullptr ? stack : reinterpret_cast<P*>(workspace);
  for (std::int64_t l = 0; l < p.k; l += blocks.k) {
    const std::int64_t k = std::min(blocks.k, p.k - l);
    const std::int64_t count = Source(nullptr, 0, k).count();
    const bool reads_c = l == 0 && p.beta != S(0), is_last = l + k == p.k;
    // C enters with the first block of k, later ones add to D, or go on with what is there.
    Epilogue<S> epilogue{p.alpha, l == 0 ? p.beta : S(1)};
    if (p.chained) epilogue = {is_last ? p.alpha : S(1), S(0), l > 0};
    for (std::int64_t i = 0; i < p.m; i += blocks.m) {
      const std::int64_t rows = std::min(blocks.m, p.m - i);
      const BlockA<P> a = read_a<Source>(p, blocks, i, l, rows, k, packed);
      for (std::int64_t j = 0; j < p.n; j += blocks.n) {
        const std::int64_t columns = std::min(blocks.n, p.n - j);
        const BlockB<P> b = read_b<Source>(p, blocks, l, j, columns, k, packed);
        S* const d = p.d + i * p.ldd + j;
        Results<S> to{d, p.ldd, d, p.ldd, {}, nullptr, i, j};
        if (reads_c) to.c = p.c + i * p.ldc + j, to.ldc = p.ldc;
        if (is_last) to.finish = p.finish.at(i, j), to.target = p.target;
        multiply_block(a, b, rows, columns, count, epilogue, to);
      }
    }
  }
}

/// Some lanes' columns of a product of kR rows, whose columns of op(B) lie along k. They are read once, as many of k at
/// a time as a vector has lanes. kWhole: there are as many columns as lanes.
template <class T, int kR, bool kWhole>
void multiply_columns(const TileProduct<T>& p, std::int64_t j, int columns) {
  constexpr int kN = kLanes<T>;
  const std::int64_t row = p.trans_a ? 1 : p.lda, along = p.trans_a ? p.lda : 1;
  const T* a = p.a;
  Singles<T> source(p.b + j * p.ldb, p.ldb, p.k);
  Vector<T> sum[kR] = {};
  std::int64_t l = 0;
  for (; l + kN <= p.k; l += kN) {
    Vector<T> block[kN] = {};
#pragma GCC unroll 16
    for (int c = 0; c < kN; ++c)
      if (kWhole || c < columns) source.template load<kN>(c, l, block[c]);
    transpose<T, kN>(block);
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i, a += along)
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r) sum[r] += a[r * row] * block[i];
  }
  for (; l < p.k; ++l, a += along) {
    Vector<T> last = {};
    for (int c = 0; c < columns; ++c) last[c] = source.at(c, l);
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) sum[r] += a[r * row] * last;
  }
  alignas(64) T sums[kR * kN];
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r) {
    if (p.alpha != T(1)) sum[r] *= p.alpha;
    store(sums + r * kN, sum[r]);
  }
  p.target->store(0, j, kR, columns, sums, kN);
}

template <class T, int kR>
void multiply_few(const TileProduct<T>& p) {
  constexpr std::int64_t kN = kLanes<T>;
  std::int64_t j = 0;
  for (; j + kN <= p.n; j += kN) multiply_columns<T, kR, true>(p, j, int(kN));
  if (j < p.n) multiply_columns<T, kR, false>(p, j, int(p.n - j));
}

template <class T, std::size_t... kR>
void multiply_few(const TileProduct<T>& p, std::index_sequence<kR...>) {
  constexpr void (*kByRows[])(const TileProduct<T>&) = {multiply_few<T, int(kR) + 1>...};
  kByRows[p.m - 1](p);
}

/// By one tile, where that is all of D and B is read in place: what surrounds several would take as long as a small
/// one.
template <class T>
bool multiply_tile_alone(const TileProduct<T>& p, decltype(&KernelTable<PlainTiles<T, true>>::find) find) {
  const std::int64_t vectors = ceil_div(p.n, std::int64_t(kLanes<T>));
  if (p.trans_b || vectors > kMostVectors || p.m > most_rows(int(vectors))) return false;
  const int last_lanes = int(p.n - (vectors - 1) * kLanes<T>);
  const bool reads_c = p.beta != T(0);
  find(vectors, p.m, last_lanes < kLanes<T>)(
      p.k, {p.a, p.lda, p.b, p.ldb, reads_c ? p.c : p.d, reads_c ? p.ldc : p.ldd, p.d, p.ldd}, {p.alpha, p.beta},
      last_lanes);
  return true;
}

}  // namespace

template <class T>
void multiply_panels(const TileProduct<T>& p, const Blocks& blocks, Scalar<T>* workspace) {
  if constexpr (sizeof(T) != 2)
    if (p.chained && takes_columns(p))
      return multiply_few(p, std::make_index_sequence<std::size_t(kInstructionSet.few_rows(sizeof(T)))>{});
  multiply_packed<Singles<T>>(p, blocks, workspace);
}

template <class T>
int pack_columns(const TileProduct<T>& p, std::int64_t l, std::int64_t column, std::int64_t columns, std::int64_t k,
                 Scalar<T>* target) {
  return pack_b<Singles<T>>(p, l, column, columns, k, target).least_exponent;
}

template <class T>
void multiply_small(const TileProduct<T>& p) {
  constexpr std::int64_t kDepth = 256, kCopied = kDepth * kWidth<T>;  // a panel of B at least
  alignas(64) T copy[kCopied];
  const auto find = p.trans_a ? KernelTable<PlainTiles<T, true>>::find : KernelTable<PlainTiles<T, false>>::find;
  if (multiply_tile_alone(p, find)) return;
  const std::int64_t lda = p.lda, ldd = p.ldd, depth = p.trans_b ? std::min(kDepth, p.k) : p.k;
  const std::int64_t most = p.trans_b ? kCopied / depth / kWidth<T> * kWidth<T> : p.n;
  for (std::int64_t first = 0; first < p.k; first += depth) {
    // C enters with the first of k, later ones add to D.
    const Epilogue<T> epilogue{p.alpha, first == 0 ? p.beta : T(1)};
    const bool reads_c = first == 0 && p.beta != T(0);
    const T* const a = p.a + (p.trans_a ? first * lda : first);
    const T* const c = reads_c ? p.c : p.d;
    const std::int64_t k = std::min(depth, p.k - first), ldc = reads_c ? p.ldc : ldd;
    for (std::int64_t j = 0; j < p.n; j += most) {
      const std::int64_t n = std::min(most, p.n - j);
      const BlockB<T> b = p.trans_b ? pack_b<Singles<T>>(p, first, j, n, k, copy) : BlockB<T>{p.b + j, p.ldb, false};
      for_each_tile<T>(p.m, n, false, b.packed, false, [&](auto i, auto rows, auto l, auto columns, auto vectors) {
        const std::int64_t last_lanes = columns - (vectors - 1) * kLanes<T>;
        find(vectors, rows, last_lanes < kLanes<T>)(
            k,
            {a + (p.trans_a ? i : i * lda), lda, b.data + (b.packed ? l * k : l), b.stride, c + i * ldc + j + l, ldc,
             p.d + i * ldd + j + l, ldd},
            epilogue, int(last_lanes));
      });
    }
  }
}

template <class T>
std::vector<TileStep<T>> tile_steps(const plugin::GemmProblem& p) {
  const auto find = p.trans_a ? KernelTable<PlainTiles<T, true>>::find : KernelTable<PlainTiles<T, false>>::find;
  std::vector<TileStep<T>> steps;
  for_each_tile<T>(p.m, p.n, false, false, false, [&](auto i, auto rows, auto j, auto columns, auto vectors) {
    const std::int64_t last_lanes = columns - (vectors - 1) * kLanes<T>;
    steps.push_back({find(vectors, rows, last_lanes < kLanes<T>), p.trans_a ? i : i * p.lda, j, i * p.ldc + j,
                     i * p.ldd + j, int(last_lanes)});
  });
  return steps;
}

}  // namespace tessera::cpu
