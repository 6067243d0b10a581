// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan of `packed` and `direct`. It cuts the batch into units, tiles of D and slices of k, that do not depend on
/// how many threads OpenMP gives to an execution.
#pragma once

#include "../thread_pool.hpp"
#include "arguments.hpp"
#include "panels.hpp"
#include "panels_layout.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace tessera::cpu {

using plugin::GemmProblem;

/// multiply_panels, or multiply_pairs.
template <class T>
using Multiply = void (*)(const TileProduct<T>&, const Blocks&, Scalar<T>* workspace);
/// The one for operands that are packed so.
template <class T>
Multiply<T> multiply_of(Packing packing) {
  if constexpr (kHasDotProducts && std::is_same_v<T, bfloat16>)
    if (packing.pairs) return multiply_pairs;
  return multiply_panels<T>;
}

/// D <- finish(sums + beta * C), of 16 bits.
template <class To>
class RoundedTarget final : public Target<Scalar<To>> {
  using S = Scalar<To>;

 public:
  RoundedTarget(S beta, const To* c, std::int64_t ldc, To* d, std::int64_t ldd, const Finish<S>& finish)
      : beta_(beta), c_(c), ldc_(ldc), d_(d), ldd_(ldd), finish_(finish) {}

  void prefetch(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const override {
    for (std::int64_t row = i; row < i + m; ++row)
      for (std::int64_t column = j; column < j + n; column += 32) {
        __builtin_prefetch(d_ + row * ldd_ + column, 1);
        if (beta_ != S(0)) __builtin_prefetch(c_ + row * ldc_ + column);
      }
  }
  void store(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n, S* sums, std::int64_t lds) const override {
    store_part(m, n, sums, lds, beta_, c_ + i * ldc_ + j, ldc_, d_ + i * ldd_ + j, ldd_, finish_.at(i, j));
  }

 private:
  S beta_;
  const To* c_;
  std::int64_t ldc_;
  To* d_;
  std::int64_t ldd_;
  Finish<S> finish_;
};

/// D <- finish(sums + beta * C), of the type of sums, which are of D or D^T.
template <class S, bool kTurned>
class SameTarget final : public Target<S> {
 public:
  SameTarget(S beta, const S* c, std::int64_t ldc, S* d, std::int64_t ldd, const Finish<S>& finish)
      : beta_(beta), c_(c), ldc_(ldc), d_(d), ldd_(ldd), finish_(finish) {}

  void prefetch(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const override {
    if (kTurned) std::swap(i, j), std::swap(m, n);
    for (std::int64_t row = i; row < i + m; ++row)
      for (std::int64_t column = j; column < j + n; column += 64 / int(sizeof(S))) {
        __builtin_prefetch(d_ + row * ldd_ + column, 1);
        if (beta_ != S(0)) __builtin_prefetch(c_ + row * ldc_ + column);
      }
  }
  void store(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n, S* sums, std::int64_t lds) const override {
    if (kTurned) std::swap(i, j), std::swap(m, n);
    for (std::int64_t row = 0; row < m; ++row) {
      S* const d = d_ + (i + row) * ldd_ + j;
      const S* const c = c_ + (i + row) * ldc_ + j;
      for (std::int64_t x = 0; x < n; ++x) {
        const S sum = sums[kTurned ? x * lds + row : row * lds + x];
        d[x] = beta_ == S(0) ? sum : sum + beta_ * c[x];
      }
    }
    if (finish_) finish_.at(i, j).apply(m, n, d_ + i * ldd_ + j, ldd_);
  }

 private:
  S beta_;
  const S* c_;
  std::int64_t ldc_;
  S* d_;
  std::int64_t ldd_;
  Finish<S> finish_;
};

/// A and B of type T, C and D of type To; `problem` as it is computed.
template <class T, class To>
class PanelsPlan final : public plugin::Plan {
  using S = Scalar<T>;
  using Arguments = GemmArguments<T, To>;
  /// D holds sums; else they are kept beside it until they are complete.
  static constexpr bool kHoldsSums = std::is_same_v<To, S>;
  /// The slices from this one on have partial results of their own.
  static constexpr std::int64_t kPartialsBegin = kHoldsSums ? 1 : 0;

 public:
  PanelsPlan(const GemmProblem& problem, const PanelsLayout& layout, const std::optional<PanelsForm>& form)
      : p_(problem), layout_(layout), grid_(layout.grid), form_(form), multiply_(multiply_of<T>(layout.packing)) {}

