// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The processor that runs the tests, without the library's help.
#pragma once

namespace tessera::test {

/// Its level, 1 to 4 for x86-64 to x86-64-v4; 0 on other processors. The compiler's own question, feature by feature:
/// clang 16 does not know the levels' names.
inline int level_by_compiler() {
#if defined(__x86_64__)
  const bool has_v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool has_v3 = has_v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return has_v4 ? 4 : has_v3 ? 3 : has_v2 ? 2 : 1;
#else
  return 0;
#endif
}

}  // namespace tessera::test
