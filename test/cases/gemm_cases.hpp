// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The GEMM problems that every algorithm of every backend must solve. No test framework here: fuzz targets link
/// their layouts, too.
#pragma once

#include <tessera/gemm.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// What the operands hold.
enum class GemmData {
  random,    ///< uniform in [-1, 1]: compared within the rounding bound
  wide_a,    ///< integers, A with 13 significant bits (f64: 27, f16: 11, bf16: 8), exact sums, compared bit for bit
  wide_b,    ///< the same with B the wide operand
  denormal,  ///< products, sums and C are denormal numbers and exact: compared bit for bit
  denormal_products,  ///< so are products and sums of half the columns, but no element of A and B: bit for bit
  nan_and_inf,        ///< random, with a NaN and infinities in the first and last rows and columns of A and B
  nan_in_c,           ///< random A and B, C all NaN: beta = 0 must not read it
  nan_everywhere,     ///< A and B all NaN: alpha = 0 must not read them
  null_a_and_b,       ///< A and B are null pointers: alpha = 0 or k = 0 must not need them
  random_bits,        ///< C holds numbers of every size, NaN and infinities; A and B are null pointers
  overflow,           ///< integer results on both sides of 65520, where f16 becomes infinite: compared bit for bit
};

/// Where the result goes.
enum class GemmResult {
  in_c,          ///< to C itself
  beside_c,      ///< to D, and C keeps its bits
  instead_of_c,  ///< to D, C is a null pointer: beta = 0 must not need it
};

struct GemmCase {
  std::string name;
  GemmDesc desc;  ///< types are the runner's to set
  double alpha = 1.0;
  double beta = 0.0;
  GemmData data = GemmData::random;
  /// Part of the short list, for runs that repeat the same code (variants of a backend, tile parameters).
  bool essential = false;
  GemmResult result = GemmResult::in_c;
  bool f32_bias = false;  ///< where D has 16 bits
};

inline bool is_gradient(Bias bias) { return bias == Bias::gradient_per_row || bias == Bias::gradient_per_column; }
inline bool is_per_row(Bias bias) { return bias == Bias::per_row || bias == Bias::gradient_per_row; }

std::vector<GemmCase> gemm_cases();
/// Part of them, in a file of its own: bias, activations, D beside C.
std::vector<GemmCase> gemm_epilogue_cases();

/// Where the elements of op(X), C or D lie: (i, j) of matrix l at l * batch_stride + i * row_stride + j *
/// column_stride.
struct MatrixLayout {
  std::int64_t rows, columns, batch;
  std::int64_t row_stride, column_stride, batch_stride;

  std::int64_t at(std::int64_t l, std::int64_t i, std::int64_t j) const {
    return l * batch_stride + i * row_stride + j * column_stride;
  }
  /// Elements from the first to behind the last one; 0 where there are none.
  std::int64_t span() const {
    return rows == 0 || columns == 0 || batch == 0 ? 0 : at(batch - 1, rows - 1, columns - 1) + 1;
  }
};

struct GemmLayout {
  MatrixLayout a, b;  ///< transposed as the descriptor says: m x k and k x n
  MatrixLayout c, d;
  MatrixLayout bias;  ///< m x 1 or n x 1; 0 x 1 where there is none. One vector where it is one gradient for all
  MatrixLayout aux;   ///< 0 x n where there is none
};

GemmLayout layout_of(const GemmDesc& desc);

}  // namespace tessera::test
