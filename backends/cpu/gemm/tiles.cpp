// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tiles.hpp"

#include "../parallel.hpp"
#include "panels.hpp"

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

template <class T>
class TilesPlan final : public plugin::Plan {
 public:
  TilesPlan(const GemmProblem& problem, int threads, std::vector<TileStep<T>> steps)
      : p_(problem), threads_(threads), steps_(std::move(steps)) {}

  void execute(const plugin::Execution& execution) override {
    const Epilogue<T> epilogue{execution.scalar<T>(0), execution.scalar<T>(1)};
    const T *const a = execution.operand<const T>(0), *const b = execution.operand<const T>(1);
    T* const c = execution.operand<T>(2);
    if (p_.k == 0 || epilogue.alpha == T(0)) return scale(c, epilogue.beta);
    if (threads_ == 1) return multiply(0, p_.batch, a, b, c, epilogue);
    run_team(threads_, [&](Team team) { multiply(team.begin(p_.batch), team.end(p_.batch), a, b, c, epilogue); });
  }

 private:
  /// Products [begin, end) of the batch.
  void multiply(std::int64_t begin, std::int64_t end, const T* a, const T* b, T* c, const Epilogue<T>& epilogue) const {
    for (std::int64_t item = begin; item < end; ++item)
      for (const TileStep<T>& step : steps_) {
        // Written anew for each tile: a copy of what was just written field by field would wait for the cache.
        const TileOperands<T> tile{a + item * p_.stride_a + step.a, p_.lda, b + item * p_.stride_b + step.b, p_.ldb,
                                   c + item * p_.stride_c + step.c, p_.ldc};
        step.kernel(p_.k, tile, epilogue, step.last_lanes);
      }
  }

  void scale(T* c, T beta) const {
    for (std::int64_t item = 0; item < p_.batch; ++item) scale_tile(p_.m, p_.n, beta, c + item * p_.stride_c, p_.ldc);
  }

  GemmProblem p_;
  int threads_;
  std::vector<TileStep<T>> steps_;
};

}  // namespace

std::unique_ptr<plugin::Plan> make_tiles_plan(const GemmProblem& p, int threads) {
  return plugin::with_types<WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<TilesPlan<T>>(p, threads, tile_steps<T>(p));
  });
}

}  // namespace tessera::cpu
