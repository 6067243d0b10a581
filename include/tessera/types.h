/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The plain C types that cross both boundaries of the library: from a program to the core
 * (tessera/tessera.h) and from the core to a backend plugin (tessera/plugin/abi.h).
 *
 * Rules of growth, for every struct here:
 * - its first member is its size in bytes; fields are only ever appended;
 * - a reader refuses (TESSERA_UNSUPPORTED) non-zero bytes beyond the size that it knows, and takes
 *   fields beyond the given size as zero, so zero always means "as before this field existed";
 * - arrays of structs travel with the size of one element.
 */
#ifndef TESSERA_TYPES_H
#define TESSERA_TYPES_H

#include <stdint.h>

/** Marks what the library exports. */
#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of axes of a stencil's domain. */
#define TESSERA_MAX_RANK 3

/** Largest offset of a tap along an axis, in points. */
#define TESSERA_MAX_RADIUS 1024

/** A leading dimension or stride that the library derives from the sizes: no gaps. */
#define TESSERA_PACKED INT64_MIN

/* ---- Status ------------------------------------------------------------------------------ */

/** How a call ended. */
typedef int32_t tessera_status;
enum {
  TESSERA_OK = 0,
  TESSERA_INVALID_ARGUMENT = 1,    /**< the caller can mend it: the message says how */
  TESSERA_UNSUPPORTED = 2,         /**< well formed, but nothing here can do it */
  TESSERA_BACKEND_UNAVAILABLE = 3, /**< the named backend or device cannot be used here */
  TESSERA_OUT_OF_MEMORY = 4,
  TESSERA_DEVICE_ERROR = 5, /**< the device or its driver failed; it may have killed the context */
  TESSERA_INTERNAL = 6      /**< a defect of the library or of a plugin */
};

/** Flags of tessera_error.flags. */
enum {
  TESSERA_ERROR_CONTEXT_DEAD = 1 /**< the context this came from can do no more work */
};

/** A failure, written by the callee into memory that the caller owns. A message longer than the
 * buffer is cut; it always ends with NUL. `message` may be null. */
typedef struct tessera_error {
  uint64_t struct_size;
  tessera_status status;
  uint32_t flags;
  char* message;
  uint64_t message_capacity;
} tessera_error;

/* ---- Vocabulary -------------------------------------------------------------------------- */

/** An operation. */
typedef int32_t tessera_op;
enum {
  TESSERA_OP_GEMM = 1,
  TESSERA_OP_STENCIL = 2,
  TESSERA_OP_SYSTEM = 3 /**< steps of a system of fields: tessera/system.h */
};

/** The type of an element. f16 is IEEE 754 binary16, bf16 the upper half of a binary32. c64 and c128 are for products:
 * a complex number of two f32 or f64, first its real part, aligned as these. */
typedef int32_t tessera_dtype;
enum { TESSERA_F32 = 1, TESSERA_F64 = 2, TESSERA_F16 = 3, TESSERA_BF16 = 4, TESSERA_C64 = 5, TESSERA_C128 = 6 };

/** The arithmetic that the caller accepts; a backend may compute better than it is asked to. With
 * u = 2^-24, element by element where nothing else is said, beside the one rounding of D:
 * - strict: every product and sum is rounded to the data's type or better (16-bit data: products are
 *   exact, sums are of f32); never tf32 or another narrower input format;
 * - the others are for f32, and f32 by 16 bits: tf32 rounds inputs to 11 bits, (2^-10 + 2 k u) |A||B|, and permits
 *   bf16x6 and strict; bf16x6 takes each f32 as the sum of three bf16, (k / 16 + 83) u |A||B| (by 16 bits, which are
 *   one or two bf16: 155 in place of 83) or strict's bound, and permits strict; f16x3 takes two f16, scaled by row of A
 * and column of B, as bf16x6 with 165 u and 2^-38 of the largest elements: its bound is normwise. It permits bf16x6 and
 * strict. bf16 ends at 2^-133: in bf16x6 what is below that of an input is lost, 2^-133 (|a| + |b|) summed over k.
 * Infinities, NaN and overflow are what they are in f32. */
