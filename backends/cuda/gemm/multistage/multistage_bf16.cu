// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in bf16.
#include "half_core.cuh"
#include "multistage.cuh"

namespace tessera::cuda {

template <std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore<bfloat16, kTile, kKMajorA, kKMajorB> {
  static constexpr MultistageTile t = kMultistageTiles<bfloat16>[kTile];
  using Type = HalfCore<bfloat16, t.m, t.n, t.k_depth, t.warp_m, t.warp_n, kKMajorA, kKMajorB>;
};

template MultistageKernels<bfloat16> multistage_kernels_of<bfloat16, 0>();
template MultistageKernels<bfloat16> multistage_kernels_of<bfloat16, 1>();
template MultistageKernels<bfloat16> multistage_kernels_of<bfloat16, 2>();

}  // namespace tessera::cuda