  std::uint64_t workspace_bytes() const override { return layout_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    const Arguments arguments(p_, execution);
    const std::int64_t units = grid_.units() * p_.batch;
    const bool in_slices = grid_.slices > 1 && arguments.alpha != S(0);
    run_steps(layout_.threads, in_slices ? 2 : 1, [&](Team team, std::int64_t step) {
      if (step == 1) return add_partials(team, arguments);
      S* own = nullptr;
      if (layout_.thread_bytes > 0)
        own =
            arguments.workspace + (layout_.partial_bytes + layout_.thread_bytes * std::uint64_t(team.rank)) / sizeof(S);
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit)
        compute(unit, arguments, own);
    });
  }

 private:
  void compute(std::int64_t unit, const Arguments& arguments, S* own) const {
    std::int64_t item = unit, slice = 0, i = 0, j = 0;
    if (grid_.units() > 1) {
      const std::int64_t tiles = grid_.rows * grid_.columns, tile = unit % tiles;
      item = unit / grid_.units(), slice = unit / tiles % grid_.slices;
      i = tile / grid_.columns * grid_.tile_m, j = tile % grid_.columns * grid_.tile_n;
    }
    const std::int64_t m = std::min(grid_.tile_m, p_.m - i), n = std::min(grid_.tile_n, p_.n - j);
    const bool turned = layout_.packing.turned;
    const std::int64_t row = turned ? j : i, column = turned ? i : j;  // of D
    const To* c = arguments.c + item * arguments.stride_c + row * arguments.ldc + column;
    To* d = arguments.d + item * p_.stride_d + row * p_.ldd + column;
    if (p_.k == 0 || arguments.alpha == S(0)) {
      if (slice == 0)
        scale_tile(turned ? n : m, turned ? m : n, arguments.beta, c, arguments.ldc, d, p_.ldd,
                   arguments.finish(item, row, column));
      return;
    }
    TileProduct<T> product = inputs(arguments, item, i, j, slice * grid_.slice_k);
    product.m = m, product.n = n;
    if (slice >= kPartialsBegin && grid_.slices > 1) {
      product.beta = S(0);
      product.d = partial(arguments, slice) + i * p_.n + j;
      product.ldd = p_.n;
      return multiply_(product, layout_.blocks, own);
    }
    if (grid_.slices == 1) product.finish = arguments.finish(item, row, column);
    multiply_whole(product, c, arguments.ldc, d, own);
  }

  /// The product over all k, into D.
  void multiply_whole(TileProduct<T>& product, const To* c, std::int64_t ldc, To* d, S* own) const {
    const std::int64_t ldd = p_.ldd;
    if constexpr (!kHoldsSums) {
      multiply_beside(product, own, [&](std::int64_t i, std::int64_t j) {
        return RoundedTarget<To>(product.beta, c + i * ldc + j, ldc, d + i * ldd + j, ldd, product.finish.at(i, j));
      });
    } else if (layout_.packing.turned) {
      multiply_beside(product, own, [&](std::int64_t i, std::int64_t j) {
        return SameTarget<S, true>(product.beta, c + j * ldc + i, ldc, d + j * ldd + i, ldd, product.finish.at(j, i));
      });
    } else if (layout_.blocks.sums > 0 || (layout_.packing.chained && takes_columns(product))) {
      multiply_beside(product, own, [&](std::int64_t i, std::int64_t j) {
        return SameTarget<S, false>(product.beta, c + i * ldc + j, ldc, d + i * ldd + j, ldd, product.finish.at(i, j));
      });
    } else {
      product.c = c, product.ldc = ldc, product.d = d, product.ldd = ldd;
      multiply_(product, layout_.blocks, own);
    }
  }

