/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The part of the C interface that prepares operands of products. tessera/tessera.h includes it.
 */
#ifndef TESSERA_PREPARED_H
#define TESSERA_PREPARED_H

#include <tessera/descriptors.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tessera_context;
struct tessera_plan_options;

/** B of matrix products, laid out once as plans read it fastest: see tessera_prepare. */
typedef struct tessera_prepared tessera_prepared;

/** Lays out op(B) of a product, once for the plans of any m that read it: packed for the kernels of a processor, as the
 * parts of f32 that tensor cores multiply, or as rows at aligned places, whichever is predicted to be the fastest for
 * m rows. `b` is where options->operands says, has `elements` elements at least (UINT64_MAX: enough), and may be
 * changed or freed on return. `context` may be null for host operands: the backend is then chosen for this descriptor.
 * Of the options `operands`, `algorithm` (of the plans: its form alone is considered) and the limits count. The results
 * have the accuracy of other plans, and of ordered sums the bits. TESSERA_UNSUPPORTED where the backend prepares
 * nothing. */
TESSERA_API tessera_status tessera_prepare(struct tessera_context* context, const tessera_gemm_desc* desc,
                                           const struct tessera_plan_options* options, const void* b, uint64_t elements,
                                           tessera_prepared** prepared, tessera_error* error);
/** Gives up the caller's hold, and that of the plan cache: the memory is freed with the last plan. Null is allowed. */
TESSERA_API void tessera_prepared_destroy(tessera_prepared* prepared);

/** What a prepared operand tells of itself. */
typedef struct tessera_prepared_info {
  uint64_t struct_size;
  const char* backend;     /**< the strings live as long as the operand */
  const char* form;        /**< "matrix", or the algorithm that reads it, with parameters: "packed:block_k=264" */
  const char* description; /**< one line: product, backend, form, bytes */
  uint64_t bytes;          /**< of the device's memory */
  int32_t device;
  int32_t reserved; /**< 0 */
} tessera_prepared_info;

/** Describes a prepared operand. */
TESSERA_API tessera_status tessera_get_prepared_info(const tessera_prepared* prepared, tessera_prepared_info* info,
                                                     tessera_error* error);

#ifdef __cplusplus
}
#endif
#endif
