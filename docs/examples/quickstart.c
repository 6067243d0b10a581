/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The README's product in C99. */

#include <tessera/tessera.h>

#include <stdio.h>

int main(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}; /* 2 x 3, row by row */
  const float b[6] = {1, 0, 0, 1, 1, 1}; /* 3 x 2 */
  float c[4] = {0};

  char message[1024];
  tessera_error error = {.struct_size = sizeof error, .message = message, .message_capacity = sizeof message};
  const tessera_gemm_desc product = {.struct_size = sizeof product,
                                     .op = TESSERA_OP_GEMM,
                                     .dtype = TESSERA_F32,
                                     .m = 2,
                                     .n = 2,
                                     .k = 3,
                                     .lda = TESSERA_PACKED,
                                     .ldb = TESSERA_PACKED,
                                     .ldc = TESSERA_PACKED,
                                     .batch = 1};
  const tessera_operand operands[3] = {{(void*)a, TESSERA_F32, 0}, {(void*)b, TESSERA_F32, 0}, {c, TESSERA_F32, 0}};
  const tessera_scalar alpha_beta[2] = {{.dtype = TESSERA_F32, .real = 1}, {.dtype = TESSERA_F32, .real = 0}};
  const tessera_execution execution = {.struct_size = sizeof execution,
                                       .operands = operands,
                                       .operand_size = sizeof operands[0],
                                       .operand_count = 3,
                                       .scalars = alpha_beta,
                                       .scalar_size = sizeof alpha_beta[0],
                                       .scalar_count = 2};

  tessera_plan* plan = NULL;
  if (tessera_plan_create(NULL, (const tessera_desc*)&product, NULL, &plan, &error) != TESSERA_OK ||
      tessera_plan_execute(plan, &execution, &error) != TESSERA_OK) {
    fprintf(stderr, "%s\n", message);
    tessera_plan_destroy(plan);
    return 1;
  }
  tessera_plan_info info = {.struct_size = sizeof info};
  if (tessera_get_plan_info(plan, &info, NULL) == TESSERA_OK) printf("%s\n", info.description);
  printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
  tessera_plan_destroy(plan);
  return 0;
}
