// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What becomes of complete sums while they are in a cache: bias, activation and the rounding to 16 bits.
#pragma once

#include <tessera/plugin/epilogue.hpp>

#include <cstdint>

namespace tessera::cpu {

/// Bias and activation of a part of D that begins at element (i, j) of matrix `item`. S: float or double.
template <class S>
struct Finish {
  const plugin::Epilogue<S>* epilogue = nullptr;  ///< null: none
  std::int64_t item = 0, i = 0, j = 0;

  explicit operator bool() const { return epilogue != nullptr; }
  /// The part that begins `rows` and `columns` further on.
  Finish at(std::int64_t rows, std::int64_t columns) const { return {epilogue, item, i + rows, j + columns}; }
  /// Applies them to an m x n part of sums, once an element, and puts the results into D, which may hold the sums.
  void apply(std::int64_t m, std::int64_t n, const S* sums, std::int64_t lds, S* d, std::int64_t ldd) const;
  /// The same where D holds the sums.
  void apply(std::int64_t m, std::int64_t n, S* d, std::int64_t ldd) const { apply(m, n, d, ldd, d, ldd); }
};

/// D <- epilogue(sums + beta * C), rounded to D's 16 bits, for an m x n part. The sums are lost. C is not read where
/// beta is 0.
template <class To>
void store_part(std::int64_t m, std::int64_t n, Scalar<To>* sums, std::int64_t lds, Scalar<To> beta, const To* c,
                std::int64_t ldc, To* d, std::int64_t ldd, const Finish<Scalar<To>>& finish);
/// The same for n elements of a row.
template <class To>
void store_row(std::int64_t n, Scalar<To>* sums, Scalar<To> beta, const To* c, To* d,
               const Finish<Scalar<To>>& finish) {
  store_part(1, n, sums, n, beta, c, n, d, n, finish);
}

/// A part of D that takes complete sums because it cannot hold incomplete ones.
template <class S>
class Target {
 public:
  virtual ~Target() = default;
  /// The m x n part from element (i, j) on will be stored soon.
  virtual void prefetch(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const = 0;
  /// Stores it. The sums are lost.
  virtual void store(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n, S* sums,
                     std::int64_t lds) const = 0;
};

/// D <- epilogue(beta * C); with beta = 0, C is not read.
template <class To>
void scale_tile(std::int64_t m, std::int64_t n, Scalar<To> beta, const To* c, std::int64_t ldc, To* d, std::int64_t ldd,
                const Finish<Scalar<To>>& finish);

}  // namespace tessera::cpu
