// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "finish.hpp"

#include "../convert.hpp"
#include "activation.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

/// The bias of a part: a value for all of a row, or one for each column. Without it -0, which changes no number.
template <class S>
struct Bias {
  const S* columns = nullptr;
  S row = S(-0.0);

  Vector<S> at(std::int64_t x) const { return columns != nullptr ? load(columns + x) : row - Vector<S>{}; }
  Vector<S> at(std::int64_t x, const Part<S>& part) const {
    return columns != nullptr ? part.load(columns + x) : row - Vector<S>{};
  }
};

/// d[x] = f(sums[x] + bias): a register at a time, the last one in part.
template <class S, class Function>
void finish_row(std::int64_t n, const S* sums, const Bias<S>& bias, S* d, Function&& f) {
  std::int64_t x = 0;
  for (; x + kLanes<S> <= n; x += kLanes<S>) store(d + x, f(load(sums + x) + bias.at(x)));
  if (x == n) return;
  const Part<S> part(int(n - x));
  part.store(d + x, f(part.load(sums + x) + bias.at(x, part)));
}

/// d[x] = activation'(values[x])
template <class S>
void derive_row(tessera_activation activation, std::int64_t n, const S* values, S* d) {
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return finish_row(n, values, Bias<S>(), d, relu_derivative<S>);
    case TESSERA_ACTIVATION_GELU:
      return finish_row(n, values, Bias<S>(), d, gelu_derivative<S>);
    case TESSERA_ACTIVATION_GELU_TANH:
      return finish_row(n, values, Bias<S>(), d, gelu_tanh_derivative<S>);
    case TESSERA_ACTIVATION_SILU:
      return finish_row(n, values, Bias<S>(), d, silu_derivative<S>);
    case TESSERA_ACTIVATION_SIGMOID:
      return finish_row(n, values, Bias<S>(), d, sigmoid_derivative<S>);
    default:
      return finish_row(n, values, Bias<S>(), d, tanh_derivative<S>);
  }
}

template <class S>
void finish_row(tessera_activation activation, std::int64_t n, const S* sums, const Bias<S>& bias, S* d) {
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return finish_row(n, sums, bias, d, relu<S>);
    case TESSERA_ACTIVATION_GELU:
      return finish_row(n, sums, bias, d, gelu<S>);
    case TESSERA_ACTIVATION_GELU_TANH:
      return finish_row(n, sums, bias, d, gelu_tanh<S>);
    case TESSERA_ACTIVATION_SILU:
      return finish_row(n, sums, bias, d, silu<S>);
    case TESSERA_ACTIVATION_SIGMOID:
      return finish_row(n, sums, bias, d, sigmoid<S>);
    case TESSERA_ACTIVATION_TANH:
      return finish_row(n, sums, bias, d, tanh<S>);
    default:
      return finish_row(n, sums, bias, d, [](Vector<S> x) { return x; });
  }
}

/// The same with a row of aux, of type S or narrower. `n` is kColumns at most.
constexpr std::int64_t kColumns = 512;
template <class S>
void finish_row_with_aux(const plugin::Epilogue<S>& e, std::int64_t first, std::int64_t n, const S* sums,
                         const Bias<S>& bias, S* d) {
  S values[kColumns];
  const auto same = [](Vector<S> x) { return x; };
  const auto with_aux = [&](auto&& wide, auto&& narrow) {
    if (e.aux_dtype == tessera_dtype(kDType<S>)) return wide(static_cast<S*>(e.aux) + first);
    if constexpr (sizeof(S) == sizeof(float))
      plugin::with_types<plugin::NarrowTypes>(
          e.aux_dtype, [&]<class T>(std::type_identity<T>) { narrow(static_cast<T*>(e.aux) + first); });
  };
  if (e.stores_aux) {
    finish_row(n, sums, bias, values, same);
    with_aux([&](S* aux) { std::copy_n(values, n, aux); }, [&](auto* aux) { copy_rounded(values, n, aux); });
    return finish_row(e.activation, n, values, Bias<S>(), d);
  }
  with_aux([&](const S* aux) { std::copy_n(aux, n, values); }, [&](const auto* aux) { copy_wide(aux, n, values); });
  derive_row(e.activation, n, values, values);
  finish_row(n, sums, bias, d, same);
  for (std::int64_t x = 0; x < n; ++x) d[x] *= values[x];
}

