/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Plugins in C that break one rule each, chosen by a macro. TESSERA_OLD_TABLE breaks none: its table ends before the
 * optional part, as that of a plugin built with an older header would. Nor does TESSERA_SMALL_GEMM. */

#include <tessera/plugin/abi.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What it says of a product, and of the plan that it makes. */
#if !defined(TESSERA_SECONDS)
#define TESSERA_SECONDS 1e9
#endif
#if !defined(TESSERA_REPLY_ALGORITHM)
#define TESSERA_REPLY_ALGORITHM "zero"
#endif
#if !defined(TESSERA_REPLY_WORKSPACE)
#define TESSERA_REPLY_WORKSPACE 0
#endif
#if !defined(TESSERA_PLAN_BYTES)
#define TESSERA_PLAN_BYTES 1
#endif

#define EXPORT __attribute__((visibility("default")))

static tessera_status available(tessera_error* error) { return (void)error, TESSERA_OK; }
static int32_t device_count(void) {
#if defined(TESSERA_DEVICES)
  return TESSERA_DEVICES;
#else
  return 1;
#endif
}
static tessera_status device_info(int32_t device, tessera_device_info* info, tessera_error* error) {
  (void)device, (void)error;
  info->name = "a device in C";
#if defined(TESSERA_NAMELESS_DEVICE)
  info->name = NULL;
#elif defined(TESSERA_LOST_DEVICE)
  return TESSERA_DEVICE_ERROR;
#endif
  info->memory_bytes = 4096;
  return TESSERA_OK;
}
#if defined(TESSERA_ALGORITHM)
static uint64_t algorithm_count(tessera_op op) { return op == TESSERA_OP_GEMM ? 2 : 0; }
static const char* algorithm_name(tessera_op op, uint64_t index) {
  return op == TESSERA_OP_GEMM && index == 0 ? "zero" : TESSERA_ALGORITHM;
}
#else
static uint64_t algorithm_count(tessera_op op) {
#if defined(TESSERA_MANY_ALGORITHMS)
  return UINT64_MAX;
#endif
  return op == TESSERA_OP_GEMM;
}
static const char* algorithm_name(tessera_op op, uint64_t index) {
  return op == TESSERA_OP_GEMM && index == 0 ? "zero" : NULL;
}
#endif
static tessera_status algorithm_supports(tessera_op op, uint64_t index, int32_t device, const tessera_desc* desc,
                                         tessera_error* error) {
  return (void)op, (void)index, (void)device, (void)desc, (void)error, TESSERA_OK;
}
static tessera_status plan_offers(const tessera_offers_request* request, tessera_offer_visitor visit, void* data,
                                  tessera_error* error) {
  const tessera_offer offer = {sizeof offer, "zero", TESSERA_SECONDS, 0.0, 0};
  (void)error;
  if (request->desc->op != TESSERA_OP_GEMM) return TESSERA_UNSUPPORTED;
  visit(data, &offer);
#if defined(TESSERA_SECOND_OFFER)
  const tessera_offer second = {sizeof second, "zero", INFINITY, 0.0, 0};
  visit(data, &second);  // although one alone was wanted
#endif
  return TESSERA_OK;
}
static tessera_status context_create(const tessera_backend_context_desc* desc, tessera_backend_context** context,
                                     tessera_error* error) {
  (void)desc, (void)error;
  *context = (tessera_backend_context*)malloc(1);
  return TESSERA_OK;
}
static void context_destroy(tessera_backend_context* context) { free(context); }
static tessera_status synchronize(tessera_backend_context* context, tessera_error* error) {
  return (void)context, (void)error, TESSERA_OK;
}
static tessera_status buffer_allocate(tessera_backend_context* context, uint64_t bytes, void** data,
                                      tessera_error* error) {
  (void)context, (void)error;
  *data = malloc(bytes + 1);
  return TESSERA_OK;
}
static void buffer_free(tessera_backend_context* context, void* data) {
  (void)context;
  free(data);
}
static tessera_status copy(tessera_backend_context* context, const tessera_copy* c, tessera_error* error) {
  (void)context, (void)error;
  if (c->rank == 1) memcpy(c->target, c->source, (size_t)c->extents[0] * c->element_size);
  return TESSERA_OK;
}
static tessera_status plan_create(tessera_backend_context* context, const tessera_plan_request* request,
                                  tessera_backend_plan** plan, tessera_plan_reply* reply, tessera_error* error) {
  (void)context, (void)request, (void)error;
  *plan = (tessera_backend_plan*)(TESSERA_PLAN_BYTES > 0 ? malloc(TESSERA_PLAN_BYTES) : NULL);
  reply->algorithm = TESSERA_REPLY_ALGORITHM;
  reply->workspace_bytes = TESSERA_REPLY_WORKSPACE;
  return TESSERA_OK;
}
static tessera_status plan_execute(tessera_backend_plan* plan, const tessera_execution* execution,
                                   tessera_error* error) {
  return (void)plan, (void)execution, (void)error, TESSERA_OK;
}
static void plan_destroy(tessera_backend_plan* plan) { free(plan); }

