// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM kernels have in common: arguments, the walk over the tiles of all batches, and
/// BLAS's rules for the final update of C.
#pragma once

#include "../context.hpp"
#include "../launch.cuh"
#include "../vector.cuh"
#include "epilogue.cuh"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tessera::cuda {

using plugin::ceil_div;

/// A and B of type T, C and D of that type or of f32.
template <class T>
struct GemmArguments {
  using S = Scalar<T>;
  std::int64_t m, n, k;  ///< k is 0 where alpha is: A and B are not read
  std::int64_t lda, ldb, ldc, ldd;
  std::int64_t batch, stride_a, stride_b, stride_c, stride_d;
  const T* a;
  const T* b;
  Elements<T> c, d;  ///< D may be C
  S alpha, beta;
  Finish<T> finish;

  /// Whether D gets neither bias nor activation and C, if it is read, is D. Plain kernels know nothing else, and use
  /// no c: they have the registers for as fast a loop as they can.
  bool plain() const {
    const bool in_place = c.data() == d.data() && ldc == ldd && stride_c == stride_d;
    return !finish && (beta == S(0) || in_place);
  }
};

/// A tile of C: the place of its first element and the matrix of the batch that it is in.
struct GemmTile {
  std::int64_t row, column, batch;
};

template <class T>
__host__ __device__ std::int64_t tile_count(const GemmArguments<T>& g, int tile) {
  return ceil_div(g.m, tile) * ceil_div(g.n, tile) * g.batch;
}

/// Tiles are numbered along the rows of C, so that neighbouring blocks share rows of A in the L2.
template <class T>
__device__ GemmTile tile_at(const GemmArguments<T>& g, int tile, std::int64_t number) {
  const std::int64_t columns = ceil_div(g.n, tile), rows = ceil_div(g.m, tile);
  const std::int64_t row = number / columns;
  return {row % rows * tile, number % columns * tile, row / rows};
}

/// What becomes of an element of alpha op(A) op(B) + beta C once its sum is known, by BLAS's rules: beta = 0
/// does not read C; without a product (k or alpha is 0) alpha takes no part either.
template <class T>
struct Epilogue {
  using S = Scalar<T>;
  S alpha, beta;
  bool product;  ///< false where k or alpha is 0

  __device__ explicit Epilogue(const GemmArguments<T>& g) : alpha(g.alpha), beta(g.beta), product(g.k != 0) {}
  /// The sum itself: for the sums of slices.
  __device__ Epilogue() : alpha(1), beta(0), product(true) {}

  __device__ __forceinline__ bool reads_c() const { return beta != S(0); }
  __device__ __forceinline__ S operator()(S sum, S c) const {
    const S value = product ? alpha * sum : S(0);
    return beta != S(0) ? fma(beta, c, value) : value;
  }
  /// Neighbours in a row.
  template <int kWidth>
  __device__ __forceinline__ Vector<S, kWidth> operator()(Vector<S, kWidth> sums, const Vector<S, kWidth>& c) const {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sums.value[e] = (*this)(sums.value[e], c.value[e]);
    return sums;
  }
  /// With C at their place.
  template <int kWidth>
  __device__ __forceinline__ Vector<S, kWidth> operator()(const Vector<S, kWidth>& sums, const Elements<T>& c) const {
    return (*this)(sums, reads_c() ? c.template read<kWidth>() : Vector<S, kWidth>{});
  }
  /// Writes them to D, which is C.
  template <int kWidth>
  __device__ __forceinline__ void write(const Elements<T>& d, const Vector<S, kWidth>& sums) const {
    d.write((*this)(sums, d));
  }
};

/// Writes an element of D, of matrix `item`, once its sum is known. kPlain: for plain() arguments alone.
template <bool kPlain, class T>
__device__ __forceinline__ void write_element(const GemmArguments<T>& g, std::int64_t item, std::int64_t row,
                                              std::int64_t column, Scalar<T> sum) {
  using Sum = Vector<Scalar<T>, 1>;
  const auto d = g.d + (item * g.stride_d + row * g.ldd + column);
  if constexpr (kPlain) return Epilogue<T>(g).write(d, Sum{{sum}});
  auto value = Epilogue<T>(g)(Sum{{sum}}, g.c + (item * g.stride_c + row * g.ldc + column));
  if (g.finish) {
    const Finish<T> finish = g.finish.at(item, row, column);
    if (finish.bias) value.value[0] += finish.bias[0];
    if (finish.aux.is_stored()) finish.aux.data.write(value);
    if (finish.aux.is_read())
      value.value[0] *= differentiate_far(finish.activation, finish.aux.data[0]);
    else
      value.value[0] = activate_far(finish.activation, value.value[0]);
  }
  d.write(value);
}

template <class T>
GemmArguments<T> arguments_of(const plugin::GemmProblem& p, const plugin::Execution& e) {
  const auto alpha = e.scalar<Scalar<T>>(0);
  const bool wide = p.dtype_d != p.dtype, wide_bias = p.dtype_bias != p.dtype;
  const void* const bias = p.bias != TESSERA_BIAS_NONE ? e.operand<const void>(4) : nullptr;
  const void* const aux = p.aux != TESSERA_AUX_NONE ? e.operand<const void>(p.aux_operand()) : nullptr;
  return {p.m,
          p.n,
          p.k * (alpha != 0),
          p.lda,
          p.ldb,
          p.ldc,
          p.ldd,
          p.batch,
          p.stride_a,
          p.stride_b,
          p.stride_c,
          p.stride_d,
          e.operand<const T>(0),
          e.operand<const T>(1),
          {e.operand<const void>(2), wide},
          {e.operand<const void>(3), wide},
          alpha,
          e.scalar<Scalar<T>>(1),
          {{bias, wide_bias},
           p.bias == TESSERA_BIAS_PER_ROW,
           p.activation,
           p.bias_increment,
           p.bias_stride,
           {{aux, wide}, p.aux == TESSERA_AUX_STORE, p.ldaux, p.stride_aux}}};
}

/// A plan that launches one kernel of `tile` x `tile` elements a block.
template <class T>
class GemmPlan final : public plugin::Plan {
 public:
  using Kernel = void (*)(GemmArguments<T>);

  /// `kernels`: for any arguments, for plain ones.
  GemmPlan(Context& context, const plugin::GemmProblem& problem, std::array<Kernel, 2> kernels, int tile, dim3 block)
      : context_(context), problem_(problem), kernels_(kernels), tile_(tile), block_(block) {
    const DeviceGuard guard(context.device());
    for (const Kernel kernel : kernels) prepare(kernel);
  }

  void execute(const plugin::Execution& e) override {
    const GemmArguments<T> g = arguments_of<T>(problem_, e);
    const DeviceGuard guard(context_.device());
    const auto blocks = unsigned(std::min(tile_count(g, tile_), kMaxGridX));
    launch(kernels_[g.plain()], dim3(blocks), block_, 0, context_.stream(), g);
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  std::array<Kernel, 2> kernels_;
  int tile_;
  dim3 block_;
};

/// Calls make(std::type_identity<T>, trans_a, trans_b), the last two as std::bool_constant.
template <class Make>
auto with_type_and_transposes(const plugin::GemmProblem& problem, Make&& make) {
  const auto with_b = [&](auto type, auto trans_a) {
    return problem.trans_b ? make(type, trans_a, std::true_type{}) : make(type, trans_a, std::false_type{});
  };
  return plugin::with_types(problem.dtype, [&](auto type) {
    return problem.trans_a ? with_b(type, std::true_type{}) : with_b(type, std::false_type{});
  });
}

}  // namespace tessera::cuda
