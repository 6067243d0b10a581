// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product instruction of a warpgroup: 64 rows by 64, 128, 192 or 256 columns and 32 bytes of k, of 16 bits or
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
#define TESSERA_SUMS8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                         "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TESSERA_SUMS32(i) TESSERA_SUMS8(i), TESSERA_SUMS8(i + 8), TESSERA_SUMS8(i + 16), TESSERA_SUMS8(i + 24)
#define TESSERA_LIST_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TESSERA_LIST_64 TESSERA_LIST_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TESSERA_LIST_96 TESSERA_LIST_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TESSERA_LIST_128 TESSERA_LIST_96 \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
/// The instruction for kCount sums a thread, on operands whose numbers are `a`, `b` and what follows them, and `adds`.
#define TESSERA_PRODUCT(count, columns, types, adds, operands, ...) \
  if constexpr (kCount == count) \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " adds ", 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" #columns types " {" TESSERA_LIST_##count "}, " operands ";\n}" \
                 : TESSERA_SUMS_##count : __VA_ARGS__)
#define TESSERA_SUMS_32 TESSERA_SUMS32(0)
#define TESSERA_SUMS_64 TESSERA_SUMS_32, TESSERA_SUMS32(32)
#define TESSERA_SUMS_96 TESSERA_SUMS_64, TESSERA_SUMS32(64)
#define TESSERA_SUMS_128 TESSERA_SUMS_96, TESSERA_SUMS32(96)
/// Of 16 bits, both operands in shared memory.
#define TESSERA_NARROW_PRODUCTS(type) \
  static_assert(kCount == 32 || kCount == 64 || kCount == 96 || kCount == 128); \
  TESSERA_PRODUCT(32, 64, "k16.f32." type "." type, "%36", "%32, %33, p, 1, 1, %34, %35", \
                  "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds))); \
  TESSERA_PRODUCT(64, 128, "k16.f32." type "." type, "%68", "%64, %65, p, 1, 1, %66, %67", \
                  "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds))); \
  TESSERA_PRODUCT(96, 192, "k16.f32." type "." type, "%100", "%96, %97, p, 1, 1, %98, %99", \
                  "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds))); \
  TESSERA_PRODUCT(128, 256, "k16.f32." type "." type, "%132", "%128, %129, p, 1, 1, %130, %131", \
                  "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
// clang-format on

/// d[4 i + e], for i < kCount / 4: of row lane / 4 + 8 (e / 2) of the warp's 16 and column 8 i + 2 (lane % 4) + e % 2.
/// kExtentMajor: the operand is not K-major. `adds`: to what d was; else what that was does not matter.
template <int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(bfloat16, float (&d)[kCount], std::uint64_t a, std::uint64_t b,
                                             bool adds) {
  TESSERA_NARROW_PRODUCTS("bf16");
}
template <int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(float16, float (&d)[kCount], std::uint64_t a, std::uint64_t b, bool adds) {
  TESSERA_NARROW_PRODUCTS("f16");
}
/// In tf32, whose operands are K-major.
template <int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(float, float (&d)[kCount], std::uint64_t a, std::uint64_t b, bool adds) {
  static_assert(kExtentMajorA == 0 && kExtentMajorB == 0);
  // clang-format off
  TESSERA_PRODUCT(32, 64, "k8.f32.tf32.tf32", "%34", "%32, %33, p, 1, 1",
                  "l"(a), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(64, 128, "k8.f32.tf32.tf32", "%66", "%64, %65, p, 1, 1",
                  "l"(a), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(96, 192, "k8.f32.tf32.tf32", "%98", "%96, %97, p, 1, 1",
                  "l"(a), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(128, 256, "k8.f32.tf32.tf32", "%130", "%128, %129, p, 1, 1",
                  "l"(a), "l"(b), "r"(int(adds)));
  // clang-format on
}
/// The same with a thread's part of A from registers: of row lane / 4 of the warp's 16, of that plus 8, and the same of
/// the next four of k; the thread's first of k is lane % 4.
template <int kCount>
__device__ __forceinline__ void add_products(float (&d)[kCount], const std::uint32_t (&a)[4], std::uint64_t b,
                                             bool adds) {
  // clang-format off
  TESSERA_PRODUCT(32, 64, "k8.f32.tf32.tf32", "%37",
                  "{%32, %33, %34, %35}, %36, p, 1, 1",
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(64, 128, "k8.f32.tf32.tf32", "%69",
                  "{%64, %65, %66, %67}, %68, p, 1, 1",
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(96, 192, "k8.f32.tf32.tf32", "%101",
                  "{%96, %97, %98, %99}, %100, p, 1, 1",
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)));
  TESSERA_PRODUCT(128, 256, "k8.f32.tf32.tf32", "%133",
                  "{%128, %129, %130, %131}, %132, p, 1, 1",
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)));
  // clang-format on
}

#undef TESSERA_SUMS8
#undef TESSERA_SUMS32
#undef TESSERA_SUMS_32
#undef TESSERA_SUMS_64
#undef TESSERA_SUMS_96
#undef TESSERA_SUMS_128
#undef TESSERA_LIST_32
#undef TESSERA_LIST_64
#undef TESSERA_LIST_96
#undef TESSERA_LIST_128
#undef TESSERA_PRODUCT
#undef TESSERA_NARROW_PRODUCTS

}  // namespace tessera::cuda
