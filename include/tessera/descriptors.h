/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * What is to be computed: products and stencils. Systems of fields are in tessera/system.h. The structs grow by the
 * rules of tessera/types.h.
 */
#ifndef TESSERA_DESCRIPTORS_H
#define TESSERA_DESCRIPTORS_H

#include <tessera/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What every descriptor begins with. */
typedef struct tessera_desc {
  uint64_t struct_size;
  tessera_op op;
} tessera_desc;

/** D <- activation(alpha * op(A) * op(B) + beta * C + bias), for each matrix of a strided batch.
 * op(A) is m x k, op(B) is k x n, C and D are m x n. D may be C itself. A leading dimension is the
 * distance, in elements, from one row (row-major) or column (column-major) of the stored matrix to the next.
 * Everything up to the one rounding to D's type is computed in that type, or in f32 where that is better. */
typedef struct tessera_gemm_desc {
  uint64_t struct_size;
  tessera_op op;            /**< TESSERA_OP_GEMM */
  tessera_dtype dtype;      /**< of A, and of B unless dtype_b says else */
  tessera_dtype dtype_d;    /**< of C and D: 0 or that of A and B, of two types the wider; or TESSERA_F32 for 16 bits */
  tessera_dtype dtype_bias; /**< 0 or that of D, or TESSERA_F32 where that has 16 bits */
  tessera_compute compute;
  tessera_order order;
  tessera_transpose trans_a;
  tessera_transpose trans_b;
  tessera_bias bias;
  tessera_activation activation;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t lda; /**< elements, or TESSERA_PACKED */
  int64_t ldb;
  int64_t ldc;
  int64_t ldd;      /**< 0: that of C */
  int64_t batch;    /**< number of products, 0 and more */
  int64_t stride_a; /**< elements from one matrix of the batch to the next, or TESSERA_PACKED; */
  int64_t stride_b; /**< 0 repeats the one matrix (A, B, and C where D is another matrix) */
  int64_t stride_c;
  int64_t stride_d;       /**< 0: that of C */
  int64_t bias_increment; /**< elements from one value of the bias to the next; 0: 1 */
  int64_t bias_stride;    /**< elements from one bias of the batch to the next; 0 shares the one */
  tessera_sums sums;
  /** Of B: 0 as A. Or one of both is TESSERA_F32 and the other has 16 bits, or TESSERA_F64 and the other TESSERA_F32:
   * the product of the exact values, in the arithmetic of the wider type. */
  tessera_dtype dtype_b;
  tessera_aux aux;
  tessera_triangle triangle;
  int64_t ldaux;      /**< elements from one row or column of aux to the next; 0 or TESSERA_PACKED: no gaps */
  int64_t stride_aux; /**< as stride_c; 0: TESSERA_PACKED beside ldaux = 0, beside another one for all, that is read */
  int64_t whole_n;    /**< of ordered sums: n of the product that this one computes some columns of; 0: n */
} tessera_gemm_desc;

/** A packed, row-major product of op(A) = A and op(B) = B: a descriptor to begin with. */
static inline tessera_gemm_desc tessera_packed_gemm(tessera_dtype dtype, int64_t m, int64_t n, int64_t k) {
  const tessera_gemm_desc desc = {sizeof(tessera_gemm_desc),
                                  TESSERA_OP_GEMM,
                                  dtype,
                                  0,
                                  0,
                                  TESSERA_COMPUTE_DEFAULT,
                                  TESSERA_ROW_MAJOR,
                                  TESSERA_NO_TRANSPOSE,
                                  TESSERA_NO_TRANSPOSE,
                                  TESSERA_BIAS_NONE,
                                  TESSERA_ACTIVATION_NONE,
                                  m,
                                  n,
                                  k,
                                  TESSERA_PACKED,
                                  TESSERA_PACKED,
                                  TESSERA_PACKED,
                                  0,
                                  1,
                                  TESSERA_PACKED,
                                  TESSERA_PACKED,
                                  TESSERA_PACKED,
                                  0,
                                  0,
                                  0,
                                  TESSERA_SUMS_ANY,
                                  0,
                                  TESSERA_AUX_NONE,
                                  0,
                                  0,
                                  0,
                                  0};
  return desc;
}

/** One term of a stencil: coefficient * in[p + offset]; offsets in the order of the axes. */
typedef struct tessera_tap {
  int64_t offset[TESSERA_MAX_RANK]; /**< entries at and beyond the rank are 0 */
  double coefficient;
} tessera_tap;

/** out[p] = sum over taps of coefficient * in[p + offset], applied `steps` times.
 * Axes run from the slowest to the fastest in the default strides (C order). The pointers of an
 * execution address the domain's first point, also where there is a halo. */
typedef struct tessera_stencil_desc {
  uint64_t struct_size;
  tessera_op op; /**< TESSERA_OP_STENCIL */
  tessera_dtype dtype;
  tessera_compute compute;
  int32_t rank; /**< 1, 2 or 3 */
  int64_t extents[TESSERA_MAX_RANK];
  /** Elements from one point to the next along each axis, or TESSERA_PACKED (all axes or none). A
   * packed input with halo sides is the packed array of the domain extended by the taps' reach. */
  int64_t in_strides[TESSERA_MAX_RANK];
  int64_t out_strides[TESSERA_MAX_RANK];
  const tessera_tap* taps; /**< read during plan creation only */
  uint64_t tap_size;       /**< sizeof(tessera_tap) */
  int64_t tap_count;
  tessera_boundary boundary[TESSERA_MAX_RANK][2]; /**< per axis: low side, high side */
  double boundary_value[TESSERA_MAX_RANK][2];     /**< read where the mode is constant */
  int64_t steps; /**< 0 copies the values: a zero may lose its sign, a NaN may have other bits */
  tessera_sums sums;
  int32_t reserved; /**< 0 */
} tessera_stencil_desc;

#ifdef __cplusplus
}
#endif

#endif
