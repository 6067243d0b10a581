// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// CUDA's words and functions, as kernels use them, on an emulated device.
#pragma once

#include "cuda_runtime_api.h"

#include "../device.hpp"

#include <algorithm>
#include <cmath>

#define __device__
#define __host__
#define __noinline__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx (tessera::emulation::Device::instance().thread())
#define blockIdx (tessera::emulation::Device::instance().block())
#define blockDim (tessera::emulation::Device::instance().threads())
#define gridDim (tessera::emulation::Device::instance().grid())

using std::fma;
using std::max;
using std::min;

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* to, unsigned value) {
  *to += value;
  return *to - value;
}
template <class T>
void __stcs(T* to, T value) {
  *to = value;
}
inline void __syncwarp() { tessera::emulation::Device::instance().sync_warp(); }
inline void __syncthreads() { tessera::emulation::Device::instance().sync_block(); }
template <class T>
T __shfl_up_sync(unsigned, T value, int distance, int width) {
  return tessera::emulation::Device::instance().shuffle(value, -distance, width);
}
template <class T>
T __shfl_down_sync(unsigned, T value, int distance, int width) {
  return tessera::emulation::Device::instance().shuffle(value, distance, width);
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  auto& device = tessera::emulation::Device::instance();
  return device.shuffle(value, lane - int(device.thread().x) % 32, 32);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int bits) {
  const int lane = int(tessera::emulation::Device::instance().thread().x) % 32;
  return __shfl_sync(0, value, lane ^ bits);
}
inline unsigned __reduce_add_sync(unsigned, unsigned value) {
  return tessera::emulation::Device::instance().sum(value);
}
