// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The cores of multistage in f32.
#pragma once

#include "fma_core.cuh"
#include "fma_quad_core.cuh"
#include "multistage.cuh"

namespace tessera::cuda {

template <std::size_t kTile, bool kKMajorA, bool kKMajorB>
struct MultistageCore<float, kTile, kKMajorA, kKMajorB> {
  static constexpr MultistageTile t = kMultistageTiles<float>[kTile];
  static constexpr bool kLongA = t.long_a(), kOtherKMajor = kLongA ? kKMajorB : kKMajorA;
  static constexpr bool kFits = !t.narrow() || (kLongA ? kKMajorA : kKMajorB) == t.k_major;
  using Fma = FmaCore<t.m, t.n, t.k_depth, t.warp_m, t.warp_n, t.thread_m, t.thread_n, kKMajorA, kKMajorB>;
  using FmaQuad = FmaQuadCore<t.m, t.n, t.k_depth, t.warp_m, t.warp_n, t.thread_m, t.thread_n, kLongA, kOtherKMajor>;
  using Type = std::conditional_t<!kFits, void, std::conditional_t<t.k_major, FmaQuad, Fma>>;
};

}  // namespace tessera::cuda
