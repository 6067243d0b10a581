// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What must come out: plain loops in a wider type (double for float, long double for double) that share nothing with
/// the library, and how far rounding may take a result from them.
#pragma once

#include <tessera/gemm.hpp>
#include <tessera/stencil.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace showcase {

/// Some elements of a result: where, what, and the largest error that rounding explains.
struct Expected {
  struct Element {
    std::int64_t at;
    long double value;
    double bound;
  };
  std::vector<Element> elements;

  /// The largest error in units of its bound; infinite where an element is not a number.
  template <tessera::Element T>
  double largest_ratio(std::span<const T> result) const;
};

/// Rows of op(A) op(B): |C - C*| <= (k + 4) u |A||B|, element by element. Packed row-major operands.
template <tessera::Element T>
Expected expect_gemm(const tessera::GemmDesc& desc, const std::vector<T>& a, const std::vector<T>& b,
                     const std::vector<std::int64_t>& rows);

/// The stencil of a two-dimensional descriptor with one boundary mode, nearest or reflect. One step is off by
/// (taps + 2) u sum |c||x| at most; several steps need taps that are even in both axes, and reflect.
template <tessera::Element T>
Expected expect_stencil(const tessera::StencilDesc& desc, const std::vector<T>& in);

}  // namespace showcase
