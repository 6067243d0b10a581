// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f16.
#include "half_core.cuh"
#include "multistage.cuh"

namespace tessera::cuda {

template <std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore<float16, kTile, kKMajorA, kKMajorB> {
  static constexpr MultistageTile t = kMultistageTiles<float16>[kTile];
  using Type = HalfCore<float16, t.m, t.n, t.k_depth, t.warp_m, t.warp_n, kKMajorA, kKMajorB>;
};

template MultistageKernels<float16> multistage_kernels_of<float16, 0>();
template MultistageKernels<float16> multistage_kernels_of<float16, 1>();
template MultistageKernels<float16> multistage_kernels_of<float16, 2>();

}  // namespace tessera::cuda
