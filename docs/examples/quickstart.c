/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The README's program in C99, and a stencil. */

#include <tessera/tessera.h>

#include <stdio.h>

/* The plan behind a call, to keep: made once, executed often. */
static tessera_status describe(const tessera_gemm_desc* product, tessera_error* error) {
  tessera_plan* plan = NULL;
  tessera_plan_info info = {.struct_size = sizeof info};
  tessera_status status = tessera_plan_create(NULL, (const tessera_desc*)product, NULL, &plan, error);
  if (status == TESSERA_OK) status = tessera_get_plan_info(plan, &info, error);
  if (status == TESSERA_OK) printf("%s\n", info.description);
  tessera_plan_destroy(plan);
  return status;
}

int main(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}; /* 2 x 3, row by row */
  const float b[6] = {1, 0, 0, 1, 1, 1}; /* 3 x 2 */
  float c[4];
  char message[1024] = "";
  tessera_error error = {.struct_size = sizeof error, .message = message, .message_capacity = sizeof message};

  const tessera_gemm_desc product = tessera_packed_gemm(TESSERA_F32, 2, 2, 3);
  if (tessera_gemm(NULL, &product, 1.0, a, b, 0.0, c, &error) != TESSERA_OK || /* C <- 1 A B + 0 C */
      describe(&product, &error) != TESSERA_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);

  const double in[5] = {1, 4, 9, 16, 25};
  double out[5];
  const int64_t extents[1] = {5};
  const tessera_tap taps[2] = {{{-1}, -1.0}, {{0}, 1.0}};
  tessera_stencil_desc difference = tessera_packed_stencil(TESSERA_F64, 1, extents, taps, 2);
  difference.boundary[0][0] = TESSERA_BOUNDARY_NEAREST; /* of axis 0, below */
  if (tessera_stencil(NULL, &difference, in, out, &error) != TESSERA_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  printf("%g %g %g %g %g\n", out[0], out[1], out[2], out[3], out[4]);
  return 0;
}
