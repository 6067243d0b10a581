// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "element_numbers.hpp"

#include <tessera/dtype.hpp>

namespace tessera::perf {

using test::Wide;

/// The rounding errors of a sum of so many terms of size 1 at most together: of 16 bits it is one of f32, rounded once.
template <class T>
constexpr double roundoff_of_sum(std::size_t terms) {
  return double(terms) * kUnitRoundoff<Scalar<T>> + (sizeof(T) == 2 ? kUnitRoundoff<T> : 0.0);
}

/// What rounding a value to T of 16 bits may change, subnormal numbers included; else 0: it is part of the sum's.
template <class T>
constexpr long double roundoff_of(long double value) {
  return sizeof(T) > 2 ? 0.0L : kUnitRoundoff<T> * (value < 0 ? -value : value) + 0x1p-25L;
}

}  // namespace tessera::perf
