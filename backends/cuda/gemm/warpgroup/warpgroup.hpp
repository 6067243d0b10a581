// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm warpgroup cuts a product: pure functions of the problem and the machine, without CUDA.
#pragma once

#include "../../machine.hpp"
#include "../../vector_access.hpp"
#include "../triangle_tiles.hpp"
#include "warpgroup_tiles.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cuda {

/// Whether a product is one of f32 in tf32: the others are of 16 bits.
inline bool warpgroup_in_tf32(const plugin::GemmProblem& p) { return plugin::size_of(p.dtype) == 4; }

/// Whether D is computed by its columns, as D^T = op(B)^T op(A)^T. Of 16 bits it can always be: a tile has 64 or 128
/// columns of D then, and as many rows as suit. In tf32, whose instruction reads B from shared memory where it is
/// K-major alone, the product is turned where op(A) is, or costs less to transpose than op(B).
inline bool warpgroup_turns(const plugin::GemmProblem& p) {
  return !warpgroup_in_tf32(p) || (!p.trans_b && (!p.trans_a || p.m <= p.n));
}

/// Whether a product of 16 bits can also be computed as D lies, by tiles of 64 or 128 rows and as many columns as suit:
/// where op(B) is K-major, D of 16 bits, and all rows and matrices but C's begin and end at multiples of 16 bytes.
inline bool warpgroup_may_keep(const plugin::GemmProblem& p) {
  const auto of_batch = [&p](std::int64_t stride) { return p.batch > 1 ? stride : 0; };
  return !warpgroup_in_tf32(p) && p.trans_b && plugin::size_of(p.dtype_d) == 2 &&
         whole_vectors(p.dtype, {p.n, p.lda, p.ldb, p.ldd, p.ldaux, of_batch(p.stride_a), of_batch(p.stride_b),
                                 of_batch(p.stride_d), of_batch(p.stride_aux)});
}

/// The product as the kernels compute it: the problem, or where that is turned m and n, A and B, rows and columns of
/// the bias exchanged; C and D as they lie. The functions below are about it.
plugin::GemmProblem warpgroup_product(const plugin::GemmProblem& problem, bool turned);

/// Of k in a step.
inline std::int64_t warpgroup_depth(const plugin::GemmProblem& product) {
  return WarpgroupTile::depth(plugin::size_of(product.dtype));
}

/// Columns of a tile are multiples of so many.
inline std::int64_t warpgroup_column_unit(const plugin::GemmProblem& product) {
  return WarpgroupTile::column_unit(plugin::size_of(product.dtype));
}

/// Whether B of a product is transposed on its way into the workspace.
inline bool warpgroup_transposes_b(const plugin::GemmProblem& product) {
  return warpgroup_in_tf32(product) && !product.trans_b;
}
/// Whether B's rows are of neighbours along k, as it is multiplied.
inline bool warpgroup_k_major_b(const plugin::GemmProblem& product) {
  return product.trans_b || warpgroup_transposes_b(product);
}
/// Whether an operand is copied into the workspace first: bulk copies know rows and matrices at distances of multiples
/// of 16 bytes.
inline bool warpgroup_copies_a(const plugin::GemmProblem& p) {
  return !whole_vectors(p.dtype, {p.lda, p.batch > 1 ? p.stride_a : 0});
}
inline bool warpgroup_copies_b(const plugin::GemmProblem& p) {
  return warpgroup_transposes_b(p) || !whole_vectors(p.dtype, {p.ldb, p.batch > 1 ? p.stride_b : 0});
}
inline bool warpgroup_copies(const plugin::GemmProblem& product) {
  return warpgroup_copies_a(product) || warpgroup_copies_b(product);
}

/// The distance of the copy's rows of so many neighbours: whole lines of 128 bytes.
inline std::int64_t warpgroup_copy_ld(const plugin::GemmProblem& product, std::int64_t neighbours) {
  return plugin::round_up(neighbours, warpgroup_depth(product));
}