/// n values of a bias by columns, from the one at `first` on: where they lie, or in `copy` where that is not in a row
/// of S.
template <class S>
const S* columns_of(const plugin::Epilogue<S>& e, std::int64_t first, std::int64_t n, S* copy) {
  if (e.increment == 1 && e.bias_dtype == tessera_dtype(kDType<S>)) return static_cast<const S*>(e.bias) + first;
  if constexpr (sizeof(S) == sizeof(float))
    if (e.increment == 1)  // and narrower than S
      return plugin::with_types<plugin::NarrowTypes>(e.bias_dtype, [&]<class T>(std::type_identity<T>) -> const S* {
        copy_wide(static_cast<const T*>(e.bias) + first, n, copy);
        return copy;
      });
  for (std::int64_t x = 0; x < n; ++x) copy[x] = e.bias_at(first + x * e.increment);
  return copy;
}

/// sums += beta * C
template <class To>
void add_row(std::int64_t n, Scalar<To>* sums, Scalar<To> beta, const To* c) {
  constexpr int kN = kLanes<float>;
  std::int64_t x = 0;
  for (; x + kN <= n; x += kN) {
    Vector<float> kept;
    load_wide<To, kN>(c + x, kept);
    store(sums + x, load(sums + x) + beta * kept);
  }
  for (; x < n; ++x) sums[x] += beta * float(c[x]);
}

}  // namespace

template <class S>
void Finish<S>::apply(std::int64_t m, std::int64_t n, const S* sums, std::int64_t lds, S* d, std::int64_t ldd) const {
  const plugin::Epilogue<S>& e = *epilogue;
  const std::int64_t first = item * e.stride;
  S copy[kColumns];
  for (std::int64_t x = 0; x < n; x += kColumns) {
    const std::int64_t columns = std::min(kColumns, n - x);
    Bias<S> bias;
    if (e.bias != nullptr && !e.per_row) bias.columns = columns_of(e, first + (j + x) * e.increment, columns, copy);
    for (std::int64_t row = 0; row < m; ++row) {
      if (e.bias != nullptr && e.per_row) bias.row = e.bias_at(first + (i + row) * e.increment);
      const S* const from = sums + row * lds + x;
      S* const to = d + row * ldd + x;
      if (e.aux == nullptr)
        finish_row(e.activation, columns, from, bias, to);
      else
        finish_row_with_aux(e, item * e.stride_aux + (i + row) * e.ldaux + j + x, columns, from, bias, to);
    }
  }
}

template <class To>
void store_part(std::int64_t m, std::int64_t n, Scalar<To>* sums, std::int64_t lds, Scalar<To> beta, const To* c,
                std::int64_t ldc, To* d, std::int64_t ldd, const Finish<Scalar<To>>& finish) {
  if (beta != 0.0f)
    for (std::int64_t row = 0; row < m; ++row) add_row(n, sums + row * lds, beta, c + row * ldc);
  if (finish) finish.apply(m, n, sums, lds);
  for (std::int64_t row = 0; row < m; ++row) copy_rounded(sums + row * lds, n, d + row * ldd);
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
    for (std::int64_t i = 0; i < m; ++i) {
      if (beta != To(1) || c != d)
        for (std::int64_t j = 0; j < n; ++j) d[i * ldd + j] = beta == To(0) ? To(0) : beta * c[i * ldc + j];
      if (finish) finish.at(i, 0).apply(1, n, d + i * ldd, ldd);
    }
  }
}

template struct Finish<float>;
template struct Finish<double>;
template void store_part(std::int64_t, std::int64_t, float*, std::int64_t, float, const float16*, std::int64_t,
                         float16*, std::int64_t, const Finish<float>&);
template void store_part(std::int64_t, std::int64_t, float*, std::int64_t, float, const bfloat16*, std::int64_t,
                         bfloat16*, std::int64_t, const Finish<float>&);

template void scale_tile(std::int64_t, std::int64_t, float, const float*, std::int64_t, float*, std::int64_t,
                         const Finish<float>&);
template void scale_tile(std::int64_t, std::int64_t, double, const double*, std::int64_t, double*, std::int64_t,
                         const Finish<double>&);
template void scale_tile(std::int64_t, std::int64_t, float, const float16*, std::int64_t, float16*, std::int64_t,
                         const Finish<float>&);
template void scale_tile(std::int64_t, std::int64_t, float, const bfloat16*, std::int64_t, bfloat16*, std::int64_t,
                         const Finish<float>&);

}  // namespace tessera::cpu
