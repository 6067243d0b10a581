// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by Eigen. The plan cuts every C of the batch into a fixed grid of tiles, one thread
/// computes a tile: so the bits do not depend on how many threads OpenMP gives to an execution.

#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "tile.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

/// Tiles of one matrix C.
struct Grid {
  std::int64_t tile_m, tile_n;
  std::int64_t rows, columns;  ///< how many tiles

  std::int64_t tiles() const { return rows * columns; }
};

/// Edges of tiles in elements: whole registers of Eigen's kernel, whole cache lines of C.
constexpr std::int64_t kAlignM = 8, kAlignN = 48;

Grid cut(std::int64_t m, std::int64_t n, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tile_m = std::min(m, round_up(divide_up(m, rows), kAlignM));
  const std::int64_t tile_n = std::min(n, round_up(divide_up(n, columns), kAlignN));
  return {tile_m, tile_n, divide_up(m, tile_m), divide_up(n, tile_n)};
}

/// The cut of C into `parts` tiles whose largest is smallest, and among those the one that packs
/// least of A and B.
Grid choose_grid(const GemmProblem& p, std::int64_t parts) {
  Grid best = cut(p.m, p.n, 1, 1);
  for (std::int64_t rows = 1; rows <= parts; ++rows) {
    if (parts % rows != 0) continue;
    const Grid grid = cut(p.m, p.n, rows, parts / rows);
    const auto cost = [](const Grid& g) { return std::pair(g.tile_m * g.tile_n, g.tile_m + g.tile_n); };
    if (cost(grid) < cost(best)) best = grid;
  }
  return best;
}

/// Tiles per matrix that share a batch evenly among the threads. A long batch needs none.
std::int64_t parts_per_matrix(std::int64_t batch, int threads) {
  return batch >= 8 * std::int64_t(threads) ? 1 : threads / std::gcd(batch, std::int64_t(threads));
}

template <class T>
class EigenPlan final : public plugin::Plan {
 public:
  EigenPlan(const GemmProblem& problem, int threads) : p_(problem), threads_(threads) {
    if (p_.m == 0 || p_.n == 0 || p_.batch == 0) return;
    grid_ = choose_grid(p_, parts_per_matrix(p_.batch, threads));
    small_ = is_small(grid_.tile_m, grid_.tile_n, p_.k);
  }

  void execute(const plugin::Execution& execution) override {
    const Arguments arguments{execution.scalar<T>(0), execution.scalar<T>(1), execution.operand<const T>(0),
                              execution.operand<const T>(1), execution.operand<T>(2)};
    const std::int64_t units = grid_.tiles() * p_.batch;
    run_team(threads_, [&](Team team) {
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit) compute(unit, arguments);
    });
  }

 private:
  struct Arguments {
    T alpha, beta;
    const T *a, *b;
    T* c;
  };

  /// Where packing costs more than it saves: up to 25 x 25 x 25 in f32, 20 x 20 x 20 in f64, as
  /// measured on AVX-512. It also keeps Eigen off its way for m + n + k < 20, whose sums depend on
  /// the alignment of the operands.
  static bool is_small(std::int64_t m, std::int64_t n, std::int64_t k) {
    return k * n <= kSmallOperand && m * n * k * std::int64_t(sizeof(T)) <= 64000;
  }

  void compute(std::int64_t unit, const Arguments& arguments) const {
    const std::int64_t item = unit / grid_.tiles(), tile = unit % grid_.tiles();
    const std::int64_t i = tile / grid_.columns * grid_.tile_m, j = tile % grid_.columns * grid_.tile_n;
    const std::int64_t m = std::min(grid_.tile_m, p_.m - i), n = std::min(grid_.tile_n, p_.n - j);
    T* c = arguments.c + item * p_.stride_c + i * p_.ldc + j;
    if (p_.k == 0 || arguments.alpha == T(0)) return scale_tile(m, n, arguments.beta, c, p_.ldc);
    const T* a = arguments.a + item * p_.stride_a + (p_.trans_a ? i : i * p_.lda);
    const T* b = arguments.b + item * p_.stride_b + (p_.trans_b ? j * p_.ldb : j);
    const TileProduct<T> product{p_.trans_a, p_.trans_b,     m, n,     p_.k, arguments.alpha, a, p_.lda, b,
                                 p_.ldb,     arguments.beta, c, p_.ldc};
    small_ ? multiply_small(product) : multiply_blocked(product);
  }

  GemmProblem p_;
  int threads_;
  Grid grid_{};
  bool small_ = false;
};

}  // namespace

GemmPlanPointer make_gemm_eigen(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  const int automatic = work_of(problem).useful_threads(context.threads());
  const int threads = int(options.parameters.take("threads", automatic, 1, 1024));
  if (problem.dtype == TESSERA_F32) return std::make_unique<EigenPlan<float>>(problem, threads);
  return std::make_unique<EigenPlan<double>>(problem, threads);
}

}  // namespace tessera::cpu
