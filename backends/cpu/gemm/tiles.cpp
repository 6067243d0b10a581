// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tiles.hpp"

#include "../thread_pool.hpp"
#include "arguments.hpp"
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
    const GemmArguments<T> x(p_, execution);
    if (p_.k == 0 || x.alpha == T(0)) return scale(x);
    if (threads_ == 1) return multiply(0, p_.batch, x);
    run_team(threads_, [&](Team team) { multiply(team.begin(p_.batch), team.end(p_.batch), x); });
  }

 private:
  /// Products [begin, end) of the batch.
  void multiply(std::int64_t begin, std::int64_t end, const GemmArguments<T>& x) const {
    const Epilogue<T> epilogue{x.alpha, x.beta};
    const T *a = x.a + begin * p_.stride_a, *b = x.b + begin * p_.stride_b, *c = x.c + begin * x.stride_c;
    T* d = x.d + begin * p_.stride_d;
    for (std::int64_t item = begin; item < end; ++item) {
      for (const TileStep<T>& step : steps_) {
        // Written anew for each tile: a copy of what was just written field by field would wait for the cache.
        const TileOperands<T> tile{a + step.a, p_.lda, b + step.b, p_.ldb, c + step.c, x.ldc, d + step.d, p_.ldd};
        step.kernel(p_.k, tile, epilogue, step.last_lanes);
      }
      if (x.epilogue) x.finish(item, 0, 0).apply(p_.m, p_.n, d, p_.ldd);
      a += p_.stride_a, b += p_.stride_b, c += x.stride_c, d += p_.stride_d;
    }
  }

  void scale(const GemmArguments<T>& x) const {
    for (std::int64_t item = 0; item < p_.batch; ++item)
      scale_tile(p_.m, p_.n, x.beta, x.c + item * x.stride_c, x.ldc, x.d + item * p_.stride_d, p_.ldd,
                 x.finish(item, 0, 0));
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
