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

/// Rows of A, whose elements are pairs of neighbours, times a copy of B with twice the rows and columns: rows of D.
///
///     [ar ai ...] [ br bi ]
///                 [-bi br ]  =  [dr di ...]
///                 [ ...   ]
///
/// Each part of D is a sum of 2 k products, so that its error is bounded element by element as that of a real product.
/// A transposed A is copied first; alpha, where it has an imaginary part, goes into the copy of B.
class DoubledProduct {
 public:
  explicit DoubledProduct(const GemmProblem& p) : product_(p), copies_a_(p.trans_a), a_{}, b_{} {
    const bool empty = p.m == 0 || p.n == 0 || p.batch == 0;
    const auto matrices = [&](std::int64_t stride) { return empty ? 0 : stride != 0 ? p.batch : std::int64_t(1); };
    a_ = {p.dtype, true, false, false, false, matrices(p.stride_a), p.m, p.k, p.lda, p.stride_a, round_up(p.k, 8), 0};
    b_ = {p.dtype,
          p.trans_b,
          p.conjugate_b,
          true,
          p.conjugate_a,
          matrices(p.stride_b),
          p.k,
          p.n,
          p.ldb,
          p.stride_b,
          p.n < 8 ? 2 * p.n : round_up(2 * p.n, 16),
          0};
    if (is_too_large()) return;
    a_.to_stride = p.stride_a != 0 ? a_.rows * a_.to_ld : 0;
    b_.to_stride = p.stride_b != 0 ? 2 * b_.rows * b_.to_ld : 0;
    GemmProblem& q = product_;
    q.complex = q.conjugate_a = q.conjugate_b = q.trans_a = q.trans_b = false;
    q.n *= 2, q.k *= 2, q.whole_n *= p.by_columns ? 1 : 2;
    q.lda = 2 * (copies_a_ ? a_.to_ld : p.lda), q.stride_a = 2 * (copies_a_ ? a_.to_stride : p.stride_a);
    q.ldb = b_.to_ld, q.stride_b = b_.to_stride;
    q.ldc = q.ldd = 2 * p.ldd, q.stride_c = q.stride_d = 2 * p.stride_d;
  }

  /// Whether numbers of the real product's elements could have more than 63 bits.
  static bool has_large_numbers(const GemmProblem& p) {
    constexpr std::int64_t kMost = std::int64_t(1) << 57;
    for (const std::int64_t number :
         {p.m, p.n, p.k, p.lda, p.ldc, p.ldd, p.stride_a, p.stride_c, p.stride_d, p.whole_n})
      if (number > kMost) return true;
    return false;
  }
  /// Whether no memory has room for the copies.
  bool is_too_large() const { return bytes() >= std::uint64_t(kMostBytes); }

  bool copies_a() const { return copies_a_; }
  const GemmProblem& product() const { return product_; }
  const ComplexCopy& a() const { return a_; }
  const ComplexCopy& b() const { return b_; }
  /// Of the copies, multiples of 256; more than there is memory where they are too large.
  std::uint64_t bytes_a() const { return copies_a_ ? bytes_of(a_, 2) : 0; }
  std::uint64_t bytes_b() const { return bytes_of(b_, 2); }
  std::uint64_t bytes() const { return bytes_a() + bytes_b(); }
  static std::uint64_t bytes_of(const ComplexCopy& copy, int parts) {
    const double bytes =
        double(copy.matrices) * double(copy.rows) * double(copy.to_ld) * parts * double(size_of(copy.part));
    if (bytes > kMostBytes) return std::uint64_t(kMostBytes);
    return round_up(std::uint64_t(copy.matrices * copy.rows * copy.to_ld) * unsigned(parts) * size_of(copy.part), 256);
  }
  /// Whether C lies as D does; else the real product adds to a copy in D.
  static bool has_like_c(const GemmProblem& p) { return p.ldc == p.ldd && (p.batch == 1 || p.stride_c == p.stride_d); }
  /// beta C in the place of D: for a beta with an imaginary part, and for a C that lies otherwise.
  static ComplexCopy scaling(const GemmProblem& p) {
    const std::int64_t matrices = p.m == 0 || p.n == 0 ? 0 : p.batch;
    return {p.dtype, false, false, false, false, matrices, p.m, p.n, p.ldc, p.stride_c, p.ldd, p.stride_d};
  }

 private:
  static constexpr double kMostBytes = 0x1p62;

  GemmProblem product_;
  bool copies_a_;
  ComplexCopy a_, b_;
};

/// One element, and what becomes of it.
template <class T>
constexpr std::complex<T> times(const std::complex<T>& factor, const std::complex<T>& x) {
  return {factor.real() * x.real() - factor.imag() * x.imag(), factor.real() * x.imag() + factor.imag() * x.real()};
}

}  // namespace tessera::plugin
