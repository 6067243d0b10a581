// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product instruction of a warpgroup: 64 rows by 8 to 256 columns and 32 bytes of k, of 16 bits or
/// tf32, sums in f32.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cuda {

__device__ __forceinline__ void products_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most the last kGroups groups are under way.
template <int kGroups>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

/// The larger of both; NaN where one is.
__device__ __forceinline__ float larger(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

/// A move that the compiler does not do for all targets of a jump.
__device__ __forceinline__ void move(float& to, float from) { asm volatile("mov.b32 %0, %1;" : "=f"(to) : "f"(from)); }

// clang-format off
#define TESSERA_SUMS4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TESSERA_SUMS_4 TESSERA_SUMS4(0)
#define TESSERA_SUMS_8 TESSERA_SUMS_4, TESSERA_SUMS4(4)
#define TESSERA_SUMS_12 TESSERA_SUMS_8, TESSERA_SUMS4(8)
#define TESSERA_SUMS_16 TESSERA_SUMS_12, TESSERA_SUMS4(12)
#define TESSERA_SUMS_20 TESSERA_SUMS_16, TESSERA_SUMS4(16)
#define TESSERA_SUMS_24 TESSERA_SUMS_20, TESSERA_SUMS4(20)
#define TESSERA_SUMS_28 TESSERA_SUMS_24, TESSERA_SUMS4(24)
#define TESSERA_SUMS_32 TESSERA_SUMS_28, TESSERA_SUMS4(28)
#define TESSERA_SUMS_36 TESSERA_SUMS_32, TESSERA_SUMS4(32)
#define TESSERA_SUMS_40 TESSERA_SUMS_36, TESSERA_SUMS4(36)
#define TESSERA_SUMS_44 TESSERA_SUMS_40, TESSERA_SUMS4(40)
#define TESSERA_SUMS_48 TESSERA_SUMS_44, TESSERA_SUMS4(44)
#define TESSERA_SUMS_52 TESSERA_SUMS_48, TESSERA_SUMS4(48)
#define TESSERA_SUMS_56 TESSERA_SUMS_52, TESSERA_SUMS4(52)
#define TESSERA_SUMS_60 TESSERA_SUMS_56, TESSERA_SUMS4(56)
#define TESSERA_SUMS_64 TESSERA_SUMS_60, TESSERA_SUMS4(60)
#define TESSERA_SUMS_68 TESSERA_SUMS_64, TESSERA_SUMS4(64)
#define TESSERA_SUMS_72 TESSERA_SUMS_68, TESSERA_SUMS4(68)
#define TESSERA_SUMS_76 TESSERA_SUMS_72, TESSERA_SUMS4(72)
#define TESSERA_SUMS_80 TESSERA_SUMS_76, TESSERA_SUMS4(76)
#define TESSERA_SUMS_84 TESSERA_SUMS_80, TESSERA_SUMS4(80)
#define TESSERA_SUMS_88 TESSERA_SUMS_84, TESSERA_SUMS4(84)
#define TESSERA_SUMS_92 TESSERA_SUMS_88, TESSERA_SUMS4(88)
#define TESSERA_SUMS_96 TESSERA_SUMS_92, TESSERA_SUMS4(92)
#define TESSERA_SUMS_100 TESSERA_SUMS_96, TESSERA_SUMS4(96)
#define TESSERA_SUMS_104 TESSERA_SUMS_100, TESSERA_SUMS4(100)
#define TESSERA_SUMS_108 TESSERA_SUMS_104, TESSERA_SUMS4(104)
#define TESSERA_SUMS_112 TESSERA_SUMS_108, TESSERA_SUMS4(108)
#define TESSERA_SUMS_116 TESSERA_SUMS_112, TESSERA_SUMS4(112)
#define TESSERA_SUMS_120 TESSERA_SUMS_116, TESSERA_SUMS4(116)
#define TESSERA_SUMS_124 TESSERA_SUMS_120, TESSERA_SUMS4(120)
#define TESSERA_SUMS_128 TESSERA_SUMS_124, TESSERA_SUMS4(124)
#define TESSERA_LIST_4 "%0, %1, %2, %3"
#define TESSERA_LIST_8 TESSERA_LIST_4 ", %4, %5, %6, %7"
#define TESSERA_LIST_12 TESSERA_LIST_8 ", %8, %9, %10, %11"
#define TESSERA_LIST_16 TESSERA_LIST_12 ", %12, %13, %14, %15"
#define TESSERA_LIST_20 TESSERA_LIST_16 ", %16, %17, %18, %19"
#define TESSERA_LIST_24 TESSERA_LIST_20 ", %20, %21, %22, %23"
#define TESSERA_LIST_28 TESSERA_LIST_24 ", %24, %25, %26, %27"
#define TESSERA_LIST_32 TESSERA_LIST_28 ", %28, %29, %30, %31"
#define TESSERA_LIST_36 TESSERA_LIST_32 ", %32, %33, %34, %35"
#define TESSERA_LIST_40 TESSERA_LIST_36 ", %36, %37, %38, %39"
#define TESSERA_LIST_44 TESSERA_LIST_40 ", %40, %41, %42, %43"
#define TESSERA_LIST_48 TESSERA_LIST_44 ", %44, %45, %46, %47"
#define TESSERA_LIST_52 TESSERA_LIST_48 ", %48, %49, %50, %51"
#define TESSERA_LIST_56 TESSERA_LIST_52 ", %52, %53, %54, %55"
#define TESSERA_LIST_60 TESSERA_LIST_56 ", %56, %57, %58, %59"
#define TESSERA_LIST_64 TESSERA_LIST_60 ", %60, %61, %62, %63"
#define TESSERA_LIST_68 TESSERA_LIST_64 ", %64, %65, %66, %67"
#define TESSERA_LIST_72 TESSERA_LIST_68 ", %68, %69, %70, %71"
#define TESSERA_LIST_76 TESSERA_LIST_72 ", %72, %73, %74, %75"
#define TESSERA_LIST_80 TESSERA_LIST_76 ", %76, %77, %78, %79"
#define TESSERA_LIST_84 TESSERA_LIST_80 ", %80, %81, %82, %83"
#define TESSERA_LIST_88 TESSERA_LIST_84 ", %84, %85, %86, %87"
#define TESSERA_LIST_92 TESSERA_LIST_88 ", %88, %89, %90, %91"
#define TESSERA_LIST_96 TESSERA_LIST_92 ", %92, %93, %94, %95"
#define TESSERA_LIST_100 TESSERA_LIST_96 ", %96, %97, %98, %99"
#define TESSERA_LIST_104 TESSERA_LIST_100 ", %100, %101, %102, %103"
#define TESSERA_LIST_108 TESSERA_LIST_104 ", %104, %105, %106, %107"
#define TESSERA_LIST_112 TESSERA_LIST_108 ", %108, %109, %110, %111"
#define TESSERA_LIST_116 TESSERA_LIST_112 ", %112, %113, %114, %115"
#define TESSERA_LIST_120 TESSERA_LIST_116 ", %116, %117, %118, %119"
#define TESSERA_LIST_124 TESSERA_LIST_120 ", %120, %121, %122, %123"
#define TESSERA_LIST_128 TESSERA_LIST_124 ", %124, %125, %126, %127"
/// The instruction of so many columns, half as many sums a thread, on operands whose numbers are `a`, `b` and what
/// follows them, and `adds`.
#define TESSERA_PRODUCT(columns, sums, types, adds, operands, ...) \
  if constexpr (kColumns == columns) \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " adds ", 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" #columns types " {" TESSERA_LIST_##sums "}, " operands ";\n}" \
                 : TESSERA_SUMS_##sums : __VA_ARGS__)
