// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Descriptions of tensors in memory for bulk copies.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tessera::cuda {

/// A tensor of 16-bit elements: neighbours, rows, matrices; all of them from 1 on. Boxes of 64 neighbours and so many
/// rows are copied, with their 128 bytes permuted (128-byte swizzle).
struct TensorOf16Bits {
  const void* data;  ///< at a multiple of 16 bytes
  std::int64_t neighbours, rows, matrices;
  std::int64_t row_bytes, matrix_bytes;  ///< distances: multiples of 16
  int box_rows;
};

/// The driver's function that makes maps, found once. Throws where the driver has none.
void require_tensor_maps();

/// What lies outside of the tensor reads as 0. Allocates nothing.
CUtensorMap tensor_map(const TensorOf16Bits& tensor);

}  // namespace tessera::cuda
