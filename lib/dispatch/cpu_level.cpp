// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/cpu_level.hpp"

#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tessera::core {
namespace {

constexpr std::uint64_t bits(std::initializer_list<int> positions) {
  std::uint64_t mask = 0;
  for (const int position : positions) mask |= std::uint64_t{1} << position;
  return mask;
}

constexpr bool has(std::uint64_t word, std::uint64_t mask) { return (word & mask) == mask; }

// Bit numbers from the Intel SDM, volume 2, CPUID; level contents from the x86-64 psABI, table 3.1.
constexpr auto kV2Leaf1 = bits({0 /*sse3*/, 9 /*ssse3*/, 13 /*cx16*/, 19 /*sse4.1*/, 20 /*sse4.2*/, 23 /*popcnt*/});
constexpr auto kV2Extended = bits({0 /*lahf*/});
constexpr auto kV3Leaf1 = bits({12 /*fma*/, 22 /*movbe*/, 27 /*osxsave*/, 28 /*avx*/, 29 /*f16c*/});
constexpr auto kV3Leaf7 = bits({3 /*bmi1*/, 5 /*avx2*/, 8 /*bmi2*/});
constexpr auto kV3Extended = bits({5 /*lzcnt*/});
constexpr auto kV3State = bits({1 /*xmm*/, 2 /*ymm*/});
constexpr auto kV4Leaf7 = bits({16 /*avx512f*/, 17 /*dq*/, 28 /*cd*/, 30 /*bw*/, 31 /*vl*/});
constexpr auto kV4State = bits({5 /*opmask*/, 6 /*zmm 0-15*/, 7 /*zmm 16-31*/});

}  // namespace

int x86_level(const CpuidWords& w) {
  if (!has(w.leaf1_ecx, kV2Leaf1) || !has(w.extended1_ecx, kV2Extended)) return 1;
  if (!has(w.leaf1_ecx, kV3Leaf1) || !has(w.leaf7_ebx, kV3Leaf7) || !has(w.extended1_ecx, kV3Extended) ||
      !has(w.xcr0, kV3State))
    return 2;
  return has(w.leaf7_ebx, kV4Leaf7) && has(w.xcr0, kV4State) ? 4 : 3;
}

int processor_level() {
#if defined(__x86_64__)
  CpuidWords w;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) w.leaf1_ecx = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) w.leaf7_ebx = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) w.extended1_ecx = c;
  if (has(w.leaf1_ecx, bits({27}))) {  // xgetbv exists only with osxsave
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    w.xcr0 = (std::uint64_t{d} << 32) | a;
  }
  return x86_level(w);
#else
  return 0;
#endif
}

int variant_level(std::string_view variant) { return variant.empty() ? 0 : variant.back() - '0'; }

}  // namespace tessera::core
