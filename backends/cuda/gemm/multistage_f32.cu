// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32: large tiles, and the list of all.
#include "multistage_f32.cuh"

#include <array>

namespace tessera::cuda {

MultistageKernels<float> multistage_f32_128x128() {
  return multistage_kernels_of<FmaTile<128, 128, 32, 32, 64, 8, 8>, 2, 2>();
}

MultistageKernels<float> multistage_f32_128x64() {
  return multistage_kernels_of<FmaTile<128, 64, 16, 32, 64, 8, 8>, 3, 4>();
}

MultistageKernels<float> multistage_f32_64x128() {
  return multistage_kernels_of<FmaTile<64, 128, 16, 32, 64, 8, 8>, 3, 4>();
}

std::span<const MultistageKernels<float>> multistage_kernels(std::type_identity<float>) {
  static const std::array kernels{multistage_f32_128x128(),
                                  multistage_f32_128x64(),
                                  multistage_f32_64x128(),
                                  multistage_f32_64x64(),
                                  multistage_f32_32x64(),
                                  multistage_f32_128x16(),
                                  multistage_f32_16x128(),
                                  multistage_f32_64x16_along_depth(),
                                  multistage_f32_16x64_along_depth()};
  return kernels;
}

}  // namespace tessera::cuda
