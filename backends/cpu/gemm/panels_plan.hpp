// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan of `packed` and `direct`. It cuts the batch into units, tiles of C and slices of k, that do not depend on
/// how many threads OpenMP gives to an execution.
#pragma once

#include "../parallel.hpp"
#include "panels.hpp"
#include "panels_layout.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <memory>

namespace tessera::cpu {

using plugin::GemmProblem;

template <class T>
class PanelsPlan final : public plugin::Plan {
 public:
  PanelsPlan(const GemmProblem& problem, const PanelsLayout& layout)
      : p_(problem), layout_(layout), grid_(layout.grid) {}

  std::uint64_t workspace_bytes() const override { return layout_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    const Arguments arguments{execution.scalar<T>(0),        execution.scalar<T>(1),  execution.operand<const T>(0),
                              execution.operand<const T>(1), execution.operand<T>(2), execution.workspace<T>()};
    const std::int64_t units = grid_.units() * p_.batch;
    const bool in_slices = grid_.slices > 1 && arguments.alpha != T(0);
    run_steps(layout_.threads, in_slices ? 2 : 1, [&](Team team, std::int64_t step) {
      if (step == 1) return add_partials(team, arguments);
      T* own = nullptr;
      if (layout_.thread_bytes > 0)
        own =
            arguments.workspace + (layout_.partial_bytes + layout_.thread_bytes * std::uint64_t(team.rank)) / sizeof(T);
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit)
        compute(unit, arguments, own);
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
    multiply_panels(product, layout_.blocks, own);
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
  PanelsLayout layout_;
  Grid grid_;
};

inline std::unique_ptr<plugin::Plan> make_panels_plan(const GemmProblem& p, const PanelsLayout& layout) {
  return plugin::with_types<WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<PanelsPlan<T>>(p, layout);
  });
}

}  // namespace tessera::cpu
