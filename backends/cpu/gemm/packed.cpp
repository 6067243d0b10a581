// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels. The plan cuts the batch into units, tiles of C and slices of k, that do not depend
/// on how many threads OpenMP gives to an execution. `packed` copies blocks of both operands into the order in
/// which the kernels read them; `direct` reads operands where they lie, but for a transposed B.

#include "../caches.hpp"
#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "grid.hpp"
#include "micro_kernel.hpp"
#include "panels.hpp"
#include "tiles.hpp"

#include <omp.h>

#include <algorithm>
#include <string_view>

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// Threads' workspaces begin on pages of their own.
constexpr std::int64_t kPage = 4096;
/// Depth below which a slice of k is not worth a partial result.
constexpr std::int64_t kShortestSlice = 1024;

template <class T>
class PanelsPlan final : public plugin::Plan {
 public:
  PanelsPlan(const GemmProblem& problem, bool pack, int threads, std::uint64_t workspace_limit)
      : p_(problem), threads_(threads) {
    if (p_.m == 0 || p_.n == 0 || p_.batch == 0) return;
    const std::int64_t partial = round_up(p_.m * p_.n * std::int64_t(sizeof(T)), kPage);
    const std::int64_t affordable = std::int64_t(workspace_limit / 2 / std::uint64_t(partial));
    const GridLimits limits{kRows, kVectors * kLanes<T>,
                            p_.batch > 1 ? 1 : 1 + std::min(affordable, p_.k / kShortestSlice)};
    grid_ = choose_grid(p_, parts_per_product(p_.batch, threads), limits);
    partials_ = std::uint64_t(partial * (grid_.slices - 1));
    if (p_.k == 0) return;
    const std::uint64_t room = (workspace_limit - std::min(workspace_limit, partials_)) / std::uint64_t(threads);
    blocks_ = choose_blocks<T>(grid_.tile_m, grid_.tile_n, grid_.slice_k, pack, pack || p_.trans_b,
                               room - room % std::uint64_t(kPage));
    const std::int64_t packed = (blocks_.packed_a + blocks_.packed_b) * std::int64_t(sizeof(T));
    if (packed > std::int64_t(kStackBytes)) own_ = std::uint64_t(round_up(packed, kPage));
  }

  std::uint64_t workspace_bytes() const override { return partials_ + own_ * std::uint64_t(threads_); }

  void execute(const plugin::Execution& execution) override {
    const Arguments arguments{execution.scalar<T>(0),        execution.scalar<T>(1),  execution.operand<const T>(0),
                              execution.operand<const T>(1), execution.operand<T>(2), execution.workspace<T>()};
    const std::int64_t units = grid_.units() * p_.batch;
    run_team(threads_, [&](Team team) {
      T* own = own_ == 0 ? nullptr : arguments.workspace + (partials_ + own_ * std::uint64_t(team.rank)) / sizeof(T);
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit)
        compute(unit, arguments, own);
      if (grid_.slices == 1 || arguments.alpha == T(0)) return;
      team.barrier();
      add_partials(team, arguments);
    });
  }

 private:
  struct Arguments {
    T alpha, beta;
    const T *a, *b;
    T *c, *workspace;
  };

  /// The first slice goes to C, the others to partial results.
  void compute(std::int64_t unit, const Arguments& arguments, T* own) const {
    std::int64_t item = unit, slice = 0, i = 0, j = 0;
    if (grid_.units() > 1) {
      const std::int64_t tiles = grid_.rows * grid_.columns, tile = unit % tiles;
      item = unit / grid_.units(), slice = unit / tiles % grid_.slices;
      i = tile / grid_.columns * grid_.tile_m, j = tile % grid_.columns * grid_.tile_n;
    }
    const std::int64_t l = slice * grid_.slice_k;
    TileProduct<T> product{.trans_a = p_.trans_a,
                           .trans_b = p_.trans_b,
                           .m = std::min(grid_.tile_m, p_.m - i),
                           .n = std::min(grid_.tile_n, p_.n - j),
                           .k = std::min(grid_.slice_k, p_.k - l),
                           .alpha = arguments.alpha,
                           .a = nullptr,
                           .lda = p_.lda,
                           .b = nullptr,
                           .ldb = p_.ldb,
                           .beta = arguments.beta,
                           .c = arguments.c + item * p_.stride_c + i * p_.ldc + j,
                           .ldc = p_.ldc};
    if (p_.k == 0 || arguments.alpha == T(0)) {
      if (slice == 0) scale_tile(product.m, product.n, product.beta, product.c, product.ldc);
      return;
    }
    product.a = arguments.a + item * p_.stride_a + (p_.trans_a ? l * p_.lda + i : i * p_.lda + l);
    product.b = arguments.b + item * p_.stride_b + (p_.trans_b ? j * p_.ldb + l : l * p_.ldb + j);
    if (slice > 0) {
      product.beta = T(0);
      product.c = arguments.workspace + ((slice - 1) * p_.m + i) * p_.n + j;
      product.ldc = p_.n;
    }
    multiply_panels(product, blocks_, own);
  }

  /// In the order of the slices, row by row.
  void add_partials(Team team, const Arguments& arguments) const {
    for (std::int64_t i = team.begin(p_.m), end = team.end(p_.m); i < end; ++i) {
      T* c = arguments.c + i * p_.ldc;
      for (std::int64_t slice = 1; slice < grid_.slices; ++slice) {
        const T* partial = arguments.workspace + ((slice - 1) * p_.m + i) * p_.n;
        for (std::int64_t j = 0; j < p_.n; ++j) c[j] += partial[j];
      }
    }
  }

  GemmProblem p_;
  int threads_;
  Grid grid_{};
  Blocks blocks_{};
  std::uint64_t partials_ = 0, own_ = 0;  ///< bytes of workspace: partial results of slices, packed blocks of a thread
};

