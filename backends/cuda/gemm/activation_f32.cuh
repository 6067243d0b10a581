// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The activations of f32 values, and their derivatives, in a few instructions, within the bounds of
/// docs/notes/bounds.md: 2^x and 1 / x are single instructions, right to 2^-22 and one ulp.
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

/// The derivative of an activation that is x s(v(x)), or of s alone: from e = 2^-|v log2(e)|, so that neither end
/// cancels. `slope`: e / (1 + e)^2, s'(v).
struct LogisticSlope {
  float level, slope;

  explicit __device__ __forceinline__ LogisticSlope(float v) {
    const float e = fast_exp2(fabsf(v) * -1.44269504f), reciprocal = fast_reciprocal(1.0f + e);
    level = v < 0.0f ? e * reciprocal : reciprocal, slope = e * reciprocal * reciprocal;
  }
};

/// Puts the derivatives of an activation at values in their place: see plugin::activation_derivative(). The choice is
/// made once for all.
template <int kCount>
__device__ __forceinline__ void differentiate(tessera_activation activation, float (&x)[kCount]) {
  const auto each = [&](const auto& function) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = function(x[i]);
  };
  // No Inf times 0 where all is level.
  const auto sloped = [](float level, float slope, float factor) {
    return slope == 0.0f ? level : fmaf(factor, slope, level);
  };
  constexpr float kTwo = 2.0f * 0.79788456f, kCubic = 0.044715f, kDensity = 0.39894228f;
  switch (activation) {
    case TESSERA_ACTIVATION_RELU:
      return each([](float v) { return v <= 0.0f ? 0.0f : v > 0.0f ? 1.0f : v; });
    case TESSERA_ACTIVATION_GELU:
      return each(
          [&](float v) { return sloped(normal_distribution(v), kDensity * fast_exp2(v * v * -0.72134752f), v); });
    case TESSERA_ACTIVATION_GELU_TANH:
      return each([&](float v) {
        const float square = v * v;
        const LogisticSlope s(kTwo * fmaf(kCubic * square, v, v));
        return sloped(s.level, s.slope, kTwo * v * fmaf(3.0f * kCubic, square, 1.0f));
      });
    case TESSERA_ACTIVATION_SILU:
      return each([&](float v) {
        const LogisticSlope s(v);
        return sloped(s.level, s.slope, v);
      });
    case TESSERA_ACTIVATION_SIGMOID:
      return each([](float v) { return LogisticSlope(v).slope; });
    case TESSERA_ACTIVATION_TANH:
      return each([](float v) { return 4.0f * LogisticSlope(2.0f * v).slope; });
    default:
      return;
  }
}

}  // namespace tessera::cuda
