// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product instruction of a warpgroup: 64 rows by 64, 128, 192 or 256 columns, 16 of k, of 16 bits, sums in f32.
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
#define TESSERA_PRODUCT_64(type)                             \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %36, 0;\n" \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 " \
    "}, %32, %33, adds, 1, 1, %34, %35;\n}" \
    : TESSERA_SUMS32(0) : "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
#define TESSERA_PRODUCT_128(type)                             \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %68, 0;\n" \
    "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 " \
    "}, %64, %65, adds, 1, 1, %66, %67;\n}" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32) : "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
#define TESSERA_PRODUCT_192(type)                             \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %100, 0;\n" \
    "wgmma.mma_async.sync.aligned.m64n192k16.f32." type "." type " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95 " \
    "}, %96, %97, adds, 1, 1, %98, %99;\n}" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32), TESSERA_SUMS32(64) \
    : "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
#define TESSERA_PRODUCT_256(type)                             \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %132, 0;\n" \
    "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127 " \
    "}, %128, %129, adds, 1, 1, %130, %131;\n}" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32), TESSERA_SUMS32(64), TESSERA_SUMS32(96) \
    : "l"(a), "l"(b), "n"(kExtentMajorA), "n"(kExtentMajorB), "r"(int(adds)))
// clang-format on

/// d[4 i + e], for i < kCount / 4: of row lane / 4 + 8 (e / 2) of the warp's 16 and column 8 i + 2 (lane % 4) + e % 2.
/// kExtentMajor: the operand is not K-major. `adds`: to what d was; else what that was does not matter.
template <int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(bfloat16, float (&d)[kCount], std::uint64_t a, std::uint64_t b,
                                             bool adds) {
  static_assert(kCount == 32 || kCount == 64 || kCount == 96 || kCount == 128);
  if constexpr (kCount == 32)
    TESSERA_PRODUCT_64("bf16");
  else if constexpr (kCount == 64)
    TESSERA_PRODUCT_128("bf16");
  else if constexpr (kCount == 96)
    TESSERA_PRODUCT_192("bf16");
  else
    TESSERA_PRODUCT_256("bf16");
}
template <int kExtentMajorA, int kExtentMajorB, int kCount>
__device__ __forceinline__ void add_products(float16, float (&d)[kCount], std::uint64_t a, std::uint64_t b, bool adds) {
  static_assert(kCount == 32 || kCount == 64 || kCount == 96 || kCount == 128);
  if constexpr (kCount == 32)
    TESSERA_PRODUCT_64("f16");
  else if constexpr (kCount == 64)
    TESSERA_PRODUCT_128("f16");
  else if constexpr (kCount == 96)
    TESSERA_PRODUCT_192("f16");
  else
    TESSERA_PRODUCT_256("f16");
}

#undef TESSERA_SUMS8
#undef TESSERA_SUMS32
#undef TESSERA_PRODUCT_64
#undef TESSERA_PRODUCT_128
#undef TESSERA_PRODUCT_192
#undef TESSERA_PRODUCT_256

}  // namespace tessera::cuda
