// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The product instruction of a warpgroup for parts of f32: 64 rows by 64 to 256 columns, 32 bytes of k, sums in f32.
#pragma once

#include "warpgroup_f32_parts.cuh"

#include <cstdint>

namespace tessera::cuda {

/// What a product instruction is told of an operand at a shared address whose pieces of 16 bytes lie in the order
/// along k, lines: without swizzle, eight lines are 128 bytes, and the next piece of a line is so many bytes away.
__device__ __forceinline__ std::uint64_t parts_descriptor(std::uint32_t address, int next_piece) {
  return std::uint64_t(address >> 4 & 0x3fff) | std::uint64_t(next_piece >> 4) << 16 | std::uint64_t(128 >> 4) << 32;
}

// clang-format off
#define TESSERA_SUMS8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                         "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TESSERA_SUMS32(i) TESSERA_SUMS8(i), TESSERA_SUMS8(i + 8), TESSERA_SUMS8(i + 16), TESSERA_SUMS8(i + 24)
#define TESSERA_PRODUCT_64(types, majors) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64" types " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 " \
    "}, %32, %33, %34, 1, 1" majors ";" \
    : TESSERA_SUMS32(0) \
    : "l"(a), "l"(b), "n"(int(kAdds)))
#define TESSERA_PRODUCT_128(types, majors) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128" types " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 " \
    "}, %64, %65, %66, 1, 1" majors ";" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32) \
    : "l"(a), "l"(b), "n"(int(kAdds)))
#define TESSERA_PRODUCT_192(types, majors) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n192" types " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95 " \
    "}, %96, %97, %98, 1, 1" majors ";" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32), TESSERA_SUMS32(64) \
    : "l"(a), "l"(b), "n"(int(kAdds)))
#define TESSERA_PRODUCT_256(types, majors) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256" types " {" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127 " \
    "}, %128, %129, %130, 1, 1" majors ";" \
    : TESSERA_SUMS32(0), TESSERA_SUMS32(32), TESSERA_SUMS32(64), TESSERA_SUMS32(96) \
    : "l"(a), "l"(b), "n"(int(kAdds)))
#define TESSERA_PRODUCT(types, majors) \
  static_assert(kCount == 32 || kCount == 64 || kCount == 96 || kCount == 128); \
  if constexpr (kCount == 32) TESSERA_PRODUCT_64(types, majors); \
  if constexpr (kCount == 64) TESSERA_PRODUCT_128(types, majors); \
  if constexpr (kCount == 96) TESSERA_PRODUCT_192(types, majors); \
  if constexpr (kCount == 128) TESSERA_PRODUCT_256(types, majors)
// clang-format on

/// d[4 i + e] as in warpgroup_product.cuh. Without kAdds, d is not read.
template <bool kAdds, int kCount>
__device__ __forceinline__ void add_part_products(Bf16x6, float (&d)[kCount], std::uint64_t a, std::uint64_t b) {
  TESSERA_PRODUCT("k16.f32.bf16.bf16", ", 0, 0");
}
template <bool kAdds, int kCount>
__device__ __forceinline__ void add_part_products(F16x3, float (&d)[kCount], std::uint64_t a, std::uint64_t b) {
  TESSERA_PRODUCT("k16.f32.f16.f16", ", 0, 0");
}
template <bool kAdds, int kCount>
__device__ __forceinline__ void add_part_products(Tf32x1, float (&d)[kCount], std::uint64_t a, std::uint64_t b) {
  TESSERA_PRODUCT("k8.f32.tf32.tf32", "");
}

#undef TESSERA_SUMS8
#undef TESSERA_SUMS32
#undef TESSERA_PRODUCT
#undef TESSERA_PRODUCT_64
#undef TESSERA_PRODUCT_128
#undef TESSERA_PRODUCT_192
#undef TESSERA_PRODUCT_256

}  // namespace tessera::cuda
