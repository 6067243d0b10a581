// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f32 whose operands are rounded to tf32.
#include "multistage.cuh"
#include "tf32_core.cuh"

namespace tessera::cuda {

template <std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore<Tf32, kTile, kKMajorA, kKMajorB> {
  static constexpr MultistageTile t = kMultistageTiles<Tf32>[kTile];
  using Type = Tf32Core<t.m, t.n, t.k_depth, t.warp_m, t.warp_n, kKMajorA, kKMajorB>;
};

template MultistageKernels<Tf32> multistage_kernels_of<Tf32, 0>();
template MultistageKernels<Tf32> multistage_kernels_of<Tf32, 1>();
template MultistageKernels<Tf32> multistage_kernels_of<Tf32, 2>();

}  // namespace tessera::cuda
