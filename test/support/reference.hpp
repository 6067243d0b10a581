// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The two operations again, from their definitions and in higher precision, with bounds on the rounding errors that a
/// correct implementation may make. Nothing of the library is used but its descriptors.
#pragma once

#include "gemm_cases.hpp"
#include "stencil_cases.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace tessera::test {

/// The type that the reference computes in: products of two T are exact or nearly so.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < sizeof(double)), double, long double>;

/// What must come out, point by point in packed C order (GEMM: batch, row, column).
template <class T>
struct Expected {
  std::vector<Wide<T>> value;
  std::vector<Wide<T>> bound;   ///< largest error allowed; empty: every sum is exact, so none is
  std::vector<char> untouched;  ///< points that keep the input's bits (stencils with fixed sides); empty: none
};

/// alpha op(A) op(B) + beta C. With `exact` the caller vouches that every partial sum fits in T.
template <class T>
Expected<T> gemm_reference(const GemmDesc& desc, T alpha, const T* a, const T* b, T beta, const T* c, bool exact);

/// The stencil by padding: each step pads the array on every side as far as the taps reach, axis by axis as numpy.pad
/// does, and adds shifted arrays. `in` addresses the domain's first point.
template <class T>
Expected<T> stencil_reference(const StencilDesc& desc, const T* in, bool exact);

/// True when `computed` is what is expected at a point: within the bound, and NaN or the same infinity where that is
/// due.
template <class T>
bool acceptable(T computed, Wide<T> value, Wide<T> bound) {
  if (value != value) return computed != computed;
  if (Wide<T>(computed) == value) return true;  // also infinities, and zeros of either sign
  const Wide<T> error = Wide<T>(computed) - value;
  return -bound <= error && error <= bound;
}

}  // namespace tessera::test
