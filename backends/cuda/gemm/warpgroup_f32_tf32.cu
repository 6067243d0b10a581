// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 in tf32.
#include "warpgroup_f32.cuh"

namespace tessera::cuda {

template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<5>() {
  return make_warpgroup_f32_kernels<Tf32x1, 5>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<6>() {
  return make_warpgroup_f32_kernels<Tf32x1, 6>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<7>() {
  return make_warpgroup_f32_kernels<Tf32x1, 7>();
}

}  // namespace tessera::cuda
