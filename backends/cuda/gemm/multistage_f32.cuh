// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of multistage in f32. Their kernels are compiled in two files.
#pragma once

#include "fma_core.cuh"
#include "fma_quad_core.cuh"
#include "multistage.cuh"

#include <type_traits>

namespace tessera::cuda {

template <int kM, int kN, int kDepth, int kWarpM, int kWarpN, int kThreadM, int kThreadN>
struct FmaTile {
  using T = float;
  template <bool kADepth, bool kBDepth>
  using Core = FmaCore<kM, kN, kDepth, kWarpM, kWarpN, kThreadM, kThreadN, kADepth, kBDepth>;
};

/// For few rows or columns, where the long operand's depth is contiguous in memory (kAlongDepth) or its extent is.
template <int kM, int kN, int kDepth, int kWarpM, int kWarpN, int kThreadM, int kThreadN, bool kAlongDepth>
struct NarrowTile {
  using T = float;
  static constexpr bool kALong = kM > kN;
  template <bool kADepth, bool kBDepth>
  using Core = std::conditional_t<
      (kALong ? kADepth : kBDepth) != kAlongDepth, void,
      std::conditional_t<
          kAlongDepth,
          FmaQuadCore<kM, kN, kDepth, kWarpM, kWarpN, kThreadM, kThreadN, kALong, kALong ? kBDepth : kADepth>,
          FmaCore<kM, kN, kDepth, kWarpM, kWarpN, kThreadM, kThreadN, kADepth, kBDepth>>>;
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
MultistageKernels<float> multistage_f32_64x16_along_depth();
MultistageKernels<float> multistage_f32_16x64_along_depth();

}  // namespace tessera::cuda
