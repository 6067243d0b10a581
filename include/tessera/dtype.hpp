// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The element types: the one place that knows them by name. TypeTraits tells what a type is, with_types() turns a
/// type's number at run time into a type at compile time.
#pragma once

#include <tessera/types.h>
#include <tessera/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace tessera {

/// The type of a matrix's or grid's elements.
enum class DType : std::int32_t { f32 = TESSERA_F32, f64 = TESSERA_F64 };

/// What is known of an element type; undefined for others.
template <class T>
struct TypeTraits;
/// Of single precision.
template <>
struct TypeTraits<float> {
  static constexpr DType kDType = DType::f32;
  static constexpr const char* kName = "f32";
};
/// Of double precision.
template <>
struct TypeTraits<double> {
  static constexpr DType kDType = DType::f64;
  static constexpr const char* kName = "f64";
};

/// The element types of this version, in the order of their numbers.
template <class... T>
struct TypeList {
  static constexpr DType kDTypes[] = {TypeTraits<T>::kDType...};
};
/// All of them; with_types names them once more.
using ElementTypes = TypeList<float, double>;
/// Their DTypes.
inline constexpr auto& kDTypes = ElementTypes::kDTypes;

/// The element types of matrices and grids.
template <class T>
concept Element = requires {
  TypeTraits<std::remove_cv_t<T>>::kDType;
};

/// The DType of a C++ type.
template <Element T>
inline constexpr DType kDType = TypeTraits<std::remove_cv_t<T>>::kDType;

/// u, the largest relative error of one rounding to nearest: 2^-24 for f32, 2^-53 for f64.
template <Element T>
inline constexpr double kUnitRoundoff = double(std::numeric_limits<T>::epsilon()) / 2.0;

/// Whether this version knows the type.
constexpr bool is_known(DType dtype) {
  for (const DType known : kDTypes)
    if (known == dtype) return true;
  return false;
}

/// Calls body(std::type_identity<T>{}) for the type T of that number. The number must be known.
template <class Body>
constexpr decltype(auto) with_types(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f32:
      return std::forward<Body>(body)(std::type_identity<float>{});
    case DType::f64:
      return std::forward<Body>(body)(std::type_identity<double>{});
  }
  throw std::invalid_argument("dtype " + std::to_string(static_cast<std::int32_t>(dtype)) + " is not known");
}
/// The same for the C constant.
template <class Body>
constexpr decltype(auto) with_types(tessera_dtype dtype, Body&& body) {
  return with_types(static_cast<DType>(dtype), std::forward<Body>(body));
}

/// Bytes of an element.
constexpr std::size_t size_of(DType dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); });
}
/// The same for the C constant.
constexpr std::size_t size_of(tessera_dtype dtype) { return size_of(static_cast<DType>(dtype)); }

/// "f32", "f64".
constexpr const char* name_of(DType dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return TypeTraits<T>::kName; });
}
/// The same for the C constant.
constexpr const char* name_of(tessera_dtype dtype) { return name_of(static_cast<DType>(dtype)); }

}  // namespace tessera
