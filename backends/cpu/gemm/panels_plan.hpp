// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan of `packed` and `direct`. It cuts the batch into units, tiles of C and slices of k, that do not depend on
/// how many threads OpenMP gives to an execution.
#pragma once

#include "../parallel.hpp"
#include "grid.hpp"
#include "micro_kernel.hpp"
#include "panels.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>

namespace tessera::cpu {

using plugin::GemmProblem;
using plugin::round_up;

/// Threads' workspaces begin on pages of their own.
inline constexpr std::int64_t kPage = 4096;
/// A slice of k that is shorter is not worth a partial result.
inline constexpr std::int64_t kShortestSlice = 1024;

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

}  // namespace tessera::cpu
