// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by Eigen. The plan cuts every C of the batch into a fixed grid of tiles, and one thread computes a tile. So the
/// bits do not depend on how many threads OpenMP gives to an execution.

#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "grid.hpp"
#include "panels.hpp"

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// Edges of tiles in elements: whole registers of Eigen's kernel, whole cache lines of C.
constexpr GridLimits kLimits{.align_m = 8, .align_n = 48, .most_slices = 1};

template <class T>
class EigenPlan final : public plugin::Plan {
 public:
  EigenPlan(const GemmProblem& problem, int threads) : p_(problem), threads_(threads) {
    if (p_.m == 0 || p_.n == 0 || p_.batch == 0) return;
    grid_ = choose_grid(p_, parts_per_product(p_.batch, threads), kLimits);
    small_ = is_small(grid_.tile_m, grid_.tile_n, p_.k);
    if (small_) blocks_ = choose_blocks<T>(grid_.tile_m, grid_.tile_n, p_.k, false, p_.trans_b, 0);
  }

  void execute(const plugin::Execution& execution) override {
    const Arguments arguments{execution.scalar<T>(0), execution.scalar<T>(1), execution.operand<const T>(0),
                              execution.operand<const T>(1), execution.operand<T>(2)};
    const std::int64_t units = grid_.units() * p_.batch;
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

  /// Small products, for which packing costs more than it saves, go to our own kernels: up to 25 x 25 x 25 in f32 and
  /// 20 x 20 x 20 in f64, as measured on AVX-512. This also avoids Eigen's path for m + n + k < 20, whose sums depend
  /// on the alignment of the operands.
  static bool is_small(std::int64_t m, std::int64_t n, std::int64_t k) {
    return k > 0 && k * n <= 1024 && m * n * k * std::int64_t(sizeof(T)) <= 64000;
  }

  void compute(std::int64_t unit, const Arguments& arguments) const {
    const std::int64_t item = unit / grid_.units(), tile = unit % grid_.units();
    const std::int64_t i = tile / grid_.columns * grid_.tile_m, j = tile % grid_.columns * grid_.tile_n;
    const std::int64_t m = std::min(grid_.tile_m, p_.m - i), n = std::min(grid_.tile_n, p_.n - j);
    T* c = arguments.c + item * p_.stride_c + i * p_.ldc + j;
    if (p_.k == 0 || arguments.alpha == T(0)) return scale_tile(m, n, arguments.beta, c, p_.ldc);
    const T* a = arguments.a + item * p_.stride_a + (p_.trans_a ? i : i * p_.lda);
    const T* b = arguments.b + item * p_.stride_b + (p_.trans_b ? j * p_.ldb : j);
    const TileProduct<T> product{p_.trans_a, p_.trans_b,     m, n,     p_.k, arguments.alpha, a, p_.lda, b,
                                 p_.ldb,     arguments.beta, c, p_.ldc};
    small_ ? multiply_panels<T>(product, blocks_, nullptr) : multiply_blocked(product);
  }

  GemmProblem p_;
  int threads_;
  Grid grid_{};
  bool small_ = false;
  Blocks blocks_{};  ///< of small products
};

}  // namespace

GemmPlanPointer make_gemm_eigen(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  const int threads = take_threads(options, work_of(problem).useful_threads(context.threads()));
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> GemmPlanPointer {
    return std::make_unique<EigenPlan<T>>(problem, threads);
  });
}

}  // namespace tessera::cpu
