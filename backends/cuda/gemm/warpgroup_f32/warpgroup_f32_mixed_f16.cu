// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of warpgroup_f32 for f32 and f16.
#include "warpgroup_f32.cuh"

namespace tessera::cuda {

template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<9>() {
  return make_warpgroup_f32_kernels<WideByNarrow<float16>, 9>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<10>() {
  return make_warpgroup_f32_kernels<WideByNarrow<float16>, 10>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<11>() {
  return make_warpgroup_f32_kernels<NarrowByWide<float16>, 11>();
}
template <>
WarpgroupF32Kernels warpgroup_f32_kernels_of<12>() {
  return make_warpgroup_f32_kernels<NarrowByWide<float16>, 12>();
}

}  // namespace tessera::cuda
