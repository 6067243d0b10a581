// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The element types: the one place that knows them by name. TypeTraits tells what a type is, with_types() turns a
/// type's number at run time into a type at compile time.
#pragma once

#include <tessera/types.h>
#include <tessera/float16.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

// C++ has a type of 16 bits as an extension of compilers before C++23.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13) && !defined(__CUDACC__)
#define TESSERA_HAS_FLOAT16 1
#endif

struct __half;
struct __nv_bfloat16;
namespace Eigen {
struct half;
struct bfloat16;
}  // namespace Eigen

namespace tessera {

/// The type of a matrix's or grid's elements.
enum class DType : std::int32_t {
  f32 = TESSERA_F32,
  f64 = TESSERA_F64,
  f16 = TESSERA_F16,    ///< IEEE 754 binary16
  bf16 = TESSERA_BF16,  ///< the upper half of a binary32
  c64 = TESSERA_C64,    ///< of products: std::complex<float>
  c128 = TESSERA_C128   ///< of products: std::complex<double>
};

/// What is known of an element type; undefined for others. A type of the user's with the representation of one of
/// these is an element where this is specialised for it, by derivation:
///
///     template <>
///     struct tessera::TypeTraits<my::half> : tessera::TypeTraits<tessera::float16> {};
template <class T>
struct TypeTraits;
/// Of single precision.
template <>
struct TypeTraits<float> {
  static constexpr DType kDType = DType::f32;
  static constexpr const char* kName = "f32";
  static constexpr double kUnitRoundoff = 0x1p-24;
  using Scalar = float;  ///< of coefficients, alpha and beta, and of sums
};
/// Of double precision.
template <>
struct TypeTraits<double> {
  static constexpr DType kDType = DType::f64;
  static constexpr const char* kName = "f64";
  static constexpr double kUnitRoundoff = 0x1p-53;
  using Scalar = double;
};
/// Of IEEE 754 binary16.
template <>
struct TypeTraits<float16> {
  static constexpr DType kDType = DType::f16;
  static constexpr const char* kName = "f16";
  static constexpr double kUnitRoundoff = 0x1p-11;
  using Scalar = float;
};
/// Of bfloat16.
template <>
struct TypeTraits<bfloat16> {
  static constexpr DType kDType = DType::bf16;
  static constexpr const char* kName = "bf16";
  static constexpr double kUnitRoundoff = 0x1p-8;
  using Scalar = float;
};

/// Complex, of single precision. u is that of its parts.
template <>
struct TypeTraits<std::complex<float>> {
  static constexpr DType kDType = DType::c64;
  static constexpr const char* kName = "c64";
  static constexpr double kUnitRoundoff = 0x1p-24;
  using Scalar = std::complex<float>;
};
/// Complex, of double precision.
template <>
struct TypeTraits<std::complex<double>> {
  static constexpr DType kDType = DType::c128;
  static constexpr const char* kName = "c128";
  static constexpr double kUnitRoundoff = 0x1p-53;
  using Scalar = std::complex<double>;
};

// Types of compilers and of other libraries with the same representation.
template <>
struct TypeTraits<::__half> : TypeTraits<float16> {};
template <>
struct TypeTraits<::__nv_bfloat16> : TypeTraits<bfloat16> {};
template <>
struct TypeTraits<Eigen::half> : TypeTraits<float16> {};
template <>
struct TypeTraits<Eigen::bfloat16> : TypeTraits<bfloat16> {};
#if defined(TESSERA_HAS_FLOAT16)
template <>
struct TypeTraits<_Float16> : TypeTraits<float16> {};
#endif
#if defined(__STDCPP_BFLOAT16_T__)
template <>
struct TypeTraits<decltype(0.0bf16)> : TypeTraits<bfloat16> {};
#endif

/// Some element types.
template <class... T>
struct TypeList {
  static constexpr DType kDTypes[] = {TypeTraits<T>::kDType...};
};
/// Those that the processor computes in.
using WideTypes = TypeList<float, double>;
/// Those that are stored alone, and computed on in f32.
using NarrowTypes = TypeList<float16, bfloat16>;
/// The real element types of this version, in the order of their numbers.
using ElementTypes = TypeList<float, double, float16, bfloat16>;
/// Those of products that have two parts.
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;
/// All of them.
using AllTypes = TypeList<float, double, float16, bfloat16, std::complex<float>, std::complex<double>>;
/// The DTypes of the real ones.
inline constexpr auto& kDTypes = ElementTypes::kDTypes;
/// And of all.
inline constexpr auto& kAllDTypes = AllTypes::kDTypes;

/// The element types of matrices and grids.
template <class T>
concept Element = requires {
  TypeTraits<std::remove_cv_t<T>>::kDType;
};

/// The DType of a C++ type.
template <Element T>
inline constexpr DType kDType = TypeTraits<std::remove_cv_t<T>>::kDType;

/// The type of alpha, beta and coefficients for elements of type T, and of sums: double for double, else float.
template <Element T>
using Scalar = typename TypeTraits<std::remove_cv_t<T>>::Scalar;

/// u, the largest relative error of one rounding to nearest: 2^-24 for f32, 2^-53 for f64, 2^-11 for f16, 2^-8 for
/// bf16.
template <Element T>
inline constexpr double kUnitRoundoff = TypeTraits<T>::kUnitRoundoff;

/// Whether this version knows the type, among the real ones.
constexpr bool is_known(DType dtype) {
  for (const DType known : kDTypes)
    if (known == dtype) return true;
  return false;
}
/// Whether elements have two parts.
constexpr bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }
/// The same for the C constant.
constexpr bool is_complex(tessera_dtype dtype) { return is_complex(static_cast<DType>(dtype)); }

