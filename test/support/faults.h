/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * What a test and the shim faults.c share: a block of memory, mapped from the file that TESSERA_FAULTS names. A test
 * sets it before it starts a program with the shim in LD_PRELOAD, or, where it is preloaded itself, around the calls
 * that it looks at; afterwards it reads the counts. Counts survive any end of the program.
 */
#pragma once

#include <stdint.h>

/** What happens to the call that is hit. */
enum tessera_fault_mode {
  TESSERA_FAULT_ONCE,     /**< it fails */
  TESSERA_FAULT_FOR_GOOD, /**< it and every later one fail */
  TESSERA_FAULT_SHORT,    /**< it and every later read or write takes half of the bytes, or is interrupted in turn */
  TESSERA_FAULT_KILL      /**< SIGKILL, before it does anything */
};

struct tessera_faults {
  /** A family ("alloc", "file", "dlopen", "thread"), or one function of it by its name ("fsync"). */
  char what[32];
  uint64_t at; /**< the call that is hit; 1 is the first, 0 is none */
  int32_t mode;
  int32_t no_tmpfile; /**< files without a name are not supported, as on many file systems */
  uint64_t calls;     /**< of what was named, counted from when `at` was set */
  uint64_t hits;
};
