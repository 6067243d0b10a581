// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GemmDesc: what a product computes.
#pragma once

#include <tessera/dtype.hpp>
#include <tessera/error.hpp>
#include <tessera/integer.hpp>

#include <cstdint>
#include <optional>

namespace tessera {

/// How matrices are stored: rows or columns without gaps between their elements.
enum class Order : std::int32_t { row_major = TESSERA_ROW_MAJOR, column_major = TESSERA_COLUMN_MAJOR };
/// Whether op(X) is X or its transpose.
enum class Transpose : std::int32_t {
  no = TESSERA_NO_TRANSPOSE,
  yes = TESSERA_TRANSPOSE,
  conjugate = TESSERA_CONJUGATE_TRANSPOSE,  ///< the transpose's conjugate; of real elements as `yes`
  conjugate_alone = TESSERA_CONJUGATE       ///< of real elements as `no`
};
/// Whether a matrix is stored the other way round.
constexpr bool is_transposed(Transpose t) { return t == Transpose::yes || t == Transpose::conjugate; }

/// Which vector a product adds: m values, one to each row of D, or n values, one to each column. Or, as a gradient,
/// which one it writes: the sums of D's rows or columns. See tessera_bias.
enum class Bias : std::int32_t {
  none = TESSERA_BIAS_NONE,
  per_row = TESSERA_BIAS_PER_ROW,
  per_column = TESSERA_BIAS_PER_COLUMN,
  gradient_per_row = TESSERA_BIAS_GRADIENT_PER_ROW,
  gradient_per_column = TESSERA_BIAS_GRADIENT_PER_COLUMN
};
/// The function that a product applies to each element at last: see tessera_activation for the formulas.
enum class Activation : std::int32_t {
  none = TESSERA_ACTIVATION_NONE,
  relu = TESSERA_ACTIVATION_RELU,
  gelu = TESSERA_ACTIVATION_GELU,
  gelu_tanh = TESSERA_ACTIVATION_GELU_TANH,
  silu = TESSERA_ACTIVATION_SILU,
  sigmoid = TESSERA_ACTIVATION_SIGMOID,
  tanh = TESSERA_ACTIVATION_TANH
};

/// What a product with an activation does with the matrix aux, of D's size and type. `store`: it writes what the
/// activation is applied to. `derivative`: it reads that, and multiplies by the activation's derivative there in place
/// of the activation. See tessera_aux.
enum class Aux : std::int32_t {
  none = TESSERA_AUX_NONE,
  store = TESSERA_AUX_STORE,
  derivative = TESSERA_AUX_DERIVATIVE
};

/// Which part of a square D is computed. `mirrored`: D is symmetric, as by A and its transpose; one triangle is
/// computed, and the other one is its copy. See tessera_triangle.
enum class Triangle : std::int32_t {
  none = TESSERA_TRIANGLE_NONE,
  lower = TESSERA_TRIANGLE_LOWER,
  upper = TESSERA_TRIANGLE_UPPER,
  mirrored = TESSERA_TRIANGLE_MIRRORED
};

/// Whether A and B may be of these types: of one, or one of them f32 and the other f16 or bf16, or f64 and f32.
constexpr bool can_multiply(DType a, DType b) {
  if (is_complex(a) || is_complex(b)) return a == b;
  return a == b || size_of(a) == 2 * size_of(b) || size_of(b) == 2 * size_of(a);
}
/// The wider type of two factors, which their product has unless its descriptor says else.
constexpr DType wider(DType a, DType b) { return size_of(b) > size_of(a) ? b : a; }

/// A distance in D that is the one in C.
inline constexpr std::int64_t kLikeC = 0;

/// D <- activation(alpha op(A) op(B) + beta C + bias); D may be C itself. op(A) is m x k, op(B) is k x n, C and D are
/// m x n; all sizes 0 and more, and to be set: -1 is refused. A leading dimension counts the elements from one row
/// (row-major) or column (column-major) of the stored matrix to the next. Numbers may come in any integral type.
/// A and B may be of two types, as can_multiply() says: the exact values are multiplied in the arithmetic of the wider.
struct GemmDesc {
  Integer m = -1;                            ///< rows of op(A), C and D; 0 and more, must be given
  Integer n = -1;                            ///< columns of op(B), C and D; 0 and more, must be given
  Integer k = -1;                            ///< columns of op(A), rows of op(B); 0 and more, must be given
  DType dtype = DType::f32;                  ///< type of the elements of A, and of B unless dtype_b says else
  Order order = Order::row_major;            ///< how A, B, C and D are stored
  Transpose trans_a = Transpose::no;         ///< whether the stored A is m x k (no) or k x m (yes)
  Transpose trans_b = Transpose::no;         ///< whether the stored B is k x n (no) or n x k (yes)
  Integer lda = kPacked;                     ///< elements from one row or column of the stored A to the next
  Integer ldb = kPacked;                     ///< elements from one row or column of the stored B to the next
  Integer ldc = kPacked;                     ///< elements from one row or column of C to the next
  Integer batch = 1;                         ///< number of products, 0 and more
  Integer stride_a = kPacked;                ///< elements from one A of the batch to the next; 0: one A for all
  Integer stride_b = kPacked;                ///< elements from one B of the batch to the next; 0: one B for all
  Integer stride_c = kPacked;                ///< elements from one C to the next; 0 beside a D: one C for all
  Compute compute = Compute::environment;    ///< least exact arithmetic that is accepted: see tessera_compute
  std::optional<DType> dtype_b = {};         ///< type of B: A's (empty), or one that can_multiply()
  std::optional<DType> dtype_d = {};         ///< type of C and D: the wider of A and B, or f32 where that has 16 bits
  Bias bias = Bias::none;                    ///< which vector is added or, as a gradient, written
  Activation activation = Activation::none;  ///< function that is applied to each element last
  std::optional<DType> dtype_bias = {};      ///< type of the bias: D's (empty), or f32 where D has 16 bits
  Integer bias_increment = 1;                ///< elements from one value of the bias to the next
  Integer bias_stride = 0;                   ///< elements from one bias of the batch to the next; 0: one bias for all
  Integer ldd = kLikeC;                      ///< elements from one row or column of D to the next; kLikeC: as C
  Integer stride_d = kLikeC;  ///< elements from one D to the next; kLikeC: as C, or packed where ldd is given
  Sums sums = Sums::any;      ///< in which order products are added; ordered: on one backend a row's bits are its own
  Aux aux = Aux::none;        ///< whether what the activation is applied to is written, or its derivative there applied
  Integer ldaux = kPacked;    ///< elements from one row or column of aux to the next
  Integer stride_aux = kPacked;        ///< elements from one aux of the batch to the next; 0: one for all, if read
  Triangle triangle = Triangle::none;  ///< which part of D is computed and written; none: all of it
  Integer whole_n = 0;  ///< of ordered sums: n of the product that this one computes some columns of; 0: n
};

}  // namespace tessera
