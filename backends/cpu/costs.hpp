// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of the models of time: seconds, and bytes per second. gemm/model.cpp and stencil/model.cpp are the
/// models; perf/fit finds the values. These were measured on an Intel Xeon of family 6, model 207
/// (perf/baselines/xeon-*.json), with AVX-512.
#pragma once

namespace tessera::cpu {

/// What any work costs.
struct CommonCosts {
  double call = 0.1e-6;              ///< to enter a plan's execution
  double team = 4e-6;                ///< to wake and gather a team of threads
  double bytes_per_thread = 15.2e9;  ///< memory bandwidth that one core draws
  double bytes_per_socket = 109e9;   ///< and that there is for all
  double sharing = 0.176;            ///< n threads compute at n^(1 - sharing) times the rate of one
};

struct GemmCosts {
  double multiply_add = 1.722e-10;    ///< of vectors of a register's length, from the first-level cache
  double dot_product = 6.888e-10;     ///< the same of dot products of pairs, where the processor has them
  double tile = 3.3e-09;              ///< to begin and end a register tile
  double block = 1.778e-08;           ///< to begin a block of C
  double product = 7.006e-09;         ///< to begin a unit of work
  double pack = 2.95e-11;             ///< of a byte, rows as they are
  double pack_transpose = 2.723e-11;  ///< of a byte of rows that become columns
  double turn_columns = 7.7e-10;      ///< of a vector of columns that become rows in registers,
  double few_row = 1.0e-10;           ///< of one for each row of D,
  double gather_columns = 9e-9;       ///< and of one that is gathered at the end of k
  double near_line = 3e-11;           ///< a line of B in place, whose rows lie apart
  double far_line = 1.761e-09;        ///< a line of B in place that the second-level cache has lost again
  double column_line = 1.484e-09;     ///< a line of a transposed A in place
  double split_load = 2.292e-10;      ///< a vector of B in place that lies across two lines
  double touch = 0.0555e-9;           ///< of a byte, to weigh the edges of a unit against its volume
  double eigen_multiply_add = 1.821e-10, eigen_product = 7.187e-08;  ///< the same of Eigen
  double eigen_pack = 4.582e-11, eigen_pack_transpose = 8.783e-11;   ///< of a byte of A and B, of a transposed A,
  double eigen_store = 1.596e-11;                                    ///< and of C
  double eigen_vector_load = 1.249e-09;  ///< of a vector of a matrix that a vector is multiplied with
  double reference_product = 2.748e-08, reference_multiply_add = 9.118e-10;
  double turned = 1.2e-9;  ///< an element of D that is computed as one of D^T
  double cached = 1.905;   ///< times the memory's rate at which operands come: caches hold a part of them
};

/// A line is a cache line of results of a step, a row one of points.
struct StencilCosts {
  double line = 1.04e-9;               ///< to begin the sums of a line and to store them
  double multiply_add = 0.2e-9;        ///< of a line and a tap
  double load = 0.187e-9;              ///< of a line from the first-level cache
  double loop = 2.17e-9;               ///< of a line: to store sums and load them again for the next taps
  double plane = 0.275e-9;             ///< of a line: to load one of another plane from the second-level cache
  double nontemporal_plane = 1.21e-9;  ///< how much longer that takes where non-temporal stores use the same buffers
  double row = 4.74e-9;                ///< to begin a row
  double end_tap = 0.375e-9;           ///< of a tap of a point near a row's end
  double mapped_tap = 8e-9;            ///< to look up which row a tap reads, or that it reads a constant
  double put_together = 73.9e-9;       ///< of a row: lines at its ends that non-temporal stores need whole
  double block_edges = 30e-9;          ///< the same of a row in a block of rows
  double level3_line = 2.6e-9;         ///< to move a line to or from the shared cache
  double level3_share = 0.8;           ///< the part of it that a plan may hope to keep for itself
  double barrier = 1e-6;               ///< to wait for the other threads at the end of a step
  double level_line = 0.935e-9;        ///< of a line: a step of a tile in blocks of rows
  double level_block_row = 38.3e-9;    ///< to begin a row of it
  double level_row = 0.17e-6;          ///< to begin a row of a step of a tile that goes row by row
  double transfer_of_pass = 1.76;      ///< to move a line to a tile or from it: times what the memory needs
  double reference_point = 5e-9, reference_tap = 2e-9;
};

struct Costs {
  CommonCosts common;
  GemmCosts gemm;
  StencilCosts stencil;
};

inline constexpr Costs kAvx512Costs{};

/// The same where a dot product takes as long as a multiply-add, and so has twice the rate: on AMD's Zen 4 and Zen 5.
/// On the Xeon it takes four times as long.
constexpr Costs with_fast_dot_products(Costs costs) {
  costs.gemm.dot_product = costs.gemm.multiply_add;
  return costs;
}

/// What nobody has measured is as there, but for the vectors: a multiply-add takes that long, and a line has so many.
constexpr Costs with_vectors(Costs costs, double multiply_add, int vector_bytes) {
  constexpr double kThere = 0.222e-9;  // where the stencils were measured
  const double slower = multiply_add / kThere, more = slower * 64.0 / vector_bytes;
  costs.gemm.multiply_add = multiply_add;
  costs.gemm.dot_product *= slower;
  costs.gemm.eigen_multiply_add = 1.05 * multiply_add;
  costs.gemm.touch *= more;
  costs.stencil.line *= more;
  costs.stencil.multiply_add *= more;
  costs.stencil.load *= more;
  costs.stencil.loop *= more;
  costs.stencil.level_line *= more;
  return costs;
}

/// Multiply-adds of one core in a blocked product: 70 Gflop/s of f32 with AVX2, 18 with SSE, 30 with NEON.
inline constexpr Costs kAvx2Costs = with_vectors(kAvx512Costs, 0.229e-9, 32);
inline constexpr Costs kSseCosts = with_vectors(kAvx512Costs, 0.444e-9, 16);
inline constexpr Costs kNeonCosts = with_vectors(kAvx512Costs, 0.267e-9, 16);

}  // namespace tessera::cpu
