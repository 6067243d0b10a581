// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The activations of f32 values in a few instructions, within the bounds of docs/notes/bounds.md: 2^x and 1 / x are
/// single instructions, right to 2^-22 and one ulp.
#pragma once

#include <tessera/plugin/epilogue.hpp>

#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>

namespace tessera::cuda {

/// 2^x; 0 where that is denormal.
__device__ __forceinline__ float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / x for x >= 1; 0 where that is denormal.
__device__ __forceinline__ float fast_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / (1 + 2^x).
__device__ __forceinline__ float logistic2(float x) { return fast_reciprocal(1.0f + fast_exp2(x)); }

/// The distribution function of the normal distribution, (1 + erf(x / sqrt(2))) / 2, to 1.5e-7 / 2: M. Abramowitz and
/// I. Stegun, "Handbook of Mathematical Functions", 7.1.26, whose argument and coefficients are scaled.
__device__ __forceinline__ float normal_distribution(float x) {
  const float t = fast_reciprocal(fmaf(0.3275911f * 0.70710678f, fabsf(x), 1.0f));
  float sum = fmaf(t, 0.5f * 1.061405429f, 0.5f * -1.453152027f);
  sum = fmaf(t, sum, 0.5f * 1.421413741f);
  sum = fmaf(t, sum, 0.5f * -0.284496736f);
  sum = fmaf(t, sum, 0.5f * 0.254829592f);
  const float tail = t * sum * fast_exp2(x * x * -0.72134752f);
  return x < 0.0f ? tail : 1.0f - tail;
}

/// x times 1 / (1 + 2^(x (linear + cubic x^2))): silu, and gelu_tanh, since (1 + tanh(y)) / 2 is 1 / (1 + exp(-2 y)).
struct LogisticFactor {
  float linear, cubic;

  static __device__ bool has(tessera_activation activation) {
    return activation == TESSERA_ACTIVATION_GELU_TANH || activation == TESSERA_ACTIVATION_SILU;
  }
  /// For one that has.
  static __device__ __forceinline__ LogisticFactor of(tessera_activation activation) {
    constexpr float kLog2E = 1.44269504f, kLinear = -2.0f * kLog2E * 0.79788456f;
    if (activation == TESSERA_ACTIVATION_SILU) return {-kLog2E, 0.0f};
    return {kLinear, kLinear * 0.044715f};
  }
  __device__ __forceinline__ float operator()(float x) const {
    // Limits: Inf times 0 neither as x^2 in silu, nor at -Inf. A NaN comes from the factor.
    const float square = fminf(x * x, FLT_MAX);
    return fmaxf(x, -FLT_MAX) * logistic2(x * fmaf(square, cubic, linear));
  }
};

/// Applies an activation to values. The choice is made once for all.
template <int kCount>
__device__ __forceinline__ void activate(tessera_activation activation, float (&x)[kCount]) {
  const auto each = [&](const auto& function) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = function(x[i]);
  };
  // The functions that end at 0 would be -Inf times 0 at -Inf.
  const auto finite = [](float value) { return value == -INFINITY ? -FLT_MAX : value; };
  constexpr float kLog2E = 1.44269504f;
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return each([](float v) { return v < 0.0f ? 0.0f : v; });
    case TESSERA_ACTIVATION_GELU:
      return each([&](float v) { return finite(v) * normal_distribution(finite(v)); });
    case TESSERA_ACTIVATION_GELU_TANH:
    case TESSERA_ACTIVATION_SILU:
      return each(LogisticFactor::of(activation));
    case TESSERA_ACTIVATION_SIGMOID:
      return each([](float v) { return logistic2(-kLog2E * v); });
    case TESSERA_ACTIVATION_TANH:
      return each([](float v) { return std::tanh(v); });
    default:
      return;
  }
}

}  // namespace tessera::cuda
