/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The C interface from a C99 program: a product and a stencil on the emulated device, and an error. */

#include <tessera/tessera.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what, const tessera_error* error) {
  if (condition) return;
  ++failures;
  printf("FAILED: %s: %s\n", what, error->message);
}

static void multiply(tessera_context* context, tessera_error* error) {
  const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  float c[4] = {0, 0, 0, 0};
  tessera_gemm_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.op = TESSERA_OP_GEMM;
  desc.dtype = TESSERA_F32;
  desc.m = desc.n = desc.k = 2;
  desc.batch = 1;
  desc.lda = desc.ldb = desc.ldc = desc.stride_a = desc.stride_b = desc.stride_c = TESSERA_PACKED;
  tessera_plan* plan = NULL;
  expect(tessera_plan_create(context, (const tessera_desc*)&desc, NULL, &plan, error) == TESSERA_OK, "plan", error);
  tessera_operand operands[3] = {{(void*)a, TESSERA_F32, TESSERA_ROLE_A},
                                 {(void*)b, TESSERA_F32, TESSERA_ROLE_B},
                                 {c, TESSERA_F32, TESSERA_ROLE_C}};
  tessera_scalar scalars[2] = {{TESSERA_F32, 0, 1.0, 0.0}, {TESSERA_F32, 0, 0.0, 0.0}};
  tessera_execution e = {sizeof e, operands, sizeof operands[0], 3, scalars, sizeof scalars[0], 2, NULL, 0, 0};
  expect(tessera_plan_execute(plan, &e, error) == TESSERA_OK, "execute", error);
  expect(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50, "the product", error);
  tessera_plan_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  expect(tessera_get_plan_info(plan, &info, error) == TESSERA_OK, "plan info", error);
  expect(strcmp(info.backend, "fake") == 0, "the backend's name", error);
  tessera_plan_destroy(plan);
}

static void multiply_at_once(tessera_context* context, tessera_error* error) {
  const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  double c[4] = {1, 1, 1, 1};
  const tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, 2, 2, 2);
  int i;
  for (i = 0; i < 2; ++i)
    expect(tessera_gemm(context, &desc, 1.0, a, b, 1.0, c, error) == TESSERA_OK, "one call", error);
  expect(c[0] == 39 && c[1] == 45 && c[2] == 87 && c[3] == 101, "the sum of two products", error);
  tessera_plan_cache_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  expect(tessera_get_plan_cache_info(&info, error) == TESSERA_OK, "cache info", error);
  expect(info.idle == 1 && info.lent == 0 && info.found == 1 && info.made == 1, "one plan for both", error);
}

static void difference(tessera_context* context, tessera_error* error) {
  const double in[5] = {1, 4, 9, 16, 25};
  double out[5] = {0, 0, 0, 0, 0};
  const tessera_tap taps[2] = {{{-1, 0, 0}, -1.0}, {{0, 0, 0}, 1.0}};
  const int64_t extents[1] = {5};
  tessera_stencil_desc desc = tessera_packed_stencil(TESSERA_F64, 1, extents, taps, 2);
  desc.boundary[0][0] = desc.boundary[0][1] = TESSERA_BOUNDARY_PERIODIC;
  tessera_plan* plan = NULL;
  expect(tessera_plan_create(context, (const tessera_desc*)&desc, NULL, &plan, error) == TESSERA_OK, "plan", error);
  tessera_operand operands[2] = {{(void*)in, TESSERA_F64, TESSERA_ROLE_IN}, {out, TESSERA_F64, TESSERA_ROLE_OUT}};
  tessera_execution e;
  memset(&e, 0, sizeof e);
  e.struct_size = sizeof e;
  e.operands = operands;
  e.operand_size = sizeof operands[0];
  e.operand_count = 2;
  expect(tessera_plan_execute(plan, &e, error) == TESSERA_OK, "execute", error);
  expect(out[0] == -24 && out[1] == 3 && out[4] == 9, "the differences", error);
  tessera_plan_destroy(plan);
  out[0] = 0;
  expect(tessera_stencil(context, &desc, in, out, error) == TESSERA_OK, "one call", error);
  expect(out[0] == -24, "the same at once", error);
  desc = tessera_packed_stencil(TESSERA_F64, 1, extents, taps, 2);
  expect(tessera_stencil(context, &desc, in, out, error) == TESSERA_OK, "a descriptor as it is made", error);
  expect(out[0] == 1 && out[1] == 3 && out[4] == 9, "fixed sides, one step", error);
}

int main(void) {
  char message[256] = "";
  tessera_error error = {sizeof error, TESSERA_OK, 0, message, sizeof message};
  tessera_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.backend = "fake";
  tessera_context* context = NULL;
  if (tessera_context_create(&options, &context, &error) != TESSERA_OK) {
    printf("FAILED: context: %s\n", message);
    return 1;
  }
  multiply(context, &error);
  multiply_at_once(context, &error);
  difference(context, &error);
  tessera_context_destroy(context);
  options.backend = "nosuch";
  expect(tessera_context_create(&options, &context, &error) == TESSERA_BACKEND_UNAVAILABLE, "an unknown backend",
         &error);
  expect(strstr(message, "nosuch") != NULL, "the message names it", &error);
  printf("%s: %d failures\n", tessera_version(), failures);
  return failures != 0;
}
