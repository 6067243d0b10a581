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

  bool operator==(const TensorOf16Bits&) const = default;
};

/// The driver's functions that make maps, found once. Throws where the driver has none.
void require_tensor_maps();

/// What lies outside of the tensor reads as 0. Allocates nothing.
CUtensorMap tensor_map(const TensorOf16Bits& tensor);

/// The map of the last tensor: one that lies elsewhere, but is the same otherwise, takes a fraction of the time.
class TensorMap {
 public:
  const CUtensorMap& of(const TensorOf16Bits& tensor);

 private:
  TensorOf16Bits tensor_{};
  CUtensorMap map_{};
};

}  // namespace tessera::cuda
