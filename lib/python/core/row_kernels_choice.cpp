// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "row_kernels.hpp"

namespace tessera::python {

extern const RowKernels rows_base;
#ifdef TESSERA_ROWS_LEVELS
extern const RowKernels rows_v3, rows_v4;
#endif

const RowKernels& row_kernels() {
#ifdef TESSERA_ROWS_LEVELS
  static const RowKernels& best = []() -> const RowKernels& {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512cd");
    return v4 ? rows_v4 : v3 ? rows_v3 : rows_base;
  }();
  return best;
#else
  return rows_base;
#endif
}

}  // namespace tessera::python
