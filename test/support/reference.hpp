// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The two operations again, from their definitions and in higher precision, with bounds on the rounding errors that a
/// correct implementation may make. Nothing of the library is used but its descriptors.
#pragma once

#include "element_numbers.hpp"
#include "gemm_cases.hpp"
#include "stencil_cases.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera::test {

/// What must come out, point by point in packed C order (GEMM: batch, row, column). For a T of 16 bits: before the last
/// rounding.
template <class T>
struct Expected {
  std::vector<Wide<T>> value;
  std::vector<Wide<T>> bound;      ///< largest error allowed; empty: every sum is exact, so none is
  std::vector<Wide<T>> aux;        ///< of a product that stores what its activation is applied to
  std::vector<Wide<T>> aux_bound;  ///< as bound
  std::vector<char> untouched;     ///< points that keep the input's bits (stencils with fixed sides); empty: none
};

/// activation(alpha op(A) op(B) + beta C + bias), A of type T, B of type U, C and D of type D. `bias`: packed, the
/// values of one matrix of the batch after another; empty where there is none, as is `aux`, where derivatives are. With
/// `exact` the caller vouches that every partial sum fits in the type of sums, and that the activation is exact.
template <class T, class D = T, class U = T>
Expected<D> gemm_reference(const GemmDesc& desc, Scalar<D> alpha, const T* a, const U* b, Scalar<D> beta, const D* c,
                           bool exact, const std::vector<double>& bias = {}, const std::vector<double>& aux = {});

/// The stencil by padding: each step pads the array on every side as far as the taps reach, axis by axis as numpy.pad
/// does, and adds shifted arrays. `in` addresses the domain's first point. With `exact` the caller vouches that every
/// partial sum fits in the type of sums; a T of 16 bits is rounded after each step.
template <class T>
Expected<T> stencil_reference(const StencilDesc& desc, const T* in, bool exact);

/// True when `computed` is what is expected at a point: within the bound, and NaN or the same infinity where that is
/// due. An infinity may be the other one, or NaN, where the bound is NaN. Rounding keeps order, so that a T of 16 bits
/// lies between the rounded ends of what was allowed before it.
template <class T>
bool acceptable(T computed, Wide<T> value, Wide<T> bound) {
  const Wide<T> number = wide(computed);
  if (value != value) return number != number;
  if (number == value) return true;  // also infinities, and zeros of either sign
  if (std::isinf(value)) return bound != bound && !std::isfinite(number);
  return stored<T>(value - bound) <= number && number <= stored<T>(value + bound);
}

}  // namespace tessera::test