typedef int32_t tessera_compute;
enum {
  TESSERA_COMPUTE_DEFAULT = 0, /**< what TESSERA_GEMM_COMPUTE says where the type has it, else strict */
  TESSERA_COMPUTE_STRICT = 1,
  TESSERA_COMPUTE_BF16X6 = 2,
  TESSERA_COMPUTE_F16X3 = 3,
  TESSERA_COMPUTE_TF32 = 4
};

/** Which vector a product adds to D; or, where it is a gradient, which one it writes: the sums of what D holds then, in
 * the type of sums with one rounding at the end. One vector for a whole batch (bias_stride = 0) gets the batch's. */
typedef int32_t tessera_bias;
enum {
  TESSERA_BIAS_NONE = 0,
  TESSERA_BIAS_PER_ROW = 1,            /**< m values: bias[i] is added to row i */
  TESSERA_BIAS_PER_COLUMN = 2,         /**< n values: bias[j] is added to column j */
  TESSERA_BIAS_GRADIENT_PER_ROW = 3,   /**< m values: bias[i] <- the sum of row i of D */
  TESSERA_BIAS_GRADIENT_PER_COLUMN = 4 /**< n values: bias[j] <- the sum of column j of D */
};

/** Which part of D a product computes, where that has as many rows as columns. What is beyond it is not written, nor
 * does any result follow from what C has there. */
typedef int32_t tessera_triangle;
enum {
  TESSERA_TRIANGLE_NONE = 0,    /**< none: all of D */
  TESSERA_TRIANGLE_LOWER = 1,   /**< of each row what stands up to the diagonal */
  TESSERA_TRIANGLE_UPPER = 2,   /**< and from the diagonal on */
  TESSERA_TRIANGLE_MIRRORED = 3 /**< all of a D that is symmetric: one of both is computed, the other one is its copy */
};

/** The function that a product applies to each element at last. */
typedef int32_t tessera_activation;
enum {
  TESSERA_ACTIVATION_NONE = 0,
  TESSERA_ACTIVATION_RELU = 1,      /**< max(x, 0); NaN stays NaN */
  TESSERA_ACTIVATION_GELU = 2,      /**< x (1 + erf(x / sqrt(2))) / 2 */
  TESSERA_ACTIVATION_GELU_TANH = 3, /**< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 */
  TESSERA_ACTIVATION_SILU = 4,      /**< x / (1 + exp(-x)) */
  TESSERA_ACTIVATION_SIGMOID = 5,   /**< 1 / (1 + exp(-x)) */
  TESSERA_ACTIVATION_TANH = 6
};

/** What a product with an activation does with a matrix of D's size and type beside D: the two halves of training. With
 * k = 0, D <- beta C * activation'(aux) alone: the gradient C of a layer's result becomes that of what it activates. */
typedef int32_t tessera_aux;
enum {
  TESSERA_AUX_NONE = 0,
  /** aux <- alpha op(A) op(B) + beta C + bias, what the activation is applied to. D has the bits that it has without.
   */
  TESSERA_AUX_STORE = 1,
  /** D <- (alpha op(A) op(B) + beta C + bias) * activation'(aux), in place of the activation. The derivative of relu is
   * 0 at 0; at infinities each has its limit, and NaN stays NaN. */
  TESSERA_AUX_DERIVATIVE = 2
};

/** Where an operand lives. On a backend that computes on the host both mean host memory. */
typedef int32_t tessera_memory;
enum { TESSERA_MEMORY_HOST = 0, TESSERA_MEMORY_DEVICE = 1 };

