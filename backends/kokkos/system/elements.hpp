// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements whose type kernels learn at run time: a system's fields may differ in it.
#pragma once

#include "../convert.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::kokkos {

namespace detail {

template <class... S, class Body>
KOKKOS_INLINE_FUNCTION void with_element_type(TypeList<S...>, tessera_dtype dtype, Body&& body) {
  ((dtype == tessera_dtype(kDType<S>) ? body(std::type_identity<S>()) : void()), ...);
}

}  // namespace detail

/// Calls body(std::type_identity<S>()) for the element type of that number. Kernels can call it, as they cannot
/// with_types(), which throws where there is no such type.
template <class Body>
KOKKOS_INLINE_FUNCTION void with_element_type(tessera_dtype dtype, Body&& body) {
  detail::with_element_type(ElementTypes(), dtype, body);
}

/// The element at that place, as a number of type T.
template <class T>
KOKKOS_INLINE_FUNCTION T load_value(const void* array, std::int64_t place, tessera_dtype dtype) {
  T value{};
  with_element_type(dtype,
                    [&]<class S>(std::type_identity<S>) { value = T(widened(static_cast<const S*>(array)[place])); });
  return value;
}

/// Rounded to the element's type.
template <class T>
KOKKOS_INLINE_FUNCTION void store_value(void* array, std::int64_t place, tessera_dtype dtype, T value) {
  with_element_type(
      dtype, [&]<class S>(std::type_identity<S>) { static_cast<S*>(array)[place] = rounded<S>(Scalar<S>(value)); });
}

}  // namespace tessera::kokkos
