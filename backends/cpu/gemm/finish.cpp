// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "finish.hpp"

#include "../convert.hpp"
#include "activation.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

template <class S>
void add_bias(const plugin::Epilogue<S>& e, std::int64_t item, std::int64_t i, std::int64_t j, std::int64_t n,
              S* values) {
  const std::int64_t first = item * e.stride + (e.per_row ? i : j) * e.increment;
  if (e.per_row) {
    const S bias = e.bias_at(first);
    for (std::int64_t x = 0; x < n; ++x) values[x] += bias;
  } else if (e.increment == 1 && e.bias_dtype == tessera_dtype(kDType<S>)) {
    const S* const bias = static_cast<const S*>(e.bias) + first;
    for (std::int64_t x = 0; x < n; ++x) values[x] += bias[x];
  } else {
    for (std::int64_t x = 0; x < n; ++x) values[x] += e.bias_at(first + x * e.increment);
  }
}

/// values[x] = f(values[x]): a register at a time, the last one in part.
template <class S, class Function>
void for_each_register(std::int64_t n, S* values, Function&& f) {
  std::int64_t x = 0;
  for (; x + kLanes<S> <= n; x += kLanes<S>) store(values + x, f(load(values + x)));
  if (x == n) return;
  const Part<S> part(int(n - x));
  part.store(values + x, f(part.load(values + x)));
}

template <class S>
void activate_row(tessera_activation activation, std::int64_t n, S* values) {
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return for_each_register(n, values, relu<S>);
    case TESSERA_ACTIVATION_GELU:
      return for_each_register(n, values, gelu<S>);
    case TESSERA_ACTIVATION_GELU_TANH:
      return for_each_register(n, values, gelu_tanh<S>);
    case TESSERA_ACTIVATION_SILU:
      return for_each_register(n, values, silu<S>);
    case TESSERA_ACTIVATION_SIGMOID:
      return for_each_register(n, values, sigmoid<S>);
    case TESSERA_ACTIVATION_TANH:
      return for_each_register(n, values, tanh<S>);
    default:
      return;
  }
}

}  // namespace

template <class S>
void Finish<S>::apply(std::int64_t m, std::int64_t n, S* d, std::int64_t ldd) const {
  for (std::int64_t row = 0; row < m; ++row) {
    if (epilogue->bias != nullptr) add_bias(*epilogue, item, i + row, j, n, d + row * ldd);
    activate_row(epilogue->activation, n, d + row * ldd);
  }
}

template <class To>
void store_row(std::int64_t n, Scalar<To>* sums, Scalar<To> beta, const To* c, To* d,
               const Finish<Scalar<To>>& finish) {
  if (beta != 0.0f) {
    constexpr int kN = kLanes<float>;
    std::int64_t x = 0;
    for (; x + kN <= n; x += kN) {
      Vector<float> kept;
      load_wide<To, kN>(c + x, kept);
      store(sums + x, load(sums + x) + beta * kept);
    }
    for (; x < n; ++x) sums[x] += beta * float(c[x]);
  }
  if (finish) finish.apply(1, n, sums, n);
  copy_rounded(sums, n, d);
}

template <class To>
void scale_tile(std::int64_t m, std::int64_t n, Scalar<To> beta, const To* c, std::int64_t ldc, To* d, std::int64_t ldd,
                const Finish<Scalar<To>>& finish) {
  if constexpr (sizeof(To) == 2) {
    constexpr std::int64_t kColumns = 1024;
    float sums[kColumns];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; j += kColumns) {
        const std::int64_t columns = std::min(kColumns, n - j);
        std::fill_n(sums, columns, beta != 0.0f ? -0.0f : 0.0f);  // -0 + x is x, whatever its sign
        store_row(columns, sums, beta, c + i * ldc + j, d + i * ldd + j, finish.at(i, j));
      }
  } else {
    if (beta != To(1) || c != d)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) d[i * ldd + j] = beta == To(0) ? To(0) : beta * c[i * ldc + j];
    if (finish) finish.apply(m, n, d, ldd);
  }
}

template struct Finish<float>;
template struct Finish<double>;
template void store_row(std::int64_t, float*, float, const float16*, float16*, const Finish<float>&);
template void store_row(std::int64_t, float*, float, const bfloat16*, bfloat16*, const Finish<float>&);

template void scale_tile(std::int64_t, std::int64_t, float, const float*, std::int64_t, float*, std::int64_t,
                         const Finish<float>&);
template void scale_tile(std::int64_t, std::int64_t, double, const double*, std::int64_t, double*, std::int64_t,
                         const Finish<double>&);
template void scale_tile(std::int64_t, std::int64_t, float, const float16*, std::int64_t, float16*, std::int64_t,
                         const Finish<float>&);
template void scale_tile(std::int64_t, std::int64_t, float, const bfloat16*, std::int64_t, bfloat16*, std::int64_t,
                         const Finish<float>&);

}  // namespace tessera::cpu
