// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// libtessera_blas: BLAS's matrix products by Tessera's plans.
///
/// The library defines gemm and syrk of four types, gemm3m and herk of the complex ones and gemm's batched forms of the
/// real ones, under the names that Fortran, C and both sizes of integers have (blas.map lists them), and no other
/// function of BLAS. Each entry point checks its
/// arguments as netlib's reference does, tells xerbla of the first bad one, and else brings its arguments into one
/// form, a column-major Product, for run().
///
/// run() takes the plan from a small table of the calling thread, else from the core's plan cache. Where Tessera cannot
/// do a product (no backend, no memory, operands that overlap), BLAS has no way to say so: the next function of that
/// name that the dynamic linker finds, or that a loaded library has, does it, and TESSERA_VERBOSE=1 tells why. Where
/// there is none, or where C may be half written, a message goes to stderr and the program is aborted.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tessera::blas {

template <class T>
inline constexpr bool kComplex = !std::is_floating_point_v<T>;

/// Which part of C is computed.
enum class Part { all, lower, upper };

/// C <- alpha op(A) op(B) + beta C, column-major, for each matrix of a batch whose matrices lie `stride_*` elements
/// apart. Everything was checked, but for the strides.
template <class T>
struct Product {
  bool trans_a = false, trans_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  T alpha = 0;
  const T* a = nullptr;
  std::int64_t lda = 1;
  const T* b = nullptr;
  std::int64_t ldb = 1;
  T beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 1;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  Part part = Part::all;  ///< else B is A, and op(B) its transpose, of a Hermitian C the conjugate one
  bool conjugate_a = false, conjugate_b = false;

  /// The product of the transposes: what a row-major product is in columns.
  void swap_sides() {
    std::swap(trans_a, trans_b);
    std::swap(conjugate_a, conjugate_b);
    std::swap(m, n);
    std::swap(a, b);
    std::swap(lda, ldb);
    std::swap(stride_a, stride_b);
  }
  /// That of the `index`-th matrices alone.
  Product single(std::int64_t index) const {
    Product one = *this;
    one.a += index * stride_a, one.b += index * stride_b, one.c += index * stride_c;
    one.batch = 1;
    return one;
  }
  bool is_hermitian() const { return part != Part::all && (conjugate_a || conjugate_b); }
  bool reads_inputs() const { return alpha != T(0) && k > 0; }
  /// C stays as it is: BLAS's quick return.
  bool does_nothing() const { return m == 0 || n == 0 || batch == 0 || (!reads_inputs() && beta == T(1)); }
};

/// Computes it. Does not return where nobody can.
template <class T>
void run(const Product<T>& product) noexcept;

extern template void run<float>(const Product<float>&) noexcept;
extern template void run<double>(const Product<double>&) noexcept;
extern template void run<std::complex<float>>(const Product<std::complex<float>>&) noexcept;
extern template void run<std::complex<double>>(const Product<std::complex<double>>&) noexcept;

}  // namespace tessera::blas