/// Whether the matrices of a batch are one product, or several: of copied operands there is one matrix at a time.
inline bool warpgroup_merges_batch(const plugin::GemmProblem& product) {
  return product.batch <= 1 || !warpgroup_copies(product);
}

/// Rows of A and columns of B that are copied at a time: all, or equal shares of as many as fit.
struct WarpgroupPanels {
  std::int64_t m, n;
  std::uint64_t bytes_a, bytes_b;  ///< of the copies

  std::uint64_t bytes() const { return bytes_a + bytes_b; }
};

/// One way to run a product.
struct WarpgroupConfig {
  bool turned;  ///< see warpgroup_turns()
  WarpgroupTile tile;
  WarpgroupCluster cluster{};
  /// Slices of k of the tiles that are left over when all multiprocessors have had as many as the others, in a launch
  /// of their own; 1: there is none.
  std::int64_t tail = 1;
  std::int64_t split = 1;  ///< slices of k, whose sums are added in order, in a cluster or by another kernel
  WarpgroupPanels panels{};
  tessera_triangle triangle = TESSERA_TRIANGLE_NONE;  ///< of the product that is computed
};

/// Bytes of the slices' sums; 0 for one slice, and in a cluster.
std::uint64_t warpgroup_partial_bytes(const plugin::GemmProblem& product, const WarpgroupConfig& config);

/// The tiles of clusters that cover so many rows and columns.
struct WarpgroupTiles {
  std::int64_t rows, columns;
};
WarpgroupTiles warpgroup_tiles(std::int64_t m, std::int64_t n, const WarpgroupConfig& config);

/// A triangle of m x m elements by clusters' tiles, of which `band` rows are taken side by side.
TriangleTiles warpgroup_triangle(std::int64_t m, const WarpgroupConfig& config, std::int64_t band);

/// The clusters' tiles of all matrices, and their slices that are another cluster's work.
double warpgroup_all_tiles(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config);
double warpgroup_units(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config);

/// Clusters that run at once.
double warpgroup_held(const Machine& machine, const WarpgroupCluster& cluster);

/// Rows of clusters' tiles that are taken side by side: with the columns of the clusters that run at a time they make
/// about a square of D. `b_bytes`: of op(B), one matrix.
std::int64_t warpgroup_group(std::int64_t b_bytes, const Machine& machine, const WarpgroupConfig& config);

/// Clusters' tiles of a launch of m x n elements of each matrix that are computed in slices by the launch after it.
std::int64_t warpgroup_tail_tiles(std::int64_t m, std::int64_t n, std::int64_t batch, const Machine& machine,
                                  const WarpgroupConfig& config);

/// Blocks of a launch that computes one tile of m x n elements of each matrix after the other.
std::int64_t warpgroup_blocks(std::int64_t m, std::int64_t n, std::int64_t batch, const Machine& machine,
                              const WarpgroupConfig& config);

/// Steps of k, and what a launch computes: all matrices, or one.
std::int64_t warpgroup_steps(const plugin::GemmProblem& product);
plugin::GemmProblem warpgroup_of_a_launch(const plugin::GemmProblem& product);

/// Predicted time of the product.
double warpgroup_seconds(const plugin::GemmProblem& product, const Machine& machine, const WarpgroupConfig& config);

/// "tile_m", "tile_n", "cluster_m", "cluster_n", "cluster_k", "split", "tail", "panel_m", "panel_n" (0: all at once),
/// which are about D as it lies, and "compute" in tf32, else "turned": a configuration of the problem's product as
/// parameters, and back.
plugin::Parameters warpgroup_parameters(const plugin::GemmProblem& problem, const WarpgroupConfig& config);
WarpgroupConfig warpgroup_config(const plugin::GemmProblem& problem, const plugin::Parameters& parameters);

}  // namespace tessera::cuda
