// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"

#include "panels_layout.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

/// Vector multiply-adds that a core has under way: a smaller tile waits for its sums.
constexpr double kMultiplyAddsInFlight = 8.0;

/// The largest unit of a grid.
struct Unit {
  std::int64_t m, n, k;
};

/// The register tiles of a unit: how many, and the average of one.
struct Tiles {
  double down, across;
  double rows, vectors;

  Tiles(const InstructionSet& set, std::int64_t element, const Unit& u, Packing packing) {
    const std::int64_t all = ceil_div(u.n, set.vector_bytes / element);
    across = double(ceil_div<std::int64_t>(all, packing.b ? set.tile_vectors : set.most_vectors));
    vectors = double(all) / across;
    down = double(ceil_div<std::int64_t>(u.m, packing.a ? set.tile_rows : set.most_rows(int(std::ceil(vectors)))));
    rows = double(u.m) / down;
  }
  double count() const { return down * across; }
  /// Vector multiply-adds for one k, or as many as had time meanwhile.
  double multiply_adds() const { return std::max({rows * vectors, rows + vectors, kMultiplyAddsInFlight}); }
};

/// The part of a block's lines that the second-level cache loses before they are read again. The block has `rows` rows
/// of `bytes` bytes each that begin `stride` bytes apart. Most of the cache's ways are free for it; where its rows need
/// more lines of some sets than that, as those of powers of two do, the rest is lost.
double lost_lines(const Caches& caches, std::int64_t rows, std::int64_t bytes, std::int64_t stride) {
  constexpr double kFreeWays = 0.75;
  constexpr std::int64_t kBins = 512, kMostRows = 512;
  const std::int64_t way = caches.level2 / caches.level2_ways, looked_at = std::min(rows, kMostRows);
  if (bytes >= way) return 0.0;  // then rows fill all sets alike
  const double bins_of_byte = double(kBins) / double(way);
  const auto bin_of = [&](std::int64_t place) { return std::size_t(double(place) * bins_of_byte); };
  std::array<int, kBins + 1> starts{};  // less ends
  for (std::int64_t row = 0, begin = 0; row < looked_at; ++row) {
    const std::int64_t end = begin + bytes;
    ++starts[bin_of(begin)];
    --starts[bin_of(std::min(end, way))];
    if (end > way) ++starts[0], --starts[bin_of(end - way)];
    begin += stride % way;
    if (begin >= way) begin -= way;
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  const double ways = double(*std::max_element(starts.begin(), starts.end())) * double(rows) / double(looked_at);
  return std::clamp(1.0 - kFreeWays * caches.level2_ways / ways, 0.0, 1.0);
}

/// Copying the blocks of one unit.
double pack_seconds(const GemmCosts& c, const GemmProblem& p, const Unit& u, const Blocks& blocks, Packing packing) {
  const double element = double(scalar_bytes(p)) / (packing.pairs ? 2.0 : 1.0);
  double seconds = 0.0;
  if (packing.a)
    seconds += double(ceil_div(u.n, blocks.sums > 0 ? blocks.span : u.n)) * double(u.m) * double(u.k) * element *
               (p.trans_a ? c.pack : c.pack_transpose);
  if (packing.turned) seconds += double(u.m) * double(u.n) * c.turned;
  if (packing.copies_b())
    seconds +=
        double(ceil_div(u.m, blocks.m)) * double(u.k) * double(u.n) * element * (p.trans_b ? c.pack_transpose : c.pack);
  return seconds;
}

/// What reading an operand in place costs more than reading its packed copy.
double in_place_seconds(const Machine& machine, const GemmProblem& p, const Unit& u, const Blocks& blocks,
                        Packing packing, const Tiles& tiles) {
  const GemmCosts& c = machine.costs.gemm;
  const std::int64_t element = scalar_bytes(p);
  double seconds = 0.0;
  if (!packing.a && p.trans_a) {
    const double bytes = double(p.k) * double(p.lda) * double(element), level2 = double(machine.caches.level2);
    seconds += tiles.count() * double(u.k) * c.column_line * std::min(1.0, 2.0 * bytes / level2);
    // Of a panel's lines each k has one that the next panel shares, but that is gone until then.
    if (bytes > level2)
      seconds += tiles.down * double(u.k) * double(kLineBytes) / machine.costs.common.bytes_per_thread;
  }
  if (!packing.b && tiles.down > 1.0) {
    const std::int64_t bytes = std::min(blocks.n, u.n) * element, stride = p.ldb * element;
    const double lines = double(u.n * element) / double(kLineBytes) * double(u.k) * (tiles.down - 1.0);
    seconds += lines * (c.near_line + c.far_line * lost_lines(machine.caches, std::min(blocks.k, u.k), bytes, stride));
    if (stride % machine.instructions.vector_bytes != 0)
      seconds += tiles.count() * tiles.vectors * double(u.k) * c.split_load;
  }
  return seconds;
}

double unit_seconds(const Machine& machine, const GemmProblem& p, const Unit& u, const Blocks& blocks, Packing packing,
                    bool listed) {
  const GemmCosts& c = machine.costs.gemm;
  if (u.k == 0) {                       // what is left is the epilogue
    constexpr double kActivation = 24;  // multiply-adds that an activation takes
    const double vectors = double(u.m) * double(u.n) * double(scalar_bytes(p)) / machine.instructions.vector_bytes;
    return c.product + (p.activation == TESSERA_ACTIVATION_NONE ? 0.0 : vectors * c.multiply_add * kActivation);
  }
  if (packing.chained && turns_columns(machine, p, u.m)) {
    const std::int64_t lanes = machine.instructions.vector_bytes / scalar_bytes(p);
    const double vectors = double(ceil_div(u.n, lanes)), turned = double(u.k / lanes * lanes);
    const double step = c.turn_columns + double(u.m) * c.few_row;
    return c.product + vectors * (c.block + turned * step + double(u.k % lanes) * c.gather_columns);
  }
  const Tiles tiles(machine.instructions, scalar_bytes(p), u, packing);
  const double k_blocks = double(ceil_div(u.k, blocks.k));
  const double step = packing.pairs ? c.dot_product : c.multiply_add;
  const double sums = tiles.count() * (double(packing.count(u.k)) * tiles.multiply_adds() * step + k_blocks * c.tile);
  const double in_place = in_place_seconds(machine, p, u, blocks, packing, tiles);
  if (listed) return sums + in_place;
  const double all_blocks = k_blocks * double(ceil_div(u.m, blocks.m)) * double(ceil_div(u.n, blocks.n));
  return c.product + all_blocks * c.block + sums + in_place + pack_seconds(c, p, u, blocks, packing);
}

/// Units that `threads` threads share, and the bytes that come from memory and go there.
double shared_seconds(const Machine& machine, const GemmProblem& p, const Grid& grid, int threads, double unit) {
  const double element = double(scalar_bytes(p)), outputs = double(p.m) * double(p.n) * double(p.batch);
  const double partial_bytes = 2.0 * outputs * element * double(grid.slices - 1);
  const double units = std::ceil(double(grid.units()) * double(p.batch) / threads);
  return machine.overhead(threads) + (grid.slices > 1 ? machine.costs.common.team : 0.0) +
         units * unit * machine.slowdown(threads) +
         (p.bytes() + partial_bytes) / (threads * machine.bandwidth(threads) * machine.costs.gemm.cached);
}

bool is_empty(const GemmProblem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

}  // namespace

double panels_seconds(const Machine& machine, const GemmProblem& p, const Grid& grid, const Blocks& blocks,
                      Packing packing, int threads, bool listed) {
  if (is_empty(p)) return machine.overhead(threads);
  const Unit unit{grid.tile_m, grid.tile_n, std::min(grid.slice_k, p.k)};
  return shared_seconds(machine, p, grid, threads, unit_seconds(machine, p, unit, blocks, packing, listed));
}

// Up to 25 x 25 x 25 in f32 and 20 x 20 x 20 in f64, as measured on AVX-512.
bool is_small_for_eigen(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element) {
  const double slab = double(k) * double(n);  // whole numbers overflow for sizes that no memory holds
  return k > 0 && slab <= 1024.0 && double(m) * slab * double(element) <= 64000.0;
}

double eigen_seconds(const Machine& machine, const GemmProblem& p, const Grid& grid, int threads) {
  if (is_empty(p)) return machine.overhead(threads);
  const GemmCosts& c = machine.costs.gemm;
  const std::int64_t element = scalar_bytes(p);
  const Unit u{grid.tile_m, grid.tile_n, p.k};
  if (is_small_for_eigen(u.m, u.n, u.k, element)) {
    const Packing packing{false, p.trans_b};
    const Blocks blocks = choose_blocks(machine, element, u.m, u.n, u.k, packing, 0);
    return shared_seconds(machine, p, grid, threads, unit_seconds(machine, p, u, blocks, packing, false));
  }
  const double m = double(u.m), n = double(u.n), k = double(u.k),
               lanes = double(machine.instructions.vector_bytes / element);
  double seconds = c.eigen_product + m * n * k / lanes * c.eigen_multiply_add;
  if (u.m == 1 || u.n == 1)  // a product with a vector, which loads bind
    seconds += m * n * k / lanes * c.eigen_vector_load;
  else
    seconds += double(element) * (m * k * (p.trans_a ? c.eigen_pack_transpose : c.eigen_pack) + n * k * c.eigen_pack +
                                  m * n * c.eigen_store);
  return shared_seconds(machine, p, grid, threads, seconds);
}

double reference_seconds(const Machine& machine, const GemmProblem& p) {
  const GemmCosts& c = machine.costs.gemm;
  constexpr double kActivation = 20;  // multiply-adds that an activation takes
  const double activations = p.activation == TESSERA_ACTIVATION_NONE ? 0.0 : double(p.m) * double(p.n) * kActivation;
  return machine.overhead(1) + double(p.batch) * c.reference_product +
         (p.flops() / 2.0 + double(p.batch) * activations) * c.reference_multiply_add;
}

double grid_seconds(const Machine& machine, const GemmProblem& p, const Grid& g) {
  const GemmCosts& c = machine.costs.gemm;
  const double m = double(g.tile_m), n = double(g.tile_n), k = double(g.slice_k), element = double(scalar_bytes(p));
  const double volume = m * n * k * element / machine.instructions.vector_bytes * c.multiply_add;
  return volume + element * c.touch * ((m + n) * k + (g.slices > 1 ? 2.0 * m * n : 0.0));
}

}  // namespace tessera::cpu
