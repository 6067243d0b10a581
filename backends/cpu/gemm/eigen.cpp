// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by Eigen. The plan cuts every D of the batch into a fixed grid of tiles, and one thread computes a tile. So the
/// bits do not depend on how many threads OpenMP gives to an execution.

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "arguments.hpp"
#include "model.hpp"
#include "panels.hpp"

#include <string_view>

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// Edges of tiles in elements: whole registers of Eigen's kernel, whole cache lines of D.
constexpr TileAlignment kAlignment{8, 48};

template <class T>
class EigenPlan final : public plugin::Plan {
 public:
  EigenPlan(const Machine& machine, const GemmProblem& problem, const Grid& grid, int threads)
      : p_(problem), threads_(threads), grid_(grid) {
    if (grid_.units() == 0) return;
    small_ = is_small_for_eigen(grid_.tile_m, grid_.tile_n, p_.k, sizeof(T));
    if (small_) blocks_ = choose_blocks(machine, sizeof(T), grid_.tile_m, grid_.tile_n, p_.k, {false, p_.trans_b}, 0);
  }

  void execute(const plugin::Execution& execution) override {
    const GemmArguments<T> arguments(p_, execution);
    const std::int64_t units = grid_.units() * p_.batch;
    run_team(threads_, [&](Team team) {
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit) compute(unit, arguments);
    });
  }

 private:
  void compute(std::int64_t unit, const GemmArguments<T>& arguments) const {
    const std::int64_t item = unit / grid_.units(), tile = unit % grid_.units();
    const std::int64_t i = tile / grid_.columns * grid_.tile_m, j = tile % grid_.columns * grid_.tile_n;
    const std::int64_t m = std::min(grid_.tile_m, p_.m - i), n = std::min(grid_.tile_n, p_.n - j);
    const T* c = arguments.c + item * arguments.stride_c + i * arguments.ldc + j;
    T* d = arguments.d + item * p_.stride_d + i * p_.ldd + j;
    const Finish<T> finish = arguments.finish(item, i, j);
    if (p_.k == 0 || arguments.alpha == T(0))
      return scale_tile(m, n, arguments.beta, c, arguments.ldc, d, p_.ldd, finish);
    const T* a = arguments.a + item * p_.stride_a + (p_.trans_a ? i : i * p_.lda);
    const T* b = arguments.b + item * p_.stride_b + (p_.trans_b ? j * p_.ldb : j);
    const TileProduct<T> product{
        p_.trans_a, p_.trans_b,    m, n,      p_.k,  arguments.alpha, a, p_.lda, b, p_.ldb, arguments.beta,
        c,          arguments.ldc, d, p_.ldd, finish};
    if (small_) return multiply_panels<T>(product, blocks_, nullptr);
    multiply_blocked(product);
    if (finish) finish.apply(m, n, d, p_.ldd);
  }

  GemmProblem p_;
  int threads_;
  Grid grid_;
  bool small_ = false;
  Blocks blocks_{};  ///< of small products
};

/// Eigen 3.4 reaches two thirds of what 5 does.
constexpr bool kOldEigen = std::string_view(TESSERA_CPU_EIGEN_VERSION) < "5";

Machine with_this_eigen(Machine machine) {
  if (kOldEigen) machine.costs.gemm.eigen_multiply_add *= 1.5;
  return machine;
}

Grid grid_of(const Machine& machine, const GemmProblem& p, int threads) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return {};
  return choose_grid(machine, p, parts_per_product(p.batch, threads), 1, kAlignment);
}

void offer(const GemmProblem& p, const Machine& here, const plugin::GivenParameters& given, std::uint64_t,
           plugin::OfferList& offers) {
  const Machine machine = with_this_eigen(here);
  const auto seconds = [&](int threads) { return eigen_seconds(machine, p, grid_of(machine, p, threads), threads); };
  const int threads = int(given.in_range("threads", machine.useful_threads(seconds(1)), 1, kMostThreads));
  offers.add({{{"threads", threads}}, seconds(threads)});
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  const int threads = int(parameters.at("threads"));
  const Grid grid = grid_of(context.machine(), p, threads);
  return plugin::with_types<WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<EigenPlan<T>>(context.machine(), p, grid, threads);
  });
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"eigen", plugin::supports_all<GemmProblem, Machine>, offer, make, {.epilogue = true, .aux = true}}, 3};

}  // namespace
}  // namespace tessera::cpu
