// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of multistage in f64.
#include "mma_core.cuh"
#include "multistage.cuh"

namespace tessera::cuda {

template <std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore<double, kTile, kKMajorA, kKMajorB> {
  static constexpr MultistageTile t = kMultistageTiles<double>[kTile];
  using Type = MmaCore<t.m, t.n, t.k_depth, t.warp_m, t.warp_n, kKMajorA, kKMajorB, t.folds>;
};

template MultistageKernels<double> multistage_kernels_of<double, 0>();
template MultistageKernels<double> multistage_kernels_of<double, 1>();
template MultistageKernels<double> multistage_kernels_of<double, 2>();
template MultistageKernels<double> multistage_kernels_of<double, 3>();
template MultistageKernels<double> multistage_kernels_of<double, 4>();

}  // namespace tessera::cuda
