// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 for f32 and bf16.
#include "warpgroup_f32.cuh"

namespace tessera::cuda {

template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<5>() {
  return make_warpgroup_f32_kernels<WideByNarrow<bfloat16>, 5>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<6>() {
  return make_warpgroup_f32_kernels<WideByNarrow<bfloat16>, 6>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<7>() {
  return make_warpgroup_f32_kernels<NarrowByWide<bfloat16>, 7>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<8>() {
  return make_warpgroup_f32_kernels<NarrowByWide<bfloat16>, 8>();
}

}  // namespace tessera::cuda
