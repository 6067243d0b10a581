// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the GEMM kernels have in common: arguments, the walk over the tiles of all batches, and
/// BLAS's rules for the final update of C.
#pragma once

#include "../context.hpp"
#include "../launch.cuh"
#include "../vector.cuh"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

using plugin::ceil_div;

template <class T>
struct GemmArguments {
  std::int64_t m, n, k;  ///< k is 0 where alpha is: A and B are not read
  std::int64_t lda, ldb, ldc;
  std::int64_t batch, stride_a, stride_b, stride_c;
  const T* a;
  const T* b;
  T* c;
  T alpha, beta;
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
/// does not read C; without a product (k or alpha is 0) alpha takes no part either. The one place for what
/// may follow: a bias, an activation.
template <class T>
struct Epilogue {
  T alpha, beta;
  bool product;  ///< false where k or alpha is 0

  __device__ explicit Epilogue(const GemmArguments<T>& g) : alpha(g.alpha), beta(g.beta), product(g.k != 0) {}
  /// The sum itself: for the sums of slices.
  __device__ Epilogue() : alpha(1), beta(0), product(true) {}

  __device__ __forceinline__ bool reads_c() const { return beta != T(0); }
  __device__ __forceinline__ T operator()(T sum, T c) const {
    const T value = product ? alpha * sum : T(0);
    return beta != T(0) ? fma(beta, c, value) : value;
  }
  /// Neighbours in a row.
  template <int kWidth>
  __device__ __forceinline__ Vector<T, kWidth> operator()(Vector<T, kWidth> sum, const Vector<T, kWidth>& c) const {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sum.value[e] = (*this)(sum.value[e], c.value[e]);
    return sum;
  }

  __device__ __forceinline__ void write(T* c, T sum) const { *c = (*this)(sum, reads_c() ? *c : T(0)); }
  template <int kWidth>
  __device__ __forceinline__ void write(T* c, const Vector<T, kWidth>& sum) const {
    auto* const place = reinterpret_cast<Vector<T, kWidth>*>(c);
    *place = (*this)(sum, reads_c() ? *place : Vector<T, kWidth>{});
  }
};

/// Throws where D is another matrix than C, which no algorithm here can do yet.
inline void require_in_place(const plugin::Execution& e) {
  if (e.operand<const void>(2) != e.operand<const void>(3))
    throw plugin::Error(TESSERA_UNSUPPORTED, "D beside C is not supported here: pass C alone, or choose backend cpu");
}

template <class T>
GemmArguments<T> arguments_of(const plugin::GemmProblem& p, const plugin::Execution& e) {
  require_in_place(e);
  const T alpha = e.scalar<T>(0);
  return {p.m,
          p.n,
          p.k * (alpha != T(0)),
          p.lda,
          p.ldb,
          p.ldc,
          p.batch,
          p.stride_a,
          p.stride_b,
          p.stride_c,
          e.operand<const T>(0),
          e.operand<const T>(1),
          e.operand<T>(2),
          alpha,
          e.scalar<T>(1)};
}

/// A plan that launches one kernel of `tile` x `tile` elements a block.
template <class T>
class GemmPlan final : public plugin::Plan {
 public:
  using Kernel = void (*)(GemmArguments<T>);

  GemmPlan(Context& context, const plugin::GemmProblem& problem, Kernel kernel, int tile, dim3 block)
      : context_(context), problem_(problem), kernel_(kernel), tile_(tile), block_(block) {
    const DeviceGuard guard(context.device());
    prepare(kernel);
  }

  void execute(const plugin::Execution& e) override {
    const GemmArguments<T> g = arguments_of<T>(problem_, e);
    const DeviceGuard guard(context_.device());
    const auto blocks = unsigned(std::min(tile_count(g, tile_), kMaxGridX));
    launch(kernel_, dim3(blocks), block_, 0, context_.stream(), g);
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  Kernel kernel_;
  int tile_;
  dim3 block_;
};

/// Calls make(std::type_identity<T>, trans_a, trans_b), the last two as std::bool_constant.
template <class Make>
auto with_gemm_types(const plugin::GemmProblem& problem, Make&& make) {
  const auto with_b = [&](auto type, auto trans_a) {
    return problem.trans_b ? make(type, trans_a, std::true_type{}) : make(type, trans_a, std::false_type{});
  };
  return plugin::with_types<WideTypes>(problem.dtype, [&](auto type) {
    return problem.trans_a ? with_b(type, std::true_type{}) : with_b(type, std::false_type{});
  });
}

}  // namespace tessera::cuda