/** How matrices are stored. */
typedef int32_t tessera_order;
enum { TESSERA_ROW_MAJOR = 0, TESSERA_COLUMN_MAJOR = 1 };

/** Whether a matrix is taken transposed. */
typedef int32_t tessera_transpose;
enum {
  TESSERA_NO_TRANSPOSE = 0,
  TESSERA_TRANSPOSE = 1,
  TESSERA_CONJUGATE_TRANSPOSE = 2, /**< of complex elements; of real ones as TESSERA_TRANSPOSE, */
  TESSERA_CONJUGATE = 3            /**< and as TESSERA_NO_TRANSPOSE */
};

/** What a tap reads when it leaves the domain across a side. n points, d c b a | a b c d. */
typedef int32_t tessera_boundary;
enum {
  TESSERA_BOUNDARY_FIXED = 0,    /**< the point whose tap leaves keeps its value; wins over all others */
  TESSERA_BOUNDARY_CONSTANT = 1, /**< a given value; wins over the modes below */
  TESSERA_BOUNDARY_PERIODIC = 2, /**< a b c d | a b c d | a b c d   (scipy.ndimage "wrap"); both sides or none */
  TESSERA_BOUNDARY_NEAREST = 3,  /**< a a a a | a b c d | d d d d */
  TESSERA_BOUNDARY_REFLECT = 4,  /**< d c b a | a b c d | d c b a */
  TESSERA_BOUNDARY_MIRROR = 5,   /**<   d c b | a b c d | c b a */
  TESSERA_BOUNDARY_HALO = 6      /**< the caller's array holds the ghost points; one step only */
};

/** In which order the taps of a stencil, or the products of op(A) and op(B), are added.
 * - any: each algorithm has its own. Results differ within the bound of the error.
 * - ordered, of a stencil: a backend has one order. It follows from the offsets of the taps, their number of axes and
 *   the element type alone. What algorithm runs, with what parameters and threads, how long the axes are and what
 *   strides they have does not matter. Each tap is one fused multiply-add where the instruction set has that
 *   (x86-64-v2 has not), in the element type or, for 16 bits, in f32 with one rounding at the end of each step. So
 *   two plans of one backend with one instruction set give the same bits for each point that reads the same values
 *   with the same taps, a plan of several steps those of as many plans of one. A domain may be cut into boxes with
 *   halo sides. The order is that of the offsets, compared axis by axis from the first on, the lowest first; but the
 *   cpu backend, and kokkos on the processor, group taps that rows share, and add first what leaves into a constant
 *   side of an axis but the last. So a constant side stays one in the boxes that touch it; ghost points that hold the
 *   constant may give other bits. Axes keep the caller's order: the last one should have the smallest stride.
 * - ordered, of a product: the order follows from n (or `whole_n`), k, the types, `compute`, the order of storage and
 *   whether A and B are transposed alone. So two plans of one backend on one kind of device, with one instruction set,
 *   give a row of D the same bits from the same row of op(A), of C and of the bias, and the same op(B) or columns of
 *   it: whatever m is, where in D and in which matrix of the batch the row stands, what the leading dimensions, strides
 *   and addresses are, how many threads or multiprocessors compute, with what algorithm and parameters. A bias or an
 *   activation leaves the bits of the sums that it is applied to. Algorithms that cannot keep that refuse it. Rows are
 *   the caller's in both orders of storage; who wants the same for columns describes D^T = op(B)^T op(A)^T.
 * NaN may differ in their payloads. */
typedef int32_t tessera_sums;
enum {
  TESSERA_SUMS_ANY = 0,
  TESSERA_SUMS_ORDERED = 1,
  TESSERA_SUMS_ORDERED_COLUMNS = 2 /**< to backends alone: of a product whose caller's rows are the columns of D */
};

/* ---- Execution --------------------------------------------------------------------------- */

/** Directions of tessera_copy. */
enum { TESSERA_COPY_TO_DEVICE = 0, TESSERA_COPY_TO_HOST = 1 };