  /// A product with its operands from element (i, l) of op(A) and (l, j) of op(B) on, without C and D.
  TileProduct<T> inputs(const Arguments& arguments, std::int64_t item, std::int64_t i, std::int64_t j,
                        std::int64_t l) const {
    const T *a = arguments.a, *b = arguments.b;
    if (layout_.packing.turned) std::swap(a, b);
    if (form_) return with_panels(a, b, arguments, item, i, j);
    return {.trans_a = p_.trans_a,
            .trans_b = p_.trans_b,
            .m = 0,
            .n = 0,
            .k = std::min(grid_.slice_k, p_.k - l),
            .alpha = arguments.alpha,
            .a = a + item * p_.stride_a + (p_.trans_a ? l * p_.lda + i : i * p_.lda + l),
            .lda = p_.lda,
            .b = b + item * p_.stride_b + (p_.trans_b ? j * p_.ldb + l : l * p_.ldb + j),
            .ldb = p_.ldb,
            .beta = arguments.beta,
            .c = nullptr,
            .ldc = 0,
            .d = nullptr,
            .ldd = 0};
  }

  /// The product into D that cannot hold sums: each tile goes there when its sums over all k are complete, and C enters
  /// then. `target_at`: the Target of what begins at an element of the product's.
  template <class TargetAt>
  void multiply_beside(const TileProduct<T>& product, S* own, const TargetAt& target_at) const {
    alignas(64) S stack[kStackBytes / sizeof(S)];
    const Blocks& blocks = layout_.blocks;
    const std::int64_t rows = blocks.sums > 0 ? blocks.m : product.m;
    for (std::int64_t i = 0; i < product.m; i += rows)
      for (std::int64_t j = 0; j < product.n; j += blocks.span) {
        TileProduct<T> block = product;
        block.m = std::min(rows, product.m - i), block.n = std::min(blocks.span, product.n - j);
        block.a += p_.trans_a ? i : i * p_.lda;
        if (block.panels.data != nullptr)
          block.panels.first += j;
        else
          block.b += p_.trans_b ? j * p_.ldb : j;
        block.beta = S(0), block.finish = {}, block.chained = layout_.packing.chained;
        block.d = own != nullptr ? own + blocks.packed_a + blocks.packed_b : stack;
        block.ldd = block.n;
        const auto target = target_at(i, j);
        block.target = &target;
        multiply_(block, blocks, own);
      }
  }

  /// The same of an op(B) that was packed before, over all k.
  TileProduct<T> with_panels(const T* a, const void* form, const Arguments& arguments, std::int64_t item,
                             std::int64_t i, std::int64_t j) const {
    TileProduct<T> product{};
    product.trans_a = p_.trans_a, product.k = p_.k;
    product.alpha = arguments.alpha, product.beta = arguments.beta;
    product.a = a + item * p_.stride_a + (p_.trans_a ? i : i * p_.lda), product.lda = p_.lda;
    product.panels = form_->at(form, sizeof(S), item, j);
    return product;
  }

  /// The m x n sums of a slice.
  S* partial(const Arguments& arguments, std::int64_t slice) const {
    return arguments.workspace + (slice - kPartialsBegin) * p_.m * p_.n;
  }

  /// In the order of the slices, row by row.
  void add_partials(Team team, const Arguments& arguments) const {
    for (std::int64_t i = team.begin(p_.m), end = team.end(p_.m); i < end; ++i) {
      To* d = arguments.d + i * p_.ldd;
      S* sums = nullptr;
      if constexpr (kHoldsSums)
        sums = d;
      else
        sums = partial(arguments, 0) + i * p_.n;
      for (std::int64_t slice = 1; slice < grid_.slices; ++slice) {
        const S* more = partial(arguments, slice) + i * p_.n;
        for (std::int64_t j = 0; j < p_.n; ++j) sums[j] += more[j];
      }
      const Finish<S> finish = arguments.finish(0, i, 0);
      if constexpr (!kHoldsSums)
        store_row(p_.n, sums, arguments.beta, arguments.c + i * arguments.ldc, d, finish);
      else if (finish)
        finish.apply(1, p_.n, d, p_.ldd);
    }
  }

  GemmProblem p_;
  PanelsLayout layout_;
  Grid grid_;
  std::optional<PanelsForm> form_;  ///< of an op(B) that was packed before
  Multiply<T> multiply_;
};

/// For the types of `List`.
template <class List>
std::unique_ptr<plugin::Plan> make_panels_plan(const GemmProblem& p, const PanelsLayout& layout,
                                               const std::optional<PanelsForm>& form = {}) {
  return plugin::with_gemm_types<List>(
      p, [&]<class T, class To>(std::type_identity<T>, std::type_identity<To>) -> std::unique_ptr<plugin::Plan> {
        return std::make_unique<PanelsPlan<T, To>>(p, layout, form);
      });
}

}  // namespace tessera::cpu
