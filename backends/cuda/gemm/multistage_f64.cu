// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f64.
#include "mma_core.cuh"
#include "multistage.cuh"

#include <array>

namespace tessera::cuda {
namespace {

/// 8 warps of 64 x 32 for the largest tile: what the registers hold. 4 warps for the others.
template <int kTile, bool kADepth, bool kBDepth>
using Core = MmaCore<kTile, kTile, 16, kTile / 2, kTile == 128 ? 32 : kTile / 2, kADepth, kBDepth>;

}  // namespace

std::span<const MultistageKernels<double>> multistage_kernels(std::type_identity<double>) {
  static const std::array kernels{multistage_kernels_of<Core, 128, 3, 1>(), multistage_kernels_of<Core, 64, 3, 3>(),
                                  multistage_kernels_of<Core, 32, 3, 7>()};
  return kernels;
}

}  // namespace tessera::cuda
