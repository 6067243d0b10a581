// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f64.
#include "mma_core.cuh"
#include "multistage.cuh"

#include <array>

namespace tessera::cuda {
namespace {

template <int kM, int kN, int kWarpM, int kWarpN>
struct Tile {
  using T = double;
  template <bool kADepth, bool kBDepth>
  using Core = MmaCore<kM, kN, 16, kWarpM, kWarpN, kADepth, kBDepth>;
};

}  // namespace

std::span<const MultistageKernels<double>> multistage_kernels(std::type_identity<double>) {
  static const std::array kernels{
      multistage_kernels_of<Tile<128, 128, 64, 32>, 4, 1>(), multistage_kernels_of<Tile<64, 128, 32, 32>, 3, 2>(),
      multistage_kernels_of<Tile<64, 64, 32, 32>, 3, 3>(), multistage_kernels_of<Tile<32, 32, 16, 16>, 3, 7>()};
  return kernels;
}

}  // namespace tessera::cuda
