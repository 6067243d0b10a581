// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The epilogue of a product: what becomes of alpha op(A) op(B) + beta C before it is rounded to the type of D.
#pragma once

#include <tessera/dtype.hpp>
#include <tessera/plugin/host_device.hpp>

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

}  // namespace tessera::plugin
