/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A group of two ranks in C. */

#include <tessera/distributed.h>

int main(void) {
  tessera_comm* comms[2] = {0, 0};
  if (tessera_comm_threads(2, comms, 0) != TESSERA_OK) return 1;
  const int right = tessera_comm_size(comms[0]) == 2 && tessera_comm_rank(comms[1]) == 1;
  tessera_comm_destroy(comms[0]);
  tessera_comm_destroy(comms[1]);
  return right ? 0 : 1;
}
