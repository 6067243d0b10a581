// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of multistage in f32. Their kernels are compiled in two files.
#pragma once

#include "fma_core.cuh"
#include "multistage.cuh"

namespace tessera::cuda {

template <int kM, int kN, int kDepth, int kWarpM, int kWarpN, int kThreadM, int kThreadN>
struct FmaTile {
  template <bool kADepth, bool kBDepth>
  using Core = FmaCore<kM, kN, kDepth, kWarpM, kWarpN, kThreadM, kThreadN, kADepth, kBDepth>;
};

// Threads of 8 x 8, warps of 32 x 64: of the shapes tried, those with the fewest words of shared memory a product.
MultistageKernels<float> multistage_f32_128x128();
MultistageKernels<float> multistage_f32_128x64();
MultistageKernels<float> multistage_f32_64x128();
// For products that are over before a larger tile has begun.
MultistageKernels<float> multistage_f32_64x64();
MultistageKernels<float> multistage_f32_32x64();
// For few rows or columns.
MultistageKernels<float> multistage_f32_128x16();
MultistageKernels<float> multistage_f32_16x128();

}  // namespace tessera::cuda
