// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The epilogue of a product: what becomes of alpha op(A) op(B) + beta C before it is rounded to the type of D.
#pragma once

#include <tessera/dtype.hpp>
#include <tessera/plugin/host_device.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/problem.hpp>

#include <cmath>
#include <cstdint>

namespace tessera::plugin {

/// "strict", "bf16x6", "f16x3", "tf32".
constexpr const char* name_of_compute(tessera_compute compute) {
  constexpr const char* kNames[] = {"default", "strict", "bf16x6", "f16x3", "tf32"};
  return compute >= 0 && compute <= TESSERA_COMPUTE_TF32 ? kNames[compute] : "?";
}

/// "none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh".
constexpr const char* name_of_activation(tessera_activation activation) {
  constexpr const char* kNames[] = {"none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"};
  return activation >= 0 && activation <= TESSERA_ACTIVATION_TANH ? kNames[activation] : "?";
}

/// "none", "per_row", "per_column", "gradient_per_row", "gradient_per_column".
constexpr const char* name_of_bias(tessera_bias bias) {
  constexpr const char* kNames[] = {"none", "per_row", "per_column", "gradient_per_row", "gradient_per_column"};
  return bias >= 0 && bias <= TESSERA_BIAS_GRADIENT_PER_COLUMN ? kNames[bias] : "?";
}

/// "none", "store", "derivative".
constexpr const char* name_of_aux(tessera_aux aux) {
  constexpr const char* kNames[] = {"none", "store", "derivative"};
  return aux >= 0 && aux <= TESSERA_AUX_DERIVATIVE ? kNames[aux] : "?";
}

/// "none", "lower", "upper", "mirrored".
constexpr const char* name_of_triangle(tessera_triangle triangle) {
  constexpr const char* kNames[] = {"none", "lower", "upper", "mirrored"};
  return triangle >= 0 && triangle <= TESSERA_TRIANGLE_MIRRORED ? kNames[triangle] : "?";
}

/// Applies an activation (tessera_activation has the formulas) to a value of type float or double. Stays finite and
/// exact at the ends: no overflow of exp, no Inf times 0.
template <class S>
TESSERA_HOST_DEVICE S activate(tessera_activation activation, S x) {
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return x < S(0) ? S(0) : x;
    case TESSERA_ACTIVATION_GELU:
      return x == -INFINITY ? S(-0.0) : S(0.5) * x * (S(1) + std::erf(x * S(0.70710678118654752440)));
    case TESSERA_ACTIVATION_GELU_TANH:
      return x == -INFINITY
                 ? S(-0.0)
                 : S(0.5) * x * (S(1) + std::tanh(S(0.79788456080286535588) * (x + S(0.044715) * x * x * x)));
    case TESSERA_ACTIVATION_SILU:
      return x == -INFINITY ? S(-0.0) : x / (S(1) + std::exp(-x));
    case TESSERA_ACTIVATION_SIGMOID:
      return S(1) / (S(1) + std::exp(-x));
    case TESSERA_ACTIVATION_TANH:
      return std::tanh(x);
    default:
      return x;
  }
}

/// An activation's derivative. 0 at 0 for relu; at the infinities its limit.
template <class S>
TESSERA_HOST_DEVICE S activation_derivative(tessera_activation activation, S x) {
  constexpr S kTwo = S(1.59576912160573071176), kCubic = S(0.044715);  // gelu_tanh is x s(2 sqrt(2 / pi) (x + ...))
  S v = x;                                                             // what the logistic function s is of
  if (activation == TESSERA_ACTIVATION_RELU) return x <= S(0) ? S(0) : x > S(0) ? S(1) : x;
  if (activation == TESSERA_ACTIVATION_TANH) v = S(2) * x;
  if (activation == TESSERA_ACTIVATION_GELU_TANH) v = kTwo * (x + kCubic * x * x * x);
  const bool is_gelu = activation == TESSERA_ACTIVATION_GELU;
  const S e = std::exp(is_gelu ? S(-0.5) * x * x : v < S(0) ? v : -v), sum = S(1) + e;
  const S slope = is_gelu ? S(0.39894228040143267794) * e : e / (sum * sum);  // of s, or of the error function
  if (activation == TESSERA_ACTIVATION_SIGMOID) return slope;
  if (activation == TESSERA_ACTIVATION_TANH) return S(4) * slope;
  const S level = is_gelu ? S(0.5) + S(0.5) * std::erf(x * S(0.70710678118654752440)) : (v < S(0) ? e : S(1)) / sum;
  if (slope == S(0)) return level;  // no Inf times 0
  const S inner = activation == TESSERA_ACTIVATION_GELU_TANH ? kTwo * (S(1) + S(3) * kCubic * x * x) : S(1);
  return level + x * slope * inner;
}

