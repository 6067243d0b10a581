// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The epilogue of a product: what becomes of alpha op(A) op(B) + beta C before it is rounded to the type of D.
#pragma once

#include <tessera/dtype.hpp>
#include <tessera/plugin/host_device.hpp>
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

/// Bias and activation of a product, for values of type S: float or double.
template <class S>
struct Epilogue {
  const void* bias;  ///< null: none
  tessera_dtype bias_dtype;
  bool per_row;
  tessera_activation activation;
  std::int64_t increment, stride;

  Epilogue(const GemmProblem& p, const void* values)
      : bias(p.bias == TESSERA_BIAS_NONE ? nullptr : values),
        bias_dtype(p.dtype_bias),
        per_row(p.bias == TESSERA_BIAS_PER_ROW),
        activation(p.activation),
        increment(p.bias_increment),
        stride(p.bias_stride) {}

  /// What becomes of the value at row i, column j of matrix `item`; to be called once for each.
  TESSERA_HOST_DEVICE S operator()(std::int64_t item, std::int64_t i, std::int64_t j, S value) const {
    if (bias != nullptr) value += bias_at(item * stride + (per_row ? i : j) * increment);
    return activate(activation, value);
  }

  /// A value of the bias.
  TESSERA_HOST_DEVICE S bias_at(std::int64_t place) const {
    switch (bias_dtype) {
      case TESSERA_F64:
        return S(static_cast<const double*>(bias)[place]);
      case TESSERA_F16:
        return S(float(static_cast<const float16*>(bias)[place]));
      case TESSERA_BF16:
        return S(float(static_cast<const bfloat16*>(bias)[place]));
      default:
        return S(static_cast<const float*>(bias)[place]);
    }
  }
};

}  // namespace tessera::plugin
