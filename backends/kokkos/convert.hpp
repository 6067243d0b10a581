// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements from and to the type that they are computed in, by the rules of tessera/float16.hpp.
#pragma once

#include "flavour.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#elif defined(__F16C__)
#include <immintrin.h>
#endif

#include <type_traits>

namespace tessera::kokkos {

/// Bytes of the numbers that elements of this type are computed in.
inline std::size_t scalar_bytes(tessera_dtype dtype) {
  return plugin::with_types(dtype, []<class T>(std::type_identity<T>) { return sizeof(Scalar<T>); });
}

/// Exact. By instructions where there are any.
template <class T>
KOKKOS_INLINE_FUNCTION Scalar<T> widened(T element) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>)
    return __half2float(__ushort_as_half(element.bits));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __bfloat162float(__ushort_as_bfloat16(element.bits));
  else
    return element;
#elif !defined(KOKKOS_ENABLE_CUDA) && defined(__F16C__)
  if constexpr (std::is_same_v<T, float16>)
    return _cvtsh_ss(element.bits);
  else
    return Scalar<T>(element);
#else
  return Scalar<T>(element);
#endif
}

/// To nearest even.
template <class T>
KOKKOS_INLINE_FUNCTION T rounded(Scalar<T> value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>)
    return float16::from_bits(__half_as_ushort(__float2half_rn(value)));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return bfloat16::from_bits(__bfloat16_as_ushort(__float2bfloat16_rn(value)));
  else
    return value;
#elif !defined(KOKKOS_ENABLE_CUDA) && defined(__F16C__)
  if constexpr (std::is_same_v<T, float16>)
    return float16::from_bits(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
  else
    return T(value);
#else
  return T(value);
#endif
}

}  // namespace tessera::kokkos
