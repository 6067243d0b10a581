// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements of memory and the values that are computed on: elements of 16 bits become f32 and back, by the rules of
/// tessera/float16.hpp. Subnormals are kept. A NaN stays one, but keeps its payload only from exact_value() to
/// element_of(). For the other types nothing is to be done.
#pragma once

#include "vector.cuh"

#include <tessera/plugin/problem.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace tessera::cuda {

/// Types that are stored alone, two of which are a word.
template <class T>
inline constexpr bool kNarrow = sizeof(T) < sizeof(Scalar<T>);

namespace detail {

// The value of the lower, of the upper half of a word.
__device__ __forceinline__ float lower(float16, std::uint32_t word) {
  float value;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(value) : "r"(word));
  return value;
}
__device__ __forceinline__ float upper(float16, std::uint32_t word) {
  float value;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }" : "=f"(value) : "r"(word));
  return value;
}
__device__ __forceinline__ float lower(bfloat16, std::uint32_t word) { return __uint_as_float(word << 16); }
__device__ __forceinline__ float upper(bfloat16, std::uint32_t word) { return __uint_as_float(word & 0xffff0000u); }

// Both halves of a word, rounded to nearest even.
__device__ __forceinline__ std::uint32_t word_of(float16, float low, float high) {
  std::uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ __forceinline__ std::uint32_t word_of(bfloat16, float low, float high) {
  std::uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

// The bits of an element that has exactly this value.
__device__ __forceinline__ std::uint32_t exact_bits(float16, float value) {
  const std::uint32_t bits = __float_as_uint(value);
  const std::uint32_t nan = (bits >> 16 & 0x8000) | 0x7c00 | (bits >> 13 & 0x3ff);
  return value != value ? nan : word_of(float16{}, value, 0) & 0xffff;
}
__device__ __forceinline__ std::uint32_t exact_bits(bfloat16, float value) { return __float_as_uint(value) >> 16; }

// The value of these bits, of a NaN with its payload.
__device__ __forceinline__ float exact_value(float16, std::uint32_t bits) {
  const float value = lower(float16{}, bits);
  const std::uint32_t nan = (bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13;
  return value != value ? __uint_as_float(nan) : value;
}
__device__ __forceinline__ float exact_value(bfloat16, std::uint32_t bits) { return lower(bfloat16{}, bits); }

}  // namespace detail

/// An element's value.
template <class T>
__device__ __forceinline__ Scalar<T> widened(T element) {
  if constexpr (kNarrow<T>)
    return detail::lower(T{}, element.bits);
  else
    return element;
}

/// The same, of a NaN with its payload, which the instruction for f16 drops.
template <class T>
__device__ __forceinline__ Scalar<T> exact_value(T element) {
  if constexpr (kNarrow<T>)
    return detail::exact_value(T{}, element.bits);
  else
    return element;
}

/// The element nearest to a value.
template <class T>
__device__ __forceinline__ T rounded(Scalar<T> value) {
  if constexpr (kNarrow<T>) {
    T element;
    element.bits = std::uint16_t(detail::word_of(T{}, value, 0));
    return element;
  } else {
    return value;
  }
}

/// The element that has exactly this value: NaN with its payload.
template <class T>
__device__ __forceinline__ T element_of(Scalar<T> value) {
  if constexpr (kNarrow<T>) {
    T element;
    element.bits = std::uint16_t(detail::exact_bits(T{}, value));
    return element;
  } else {
    return value;
  }
}

/// The value of the element nearest to a value; NaN as it is.
template <class T>
__device__ __forceinline__ Scalar<T> round_keeping_nan(Scalar<T> value) {
  if constexpr (kNarrow<T>)
    return value != value ? value : widened(rounded<T>(value));
  else
    return value;
}

/// An element through the read-only path.
template <class T>
__device__ __forceinline__ T load_read_only(const T* from) {
  if constexpr (kNarrow<T>) {
    T element;
    element.bits = __ldg(&from->bits);
    return element;
  } else {
    return __ldg(from);
  }
}

/// Its value.
template <class T>
__device__ __forceinline__ Scalar<T> value_at(const T* element) {
  return widened(load_read_only(element));
}

/// The values of neighbours. kExact: as of exact_value().
template <bool kExact = false, class T, int kCount>
__device__ __forceinline__ void widen(const Vector<T, kCount>& from, Scalar<T>* to) {
  if constexpr (kNarrow<T>) {
    std::uint32_t words[kCount / 2];
    memcpy(words, &from, sizeof words);
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      to[i] = kExact ? detail::exact_value(T{}, words[i / 2] & 0xffff) : detail::lower(T{}, words[i / 2]);
      to[i + 1] = kExact ? detail::exact_value(T{}, words[i / 2] >> 16) : detail::upper(T{}, words[i / 2]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = from.value[i];
  }
}

/// Neighbours of these values. kExact: the values are those of elements, else they are rounded.
template <class T, int kCount, bool kExact = false>
__device__ __forceinline__ Vector<T, kCount> elements_of(const Scalar<T>* from) {
  Vector<T, kCount> to;
  if constexpr (kNarrow<T>) {
    std::uint32_t words[kCount / 2];
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      words[i / 2] = kExact ? detail::exact_bits(T{}, from[i]) | detail::exact_bits(T{}, from[i + 1]) << 16
                            : detail::word_of(T{}, from[i], from[i + 1]);
    memcpy(&to, words, sizeof words);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to.value[i] = from[i];
  }
  return to;
}

/// Rounds values to those that elements have.
template <class T, int kCount>
__device__ __forceinline__ void round_values(Scalar<T> (&values)[kCount]) {
  if constexpr (kNarrow<T>) {
    static_assert(kCount % 2 == 0);
    widen(elements_of<T, kCount>(values), values);
  }
}

}  // namespace tessera::cuda