/** Most axes of a copied array. */
#define TESSERA_COPY_MAX_RANK 4

/** Copies a strided array between host and device memory. Elements between the rows of the target
 * are left alone. Strides in elements, 0 and more; an extent of 0 copies nothing. */
typedef struct tessera_copy {
  uint64_t struct_size;
  int32_t direction;
  int32_t rank;
  uint64_t element_size;
  void* target;
  const void* source;
  int64_t extents[TESSERA_COPY_MAX_RANK];
  int64_t target_strides[TESSERA_COPY_MAX_RANK];
  int64_t source_strides[TESSERA_COPY_MAX_RANK];
} tessera_copy;

/** A scalar argument, tagged with its type: D's where that is f64 or complex, else f32, whose values are held exactly.
 * `imaginary` is 0 unless the type is complex. */
typedef struct tessera_scalar {
  tessera_dtype dtype;
  int32_t reserved;
  double real;
  double imaginary;
} tessera_scalar;

/** What an array is to an operation. */
typedef int32_t tessera_role;
enum {
  TESSERA_ROLE_A = 1,
  TESSERA_ROLE_B = 2,
  TESSERA_ROLE_C = 3,
  TESSERA_ROLE_D = 4,
  TESSERA_ROLE_BIAS = 5,
  TESSERA_ROLE_AUX = 6,
  TESSERA_ROLE_IN = 16,
  TESSERA_ROLE_OUT = 17,
  /* Of a system: of field f TESSERA_ROLE_FIELD + 4 f, and + 1, + 2 for its levels -1 and -2; the series of the i-th
   * injection and of the i-th recording. */
  TESSERA_ROLE_FIELD = 64,
  TESSERA_ROLE_INJECTED = 1024,
  TESSERA_ROLE_RECORDED = 2048
};

/** An array, tagged with the type of its elements and its role. */
typedef struct tessera_operand {
  void* data; /**< read-only operands are not written through this pointer */
  tessera_dtype dtype;
  tessera_role role;
} tessera_operand;

/** Operands and scalars of one execution. The operands may come in any order, each role once.
 * GEMM: A, B, C, the bias and aux where the plan has them, and D where it is not C itself; scalars alpha, beta.
 * Stencil: in, out; no scalars. System: each level of each field, each series; no scalars. */
typedef struct tessera_execution {
  uint64_t struct_size;
  const tessera_operand* operands;
  uint64_t operand_size; /**< sizeof(tessera_operand) */
  uint64_t operand_count;
  const tessera_scalar* scalars;
  uint64_t scalar_size; /**< sizeof(tessera_scalar) */
  uint64_t scalar_count;
  void* workspace; /**< program to core: must be null; core to plugin: what the plan asked for */
  uint64_t workspace_bytes;
  int64_t first_step; /**< of a system: the row of each series that the first step takes; else 0 */
} tessera_execution;

/** A device as a backend describes it. Strings live as long as the process. */
typedef struct tessera_device_info {
  uint64_t struct_size;
  const char* name;
  uint64_t memory_bytes;
} tessera_device_info;

/* ---- Offers ------------------------------------------------------------------------------ */

/** A way to run a problem: an algorithm with its parameters, and what it is predicted to cost. */
typedef struct tessera_offer {
  uint64_t struct_size;
  const char* algorithm;    /**< with parameters; lives as long as the visit */
  double seconds;           /**< predicted time of one execution with operands in the device's memory */
  double transfer_seconds;  /**< of operands in the host's memory, to and from the device; 0 where nothing travels */
  uint64_t workspace_bytes; /**< what the plan will ask for */
} tessera_offer;

/** Is shown an offer. `data` is what was passed beside the visitor. Throws nothing. */
typedef void (*tessera_offer_visitor)(void* data, const tessera_offer* offer);

#ifdef __cplusplus
}
#endif

#endif