/// Bias, activation and aux of a product, for values of type S: float or double.
template <class S>
struct Epilogue {
  const void* bias;  ///< null: none
  tessera_dtype bias_dtype;
  bool per_row;
  tessera_activation activation;
  std::int64_t increment, stride;
  void* aux;  ///< null: none
  tessera_dtype aux_dtype;
  bool stores_aux;  ///< else it is read
  std::int64_t ldaux, stride_aux;

  /// `values`, `matrix`: the bias and aux, where the problem has them.
  Epilogue(const GemmProblem& p, const void* values, void* matrix)
      : bias(p.bias == TESSERA_BIAS_NONE ? nullptr : values),
        bias_dtype(p.dtype_bias),
        per_row(p.bias == TESSERA_BIAS_PER_ROW),
        activation(p.activation),
        increment(p.bias_increment),
        stride(p.bias_stride),
        aux(p.aux == TESSERA_AUX_NONE ? nullptr : matrix),
        aux_dtype(p.dtype_d),
        stores_aux(p.aux == TESSERA_AUX_STORE),
        ldaux(p.ldaux),
        stride_aux(p.stride_aux) {}
  /// With those of an execution.
  Epilogue(const GemmProblem& p, const Execution& e)
      : Epilogue(p, p.bias == TESSERA_BIAS_NONE ? nullptr : e.operand<const void>(4),
                 p.aux == TESSERA_AUX_NONE ? nullptr : e.operand<void>(p.aux_operand())) {}

  /// What becomes of the value at row i, column j of matrix `item`; to be called once for each.
  TESSERA_HOST_DEVICE S operator()(std::int64_t item, std::int64_t i, std::int64_t j, S value) const {
    if (bias != nullptr) value += bias_at(item * stride + (per_row ? i : j) * increment);
    if (aux == nullptr) return activate(activation, value);
    const std::int64_t place = item * stride_aux + i * ldaux + j;
    if (!stores_aux) return value * activation_derivative(activation, read(aux, aux_dtype, place));
    store_aux(place, value);
    return activate(activation, value);
  }

  /// A value of the bias.
  TESSERA_HOST_DEVICE S bias_at(std::int64_t place) const { return read(bias, bias_dtype, place); }

 private:
  static TESSERA_HOST_DEVICE S read(const void* array, tessera_dtype dtype, std::int64_t place) {
    switch (dtype) {
      case TESSERA_F64:
        return S(static_cast<const double*>(array)[place]);
      case TESSERA_F16:
        return S(float(static_cast<const float16*>(array)[place]));
      case TESSERA_BF16:
        return S(float(static_cast<const bfloat16*>(array)[place]));
      default:
        return S(static_cast<const float*>(array)[place]);
    }
  }
  TESSERA_HOST_DEVICE void store_aux(std::int64_t place, S value) const {
    switch (aux_dtype) {
      case TESSERA_F64:
        static_cast<double*>(aux)[place] = double(value);
        return;
      case TESSERA_F16:
        static_cast<float16*>(aux)[place] = float16(float(value));
        return;
      case TESSERA_BF16:
        static_cast<bfloat16*>(aux)[place] = bfloat16(float(value));
        return;
      default:
        static_cast<float*>(aux)[place] = float(value);
    }
  }
};

}  // namespace tessera::plugin
