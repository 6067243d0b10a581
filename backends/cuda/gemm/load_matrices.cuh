// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Matrices of 16-bit elements from shared memory to the registers of a warp (PTX: ldmatrix).
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Four 8 x 8 matrices of 16-bit elements: lane l gives the address of a row of matrix l / 8, and has of matrix q
/// elements (l / 4, 2 (l % 4)) and the next one in d[q]; with kTranspose those of the transposed matrix.
template <bool kTranspose>
__device__ __forceinline__ void load_matrices(std::uint32_t (&d)[4], std::uint32_t address) {
  if constexpr (kTranspose)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(address));
}

}  // namespace tessera::cuda
