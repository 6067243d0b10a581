/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The contract between the core and a backend plugin, version 1. Pure C.
 *
 * A plugin is a shared library libtessera_backend_<name>[-v2|-v3|-v4].so that exports exactly one
 * symbol, tessera_backend_v1, which returns a table of functions. The core loads it once, never
 * unloads it, and calls any function of the table from any thread.
 *
 * The core validates and canonicalises before it calls. A plugin may rely on:
 * - GEMM: row-major (column-major problems arrive as their transpose, and say so where their sums are ordered:
 *   TESSERA_SUMS_ORDERED_COLUMNS), explicit leading dimensions
 *   and strides, types and arithmetic, sizes 0 and more; operands in the order A, B, C, D, bias, aux, the last two
 *   where the problem has them; A and B may be null when k or alpha is 0, and C when beta is 0; D is C, with its
 * layout, or shares no element with it;
 * - stencil: explicit, non-overlapping strides, axes ordered so that the last has the smallest in-stride
 *   where the boundaries allow it, at least one tap, no offset twice, finite coefficients, one step or
 *   more, one step only where there is a halo;
 * - systems: explicit, non-overlapping strides, types, boxes and ways of the next level (in place or apart), updates
 *   by stages, everything in range and finite, one step or more; operands: each field's levels, the newest first, then
 *   the series of injections and of recordings at the row of the first step. Arrays of levels take turns: a step writes
 *   the array of the oldest level, or one of the workspace that comes behind it, which is then the newest. What is left
 *   in the workspace at the end goes to the array that would be written next;
 * - operands: in the memory of the context's device, right number and types, aligned to their
 *   element, the output without a common element with what is read, but for C = D; executions with an empty
 *   output never arrive.
 */
#ifndef TESSERA_PLUGIN_ABI_H
#define TESSERA_PLUGIN_ABI_H

#include <tessera/descriptors.h>
#include <tessera/system.h>
#include <tessera/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this contract, which stands in the name of the exported symbol too, in the lower 16 bits. Above them
 * the minor version of Tessera, since before Tessera 1.0 each may change the contract; 0 from then on. */
#define TESSERA_BACKEND_ABI_VERSION (1 | (TESSERA_VERSION_MAJOR == 0 ? TESSERA_VERSION_MINOR << 16 : 0))

/** Flags of tessera_backend.flags. */
enum {
  TESSERA_BACKEND_ON_HOST = 1 /**< the device's memory is the host's: operands are never staged */
};

typedef struct tessera_backend_context tessera_backend_context; /**< defined by the plugin */
typedef struct tessera_backend_plan tessera_backend_plan;       /**< defined by the plugin */

/** How a context is to be made. */
typedef struct tessera_backend_context_desc {
  uint64_t struct_size;
  void* native_stream; /**< the caller's stream, when wrap_stream is set */
  int32_t wrap_stream;
  int32_t device;
  int32_t threads;       /**< CPU threads; 0: the backend's own default */
  int32_t high_priority; /**< the stream that it makes goes first where a device has priorities */
} tessera_backend_context_desc;

/** One key=value of a forced algorithm. */
typedef struct tessera_parameter {
  const char* key;
  int64_t value;
} tessera_parameter;

/** What plan is to be made. */
typedef struct tessera_plan_request {
  uint64_t struct_size;
  const tessera_desc* desc;
  const char* algorithm; /**< null: the backend chooses */
  const tessera_parameter* parameters;
  uint64_t parameter_size; /**< sizeof(tessera_parameter) */
  uint64_t parameter_count;
  uint64_t workspace_limit; /**< GEMM plans ask for no more; a stencil plan takes what it needs */
  int32_t multiprocessors;  /**< of a device that has some, that the plan's kernels occupy at most; 0: all */
  int32_t prepared;         /**< the place of the operand that was prepared, 0 (A) or 1 (B), where `form` is not null */
  /** What tessera_backend.prepare wrote for that operand: executions get its memory in the place of the operand, whose
   * leading dimension and stride mean nothing. Null: no operand was prepared. */
  const char* form;
} tessera_plan_request;

/** What the plugin says of a plan it made. */
typedef struct tessera_plan_reply {
  uint64_t struct_size;
  const char* algorithm;    /**< with parameters; lives as long as the plan */
  uint64_t workspace_bytes; /**< the core hands this much, 256-byte aligned, to every execution */
} tessera_plan_reply;

/** A question for the ways to run a problem. */
typedef struct tessera_offers_request {
  uint64_t struct_size;
  const tessera_desc* desc;
  const char* algorithm; /**< null: all */
  const tessera_parameter* parameters;
  uint64_t parameter_size; /**< sizeof(tessera_parameter) */
  uint64_t parameter_count;
  uint64_t workspace_limit; /**< as in tessera_plan_request */
  uint64_t most;            /**< offers that are wanted; 0: all */
  tessera_memory memory;    /**< where the operands are */
  int32_t device;
  int32_t threads;         /**< CPU threads of the context that the plan would have; 0: the backend's own default */
  int32_t multiprocessors; /**< as in tessera_plan_request */
  int32_t prepared;        /**< as in tessera_plan_request */
  const char* form;
} tessera_offers_request;

/** A way in which an operand of a product may be laid out for the plans that read it. */
typedef struct tessera_form {
  uint64_t struct_size;
  const char* text; /**< lives as long as the visit */
  uint64_t bytes;   /**< of its memory */
} tessera_form;
/** Is shown a form. `data` is what was passed beside the visitor. Throws nothing. */
typedef void (*tessera_form_visitor)(void* data, const tessera_form* form);