GemmPlanPointer make(Context& context, const GemmProblem& problem, plugin::PlanOptions options, bool pack) {
  const int automatic = work_of(problem).useful_threads(context.threads());
  const int threads = take_threads(options, automatic);
  if (!pack)
    if (auto plan = make_tiles_plan(problem, threads)) return plan;
  if (problem.dtype == TESSERA_F32)
    return std::make_unique<PanelsPlan<float>>(problem, pack, threads, options.workspace_limit);
  return std::make_unique<PanelsPlan<double>>(problem, pack, threads, options.workspace_limit);
}

/// The choices below were measured on AVX-512: squares, and long and flat products, of 6 to 2000.

/// Of rows a leading dimension apart. Not an integer: behind the last row there need not be one.
double bytes_of(std::int64_t rows, std::int64_t ld, std::int64_t element) {
  return double(rows) * double(ld) * double(element);
}

/// Whether A, an element of each row at a time, is as well read where it lies. Rows are neighbours in a transposed one,
/// which then jumps from line to line; else they are long streams, that only a large A has too many pages for. Where B
/// is not transposed, it decides.
bool reads_well_a(const GemmProblem& p, std::int64_t element) {
  const double bytes = bytes_of(p.trans_a ? p.k : p.m, p.lda, element), level2 = double(caches().level2);
  if (p.trans_a) return bytes <= level2 / 8;
  return !p.trans_b || bytes < 2 * level2;
}

/// The same for rows of B. They are read well where they fill whole registers (others split cache lines), are less than
/// a page apart, and a block of them fits beside the rest in the second-level cache; else where packing has few rows of
/// A to repay it, or little to copy. A transposed B is packed by both algorithms.
bool reads_well_b(const GemmProblem& p, std::int64_t element) {
  constexpr std::int64_t kPageBytes = 4096;
  const std::int64_t row = p.ldb * element, depth = std::min(p.k, most_depth(element));
  const double all = bytes_of(p.k, p.ldb, element), level2 = double(caches().level2);
  if (p.trans_b || p.m <= kFewRows) return true;
  if (p.m <= 2 * kFewRows && all <= level2 * 3 / 4) return true;
  return row % kVectorBytes == 0 && row < kPageBytes ? double(depth * row) < level2 / 2 : all < level2 / 16;
}

/// Whether A is read once or twice, by one or two panels of columns; a large transposed one meets too many pages even
/// so.
bool has_few_columns(const GemmProblem& p, std::int64_t element) {
  const std::int64_t panels = divide_up(p.n * element, kMostVectors * kVectorBytes);
  return p.trans_a ? panels <= 1 && bytes_of(p.k, p.lda, element) <= double(caches().level2) : panels <= 2;
}

/// Whether few threads share a large product, for which Eigen's kernels are the faster ones since version 5: of 1024
/// and more, with A not transposed, 1.06 times as fast as `packed` on average with two threads (0.85 to 1.17) and 1.01
/// with one, 0.97 with 16.
bool suits_eigen(const GemmProblem& p) {
  constexpr bool fast = std::string_view(TESSERA_CPU_EIGEN_VERSION) >= "5" && kVectorBytes == 64;
  constexpr std::int64_t kLarge = 1024;
  return fast && p.batch == 1 && !p.trans_a && std::min({p.m, p.n, p.k}) >= kLarge && omp_get_max_threads() <= 2;
}

}  // namespace

/// An operand is read once for every panel of the other one: packing pays where that is often, and where it lies
/// so that rereading it misses the cache.
std::string_view preferred_gemm(const GemmProblem& p) {
  const auto element = std::int64_t(plugin::size_of(p.dtype));
  const bool direct = (reads_well_a(p, element) && reads_well_b(p, element)) || has_few_columns(p, element);
  return direct ? kGemmDirect.name : suits_eigen(p) ? kGemmEigen.name : kGemmPacked.name;
}

GemmPlanPointer make_gemm_packed(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  return make(context, problem, options, true);
}

GemmPlanPointer make_gemm_direct(Context& context, const GemmProblem& problem, plugin::PlanOptions options) {
  return make(context, problem, options, false);
}

}  // namespace tessera::cpu
