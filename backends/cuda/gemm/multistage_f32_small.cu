// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32: small and narrow tiles.
#include "multistage_f32.cuh"

namespace tessera::cuda {

MultistageKernels<float> multistage_f32_64x64() {
  return multistage_kernels_of<FmaTile<64, 64, 16, 32, 32, 8, 4>, 3, 5>();
}

MultistageKernels<float> multistage_f32_32x64() {
  return multistage_kernels_of<FmaTile<32, 64, 16, 32, 32, 8, 4>, 3, 8>();
}

MultistageKernels<float> multistage_f32_128x16() {
  return multistage_kernels_of<NarrowTile<128, 16, 16, 64, 16, 8, 4, false>, 3, 7>();
}

MultistageKernels<float> multistage_f32_16x128() {
  return multistage_kernels_of<NarrowTile<16, 128, 16, 16, 64, 4, 8, false>, 3, 7>();
}

// Twice as deep: rows of 128 bytes, since memory gives less of its rate in pieces of 64 (8192 x 16 x 8192: 146 us,
// 108).
MultistageKernels<float> multistage_f32_64x16_along_depth() {
  return multistage_kernels_of<NarrowTile<64, 16, 64, 32, 16, 4, 4, true>, 2, 5>();
}

MultistageKernels<float> multistage_f32_16x64_along_depth() {
  return multistage_kernels_of<NarrowTile<16, 64, 64, 16, 32, 4, 4, true>, 2, 5>();
}

}  // namespace tessera::cuda