/** C <- alpha * op(A) * op(B) + beta * C of matrices in the host's memory, row-major. Sizes are 1 and more. alpha and
 * beta are to be rounded to the matrices' type, in which alpha is not 0. C is not read where beta is 0, and shares no
 * element with A and B. */
typedef struct tessera_small_product {
  uint64_t struct_size;
  int64_t m, n, k;
  const void* a;
  const void* b;
  void* c;
  int64_t lda, ldb, ldc; /**< elements from one row of the stored matrix to the next */
  double alpha, beta;
  tessera_transpose trans_a, trans_b;
} tessera_small_product;
/** Computes it on the calling thread and cannot fail. Called from any thread, also in the child of a fork. */
typedef void (*tessera_small_gemm_function)(const tessera_small_product* product);

/** The functions of a backend. */
typedef struct tessera_backend {
  uint64_t struct_size;
  uint32_t abi_version; /**< TESSERA_BACKEND_ABI_VERSION */
  uint32_t flags;
  const char* name;
  const char* build_info;

  /** TESSERA_OK, or a failure whose message is the reason. Touches no device more than it must. */
  tessera_status (*available)(tessera_error* error);
  int32_t (*device_count)(void);
  tessera_status (*device_info)(int32_t device, tessera_device_info* info, tessera_error* error);

  uint64_t (*algorithm_count)(tessera_op op);
  const char* (*algorithm_name)(tessera_op op, uint64_t index);
  /** TESSERA_OK, or TESSERA_UNSUPPORTED with the reason. */
  tessera_status (*algorithm_supports)(tessera_op op, uint64_t index, int32_t device, const tessera_desc* desc,
                                       tessera_error* error);
  /** Calls `visit` with the ways to run a problem, the cheapest first: of the named algorithm, or of all that support
   * it but drafts. TESSERA_UNSUPPORTED where there is none, with the reason. Backends are compared by the cheapest, so
   * its time is an honest prediction, not a rank. */
  tessera_status (*plan_offers)(const tessera_offers_request* request, tessera_offer_visitor visit, void* data,
                                tessera_error* error);

  tessera_status (*context_create)(const tessera_backend_context_desc* desc, tessera_backend_context** context,
                                   tessera_error* error);
  void (*context_destroy)(tessera_backend_context* context);
  /** Waits for everything queued on the context. */
  tessera_status (*synchronize)(tessera_backend_context* context, tessera_error* error);

  tessera_status (*buffer_allocate)(tessera_backend_context* context, uint64_t bytes, void** data,
                                    tessera_error* error);
  void (*buffer_free)(tessera_backend_context* context, void* data);
  /** Behind all work queued before; returns when the copy is complete. */
  tessera_status (*copy)(tessera_backend_context* context, const tessera_copy* copy, tessera_error* error);

  tessera_status (*plan_create)(tessera_backend_context* context, const tessera_plan_request* request,
                                tessera_backend_plan** plan, tessera_plan_reply* reply, tessera_error* error);
  /** Queues the work and returns; allocates nothing. */
  tessera_status (*plan_execute)(tessera_backend_plan* plan, const tessera_execution* execution, tessera_error* error);
  /** Called with no work of the plan in flight and its context still there. */
  void (*plan_destroy)(tessera_backend_plan* plan);

  /* Optional from here on: a table may end here, or hold null. */

  tessera_status (*native_stream)(tessera_backend_context* context, void** stream, tessera_error* error);
  /** Fills `bytes` of the device's memory with copies of its first `block` bytes, behind all work queued before.
   * Without it the core copies from the host. */
  tessera_status (*buffer_repeat)(tessera_backend_context* context, void* data, uint64_t block, uint64_t bytes,
                                  tessera_error* error);
  /** The context's clock as its device counts, for plans that measure: begins behind all work queued before. Without
   * these two the core takes the host's clock between two calls of synchronize. */
  tessera_status (*timer_start)(tessera_backend_context* context, tessera_error* error);
  /** Waits for everything queued on the context. Seconds since timer_start. */
  tessera_status (*timer_stop)(tessera_backend_context* context, double* seconds, tessera_error* error);
  /** The CPU threads that plans of the context use at most: what was measured with others is not for it. */
  tessera_status (*threads)(tessera_backend_context* context, int32_t* threads, tessera_error* error);
  /** What is queued on the context from now on begins when what is queued on `earlier`, another context of this
   * backend, has ended. Returns at once. Null: nothing stays queued, or the core waits. */
  tessera_status (*wait_for)(tessera_backend_context* context, tessera_backend_context* earlier, tessera_error* error);
  /** What multiplies small matrices of a type without a plan, where m, n and k are `extent` at most, and m * n * k is
   * `multiply_adds` at most: the backend sets both. Null: nothing does. Asked once a process for each type, of a
   * backend that is available. It gives the bits that a plan of one of the backend's algorithms gives. */
  tessera_small_gemm_function (*small_gemm)(tessera_dtype dtype, int64_t* extent, int64_t* multiply_adds);
  /** Shows `visit` the form in which the operand `request->prepared` of a product is best prepared, of which the
   * request has none yet. Plans read it whatever the size of the side of D is that the operand does not have. Null, as
   * prepare(): nothing is prepared. */
  tessera_status (*best_form)(const tessera_offers_request* request, tessera_form_visitor visit, void* data,
                              tessera_error* error);
  /** Writes that operand, whose layout the descriptor tells, in the form of the request. Queues the work, or does it.
   * `target` is memory of the context's device, aligned to 256 bytes. */
  tessera_status (*prepare)(tessera_backend_context* context, const tessera_plan_request* request, const void* source,
                            void* target, tessera_error* error);
} tessera_backend;

/** The one symbol that a plugin exports. */
typedef const tessera_backend* (*tessera_backend_entry)(void);

#ifdef __cplusplus
}
#endif

#endif
