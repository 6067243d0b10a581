// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What becomes of the sums of a product, in one place: alpha, beta C, the bias, aux and the activation in the type of
/// sums, then one rounding to the type of D.
#pragma once

#include "../elements.cuh"
#include "activation_f32.cuh"

#include <tessera/plugin/epilogue.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cuda {

/// Out of line, for kernels in which many elements wait for it in registers: their code stays small.
template <class S>
__device__ __noinline__ S activate_far(tessera_activation activation, S value) {
  if constexpr (sizeof(S) == sizeof(std::uint32_t)) {
    S values[1] = {value};
    activate(activation, values);
    return values[0];
  } else {
    return plugin::activate(activation, value);
  }
}

/// The same of an activation's derivative.
template <class S>
__device__ __noinline__ S differentiate_far(tessera_activation activation, S value) {
  if constexpr (sizeof(S) == sizeof(std::uint32_t)) {
    S values[1] = {value};
    differentiate(activation, values);
    return values[0];
  } else {
    return plugin::activation_derivative(activation, value);
  }
}

/// What the activation is applied to: written, or read for the activation's derivative there.
template <class T>
struct Aux {
  Elements<T> data;  ///< null: none
  bool stores = false;
  std::int64_t ld = 0, stride = 0;

  __host__ __device__ explicit operator bool() const { return bool(data); }
  __host__ __device__ bool is_read() const { return data && !stores; }
  __host__ __device__ bool is_stored() const { return data && stores; }
};

/// Bias, activation and aux.
template <class T>
struct Finish {
  using S = Scalar<T>;
  Elements<T> bias;
  bool per_row = false;
  tessera_activation activation = TESSERA_ACTIVATION_NONE;
  std::int64_t increment = 0, stride = 0;
  Aux<T> aux = {};
  bool turned = false;  ///< rows and columns are of the turned product, and D's the other way round

  __host__ __device__ explicit operator bool() const { return bias || activation != TESSERA_ACTIVATION_NONE; }
  /// That of the part of D that begins at an element of matrix `item`.
  __host__ __device__ Finish at(std::int64_t item, std::int64_t row, std::int64_t column) const {
    Finish part = *this;
    if (bias) part.bias = bias + (item * stride + (per_row ? row : column) * increment);
    if (aux) part.aux.data = aux.data + (item * aux.stride + (turned ? column * aux.ld + row : row * aux.ld + column));
    return part;
  }
  /// With rows and columns exchanged.
  __host__ __device__ Finish turn() const {
    Finish other = *this;
    other.per_row = !per_row, other.turned = !turned;
    return other;
  }

  /// Of an element, whose row or column the bias goes by.
  __device__ __forceinline__ S bias_at(std::int64_t i) const { return bias[i * increment]; }

  /// Whether aux, if there is any, can be accessed in so many neighbours wherever D can.
  template <int kWidth>
  __device__ bool aligned() const {
    return !aux || (aux.data.template at_vector<kWidth>() && aux.ld % kWidth == 0);
  }
  /// Activation and aux of neighbours in a row, from a place on.
  template <int kWidth>
  __device__ __forceinline__ void activate_at(std::int64_t row, std::int64_t column, Vector<S, kWidth>& values) const {
    if (aux) {
      const Elements<T> at = aux.data + (row * aux.ld + column);
      if (!aux.stores) return differentiate_all(at.template read<kWidth>(), values);
      at.write(values);
    }
    activate_all(values.value);
  }
  /// Times the derivative at z.
  template <int kWidth>
  __device__ __forceinline__ void differentiate_all(Vector<S, kWidth> z, Vector<S, kWidth>& values) const {
    if constexpr (sizeof(S) == sizeof(std::uint32_t)) {
      differentiate(activation, z.value);
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) z.value[i] = differentiate_far(activation, z.value[i]);
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) values.value[i] *= z.value[i];
  }

  /// The choice of the activation is made once for all.
  template <int kCount>
  __device__ __forceinline__ void activate_all(S (&values)[kCount]) const {
    if constexpr (sizeof(S) == sizeof(std::uint32_t)) {
      activate(activation, values);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = activate_far(activation, values[i]);
    }
  }
};

}  // namespace tessera::cuda