namespace detail {

template <class T, class... Rest, class Body>
constexpr decltype(auto) with_types(TypeList<T, Rest...>, DType dtype, Body&& body) {
  if (dtype == TypeTraits<T>::kDType) return std::forward<Body>(body)(std::type_identity<T>{});
  if constexpr (sizeof...(Rest) != 0) return with_types(TypeList<Rest...>{}, dtype, std::forward<Body>(body));
  throw std::invalid_argument("dtype " + std::to_string(static_cast<std::int32_t>(dtype)) +
                              " is not one of those here");
}

}  // namespace detail

/// Calls body(std::type_identity<T>{}) for the type T of that number, which must be one of the list.
template <class List = ElementTypes, class Body>
constexpr decltype(auto) with_types(DType dtype, Body&& body) {
  return detail::with_types(List{}, dtype, std::forward<Body>(body));
}
/// The same for the C constant.
template <class List = ElementTypes, class Body>
constexpr decltype(auto) with_types(tessera_dtype dtype, Body&& body) {
  return detail::with_types(List{}, static_cast<DType>(dtype), std::forward<Body>(body));
}

/// The type of the parts of a complex type; of another one itself.
constexpr DType real_type(DType dtype) {
  if (!is_complex(dtype)) return dtype;
  return with_types<ComplexTypes>(dtype, []<class T>(std::type_identity<T>) { return kDType<typename T::value_type>; });
}
/// The same for the C constant.
constexpr tessera_dtype real_type(tessera_dtype dtype) {
  return static_cast<tessera_dtype>(real_type(static_cast<DType>(dtype)));
}

/// Bytes of an element.
constexpr std::size_t size_of(DType dtype) {
  return with_types<AllTypes>(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); });
}
/// The same for the C constant.
constexpr std::size_t size_of(tessera_dtype dtype) { return size_of(static_cast<DType>(dtype)); }

/// "f32", "f64", "f16", "bf16", "c64", "c128".
constexpr const char* name_of(DType dtype) {
  return with_types<AllTypes>(dtype, []<class T>(std::type_identity<T>) { return TypeTraits<T>::kName; });
}
/// The same for the C constant.
constexpr const char* name_of(tessera_dtype dtype) { return name_of(static_cast<DType>(dtype)); }

}  // namespace tessera
