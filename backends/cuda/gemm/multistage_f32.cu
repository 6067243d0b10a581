// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32.
#include "fma_core.cuh"
#include "multistage.cuh"

#include <array>

namespace tessera::cuda {
namespace {

/// Warps of 32 x 64, threads of 8 x 8: of the shapes tried, that with the fewest words of shared memory a
/// product which leaves room for two blocks of 8 warps. The smallest tile is for products that are over
/// before a larger one has begun.
template <int kTile, bool kADepth, bool kBDepth>
using Core = std::conditional_t<kTile == 32, FmaCore<kTile, kTile, 16, 16, 32, 4, 4, kADepth, kBDepth>,
                                FmaCore<kTile, kTile, 16, 32, 64, 8, 8, kADepth, kBDepth>>;

}  // namespace

std::span<const MultistageKernels<float>> multistage_kernels(std::type_identity<float>) {
  static const std::array kernels{multistage_kernels_of<Core, 128, 3, 2>(), multistage_kernels_of<Core, 64, 3, 5>(),
                                  multistage_kernels_of<Core, 32, 3, 12>()};
  return kernels;
}

}  // namespace tessera::cuda