/// Of 16 bits, both operands in shared memory.
#define TESSERA_NARROW_PRODUCT(columns, sums, type, number_a, number_b, major_a, major_b, number_adds) \
  TESSERA_PRODUCT(columns, sums, "k16.f32." type "." type, number_adds, \
                  number_a ", " number_b ", p, 1, 1, " major_a ", " major_b, \
                  "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
#define TESSERA_NARROW_PRODUCTS(type) \
  TESSERA_NARROW_PRODUCT(8, 4, type, "%4", "%5", "%6", "%7", "%8"); \
  TESSERA_NARROW_PRODUCT(16, 8, type, "%8", "%9", "%10", "%11", "%12"); \
  TESSERA_NARROW_PRODUCT(24, 12, type, "%12", "%13", "%14", "%15", "%16"); \
  TESSERA_NARROW_PRODUCT(32, 16, type, "%16", "%17", "%18", "%19", "%20"); \
  TESSERA_NARROW_PRODUCT(40, 20, type, "%20", "%21", "%22", "%23", "%24"); \
  TESSERA_NARROW_PRODUCT(48, 24, type, "%24", "%25", "%26", "%27", "%28"); \
  TESSERA_NARROW_PRODUCT(56, 28, type, "%28", "%29", "%30", "%31", "%32"); \
  TESSERA_NARROW_PRODUCT(64, 32, type, "%32", "%33", "%34", "%35", "%36"); \
  TESSERA_NARROW_PRODUCT(72, 36, type, "%36", "%37", "%38", "%39", "%40"); \
  TESSERA_NARROW_PRODUCT(80, 40, type, "%40", "%41", "%42", "%43", "%44"); \
  TESSERA_NARROW_PRODUCT(88, 44, type, "%44", "%45", "%46", "%47", "%48"); \
  TESSERA_NARROW_PRODUCT(96, 48, type, "%48", "%49", "%50", "%51", "%52"); \
  TESSERA_NARROW_PRODUCT(104, 52, type, "%52", "%53", "%54", "%55", "%56"); \
  TESSERA_NARROW_PRODUCT(112, 56, type, "%56", "%57", "%58", "%59", "%60"); \
  TESSERA_NARROW_PRODUCT(120, 60, type, "%60", "%61", "%62", "%63", "%64"); \
  TESSERA_NARROW_PRODUCT(128, 64, type, "%64", "%65", "%66", "%67", "%68"); \
  TESSERA_NARROW_PRODUCT(136, 68, type, "%68", "%69", "%70", "%71", "%72"); \
  TESSERA_NARROW_PRODUCT(144, 72, type, "%72", "%73", "%74", "%75", "%76"); \
  TESSERA_NARROW_PRODUCT(152, 76, type, "%76", "%77", "%78", "%79", "%80"); \
  TESSERA_NARROW_PRODUCT(160, 80, type, "%80", "%81", "%82", "%83", "%84"); \
  TESSERA_NARROW_PRODUCT(168, 84, type, "%84", "%85", "%86", "%87", "%88"); \
  TESSERA_NARROW_PRODUCT(176, 88, type, "%88", "%89", "%90", "%91", "%92"); \
  TESSERA_NARROW_PRODUCT(184, 92, type, "%92", "%93", "%94", "%95", "%96"); \
  TESSERA_NARROW_PRODUCT(192, 96, type, "%96", "%97", "%98", "%99", "%100"); \
  TESSERA_NARROW_PRODUCT(200, 100, type, "%100", "%101", "%102", "%103", "%104"); \
  TESSERA_NARROW_PRODUCT(208, 104, type, "%104", "%105", "%106", "%107", "%108"); \
  TESSERA_NARROW_PRODUCT(216, 108, type, "%108", "%109", "%110", "%111", "%112"); \
  TESSERA_NARROW_PRODUCT(224, 112, type, "%112", "%113", "%114", "%115", "%116"); \
  TESSERA_NARROW_PRODUCT(232, 116, type, "%116", "%117", "%118", "%119", "%120"); \
  TESSERA_NARROW_PRODUCT(240, 120, type, "%120", "%121", "%122", "%123", "%124"); \
  TESSERA_NARROW_PRODUCT(248, 124, type, "%124", "%125", "%126", "%127", "%128"); \
  TESSERA_NARROW_PRODUCT(256, 128, type, "%128", "%129", "%130", "%131", "%132")
// clang-format on

/// d[4 i + e], for i < kColumns / 8: of row lane / 4 + 8 (e / 2) of the warp's 16 and column 8 i + 2 (lane % 4) + e
/// % 2. kExtentMajor: the operand is not K-major. `adds`: to what d was; else what that was does not matter.
template <int kColumns, int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(bfloat16, float (&d)[kCount], std::uint64_t a, std::uint64_t b,
                                             bool adds) {
  TESSERA_NARROW_PRODUCTS("bf16");
}
template <int kColumns, int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(float16, float (&d)[kCount], std::uint64_t a, std::uint64_t b, bool adds) {
  TESSERA_NARROW_PRODUCTS("f16");
}
/// In tf32, whose operands are K-major.
template <int kColumns, int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(float, float (&d)[kCount], std::uint64_t a, std::uint64_t b, bool adds) {
  static_assert(kExtentMajorA == 0 && kExtentMajorB == 0);
  // clang-format off
#define TESSERA_TF32_PRODUCT(columns, sums, number_a, number_b, number_adds) \
  TESSERA_PRODUCT(columns, sums, "k8.f32.tf32.tf32", number_adds, number_a ", " number_b ", p, 1, 1", \
                  "l"(a), "l"(b), "r"(int(adds)))
  TESSERA_TF32_PRODUCT(64, 32, "%32", "%33", "%34");
  TESSERA_TF32_PRODUCT(128, 64, "%64", "%65", "%66");
  TESSERA_TF32_PRODUCT(192, 96, "%96", "%97", "%98");
  TESSERA_TF32_PRODUCT(256, 128, "%128", "%129", "%130");
  // clang-format on
}
/// The same with a thread's part of A from registers: of row lane / 4 of the warp's 16, of that plus 8, and the same of
/// the next four of k; the thread's first of k is lane % 4.
template <int kColumns, int kCount>
__device__ __forceinline__ void add_products(float (&d)[kCount], const std::uint32_t (&a)[4], std::uint64_t b,
                                             bool adds) {
  // clang-format off
#define TESSERA_FRAGMENT_PRODUCT(columns, sums, fragments, number_b, number_adds) \
  TESSERA_PRODUCT(columns, sums, "k8.f32.tf32.tf32", number_adds, "{" fragments "}, " number_b ", p, 1, 1", \
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)))
  TESSERA_FRAGMENT_PRODUCT(64, 32, "%32, %33, %34, %35", "%36", "%37");
  TESSERA_FRAGMENT_PRODUCT(128, 64, "%64, %65, %66, %67", "%68", "%69");
  TESSERA_FRAGMENT_PRODUCT(192, 96, "%96, %97, %98, %99", "%100", "%101");
  TESSERA_FRAGMENT_PRODUCT(256, 128, "%128, %129, %130, %131", "%132", "%133");
  // clang-format on
}

}  // namespace tessera::cuda
