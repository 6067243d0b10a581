// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of complex matrices. A Context that makes them has
///
///     CopyComplex copying_complex(const ComplexCopy&);  // for a plan, made with it
///     static double copying_seconds(const Machine&, const ComplexCopy&);
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <complex>
#include <cstdint>
#include <functional>

namespace tessera::plugin {

/// A factor times matrices of rows x columns, or their transposes, which are stored. Of a doubled copy each element
/// x + i y becomes two rows of two real ones, by which a row of real and imaginary parts is multiplied:
///
///      x  y      or, of a product whose left operand is conjugated,      x   y
///     -y  x                                                              y  -x
struct ComplexCopy {
  tessera_dtype part;                    ///< of the elements
  bool transposes, conjugates;           ///< the stored matrices, before the factor
  bool doubles, for_conjugate;           ///< see above
  std::int64_t matrices, rows, columns;  ///< of the copies, before they are doubled
  std::int64_t from_ld, from_stride;     ///< complex elements
  std::int64_t to_ld, to_stride;         ///< the same, of a doubled copy real ones

  double elements() const { return double(matrices) * double(rows) * double(columns); }
  /// That pass between memory and where it is computed.
  double bytes() const { return elements() * double(size_of(part)) * (doubles ? 6.0 : 4.0); }
};

/// Makes the copy: queues that, or does it on the host. Allocates nothing. It may be where the matrices are, unless it
/// transposes or doubles.
using CopyComplex = std::function<void(const void* from, void* to, std::complex<double> factor)>;

/// One element, and what becomes of it.
template <class T>
constexpr std::complex<T> times(const std::complex<T>& factor, const std::complex<T>& x) {
  return {factor.real() * x.real() - factor.imag() * x.imag(), factor.real() * x.imag() + factor.imag() * x.real()};
}

}  // namespace tessera::plugin