#if defined(TESSERA_SMALL_GEMM)
/* The first element of a small product becomes the number of times that functions were asked for; plans write nothing.
 * Of f64 it takes more than anybody gives it. */
static int asked = 0;
static void small_f32(const tessera_small_product* product) { *(float*)product->c = (float)asked; }
static void small_f64(const tessera_small_product* product) { *(double*)product->c = asked; }
static tessera_small_gemm_function small_gemm(tessera_dtype dtype, int64_t* extent, int64_t* multiply_adds) {
  static const int64_t extents[] = {8, INT64_MAX}, most[] = {100, INT64_MAX};
  static const tessera_small_gemm_function functions[] = {small_f32, small_f64};
  ++asked;
  *extent = extents[dtype - TESSERA_F32];
  *multiply_adds = most[dtype - TESSERA_F32];
  return functions[dtype - TESSERA_F32];
}
#endif

static tessera_backend table = {.struct_size = sizeof(tessera_backend),
                                .abi_version = TESSERA_BACKEND_ABI_VERSION,
                                .flags = TESSERA_BACKEND_ON_HOST,
                                .name = TESSERA_BACKEND_NAME,
                                .build_info = "C",
                                .available = available,
                                .device_count = device_count,
                                .device_info = device_info,
                                .algorithm_count = algorithm_count,
                                .algorithm_name = algorithm_name,
                                .algorithm_supports = algorithm_supports,
                                .plan_offers = plan_offers,
                                .context_create = context_create,
                                .context_destroy = context_destroy,
                                .synchronize = synchronize,
                                .buffer_allocate = buffer_allocate,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .plan_create = plan_create,
                                .plan_execute = plan_execute,
                                .plan_destroy = plan_destroy};

#if defined(TESSERA_WRONG_VERSION)
EXPORT const tessera_backend* tessera_backend_v2(void) { return &table; }
#elif defined(TESSERA_NO_ENTRY)
EXPORT const tessera_backend* something_else(void) { return &table; }
#else
EXPORT const tessera_backend* tessera_backend_v1(void) {
#if defined(TESSERA_OLD_TABLE)
  table.struct_size = offsetof(tessera_backend, native_stream);
  memset((char*)&table + table.struct_size, 0x5a, sizeof table - table.struct_size);  // nobody may look there
#elif defined(TESSERA_SHORT_TABLE)
  table.struct_size = offsetof(tessera_backend, native_stream) - sizeof(void (*)(void));  // lacks the last one
#elif defined(TESSERA_HOLE_IN_TABLE)
  table.plan_execute = NULL;
#elif defined(TESSERA_OTHER_NAME)
  table.name = "somebody";
#elif defined(TESSERA_TABLE_SAYS_V2)
  table.abi_version = 2;
#elif defined(TESSERA_OTHER_MINOR)
  table.abi_version += 1 << 16;
#elif defined(TESSERA_MINOR_UNKNOWN)
  table.abi_version = 1;
#elif defined(TESSERA_SMALL_GEMM)
  table.small_gemm = small_gemm;
#elif defined(TESSERA_NULL_TABLE)
  return NULL;
#endif
  return &table;
}
#endif
