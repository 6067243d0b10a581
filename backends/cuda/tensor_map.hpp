// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Descriptions of tensors in memory for bulk copies.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tessera::cuda {

/// A tensor: neighbours, rows, matrices; all of them from 1 on. Boxes of so many rows are copied. By default they have
/// 128 bytes of neighbours, of elements of 16 bits or of f32, which are rounded to tf32, with their 128 bytes permuted
/// (128-byte swizzle). With `box_neighbours` they have as many, of f32 or f64, as they are.
struct BoxedTensor {
  const void* data;  ///< at a multiple of 16 bytes
  std::int64_t neighbours, rows, matrices;
  std::int64_t row_bytes, matrix_bytes;  ///< distances: multiples of 16
  int box_rows;
  int element_bytes;  ///< 2, 4 or 8
  int box_neighbours = 0;
  /// Copies are of two boxes that are neighbours, where all of both is inside.
  bool pair = false;

  bool operator==(const BoxedTensor&) const = default;
};

/// The driver's functions that make maps, found once. Throws where the driver has none.
void require_tensor_maps();

/// What lies outside of the tensor reads as 0. Allocates nothing.
CUtensorMap tensor_map(const BoxedTensor& tensor);

/// The map of the last tensor: one that lies elsewhere, but is the same otherwise, takes a fraction of the time.
class TensorMap {
 public:
  const CUtensorMap& of(const BoxedTensor& tensor);

 private:
  BoxedTensor tensor_{};
  CUtensorMap map_{};
};

}  // namespace tessera::cuda
