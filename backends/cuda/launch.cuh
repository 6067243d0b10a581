// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Preparing and launching kernels. For .cu files alone.
#pragma once

#include "error.hpp"
#include "launch_limits.hpp"

#include <cuda_runtime.h>

#include <utility>

namespace tessera::cuda {

/// Done when a plan is made, so that executing it loads no module, sets no attribute and is safe
/// inside a graph capture. The shared-memory limit is raised to the same value by every plan of a
/// kernel (the device's maximum), so plans cannot lower one another's.
template <class... P>
void prepare(void (*kernel)(P...), int shared_limit = 0) {
  const void* const function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes;
  TESSERA_CUDA_CHECK(cudaFuncGetAttributes(&attributes, function));
  if (shared_limit > 0)
    TESSERA_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            shared_limit - int(attributes.sharedSizeBytes)));
}

/// Whether the device runs code of the kernel that was compiled for compute capability 9.0 or later. Where a plugin has
/// none, a newer device runs code for older ones, without what `#if __CUDA_ARCH__ >= 900` guards.
template <class... P>
bool has_hopper_code(void (*kernel)(P...)) {
  constexpr int kCapability = 90;
  cudaFuncAttributes attributes;
  TESSERA_CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return attributes.ptxVersion >= kCapability;
}

/// Whether launches of the kernel can be told EarlyStart: its code knows how to wait, and the driver's graphs do.
template <class... P>
bool can_start_early(void (*kernel)(P...)) {
  constexpr int kDriver = 12030;
  int driver = 0;
  TESSERA_CUDA_CHECK(cudaDriverGetVersion(&driver));
  return has_hopper_code(kernel) && driver >= kDriver;
}

/// Launches and checks the launch's own status: errors that were pending before are not looked at.
template <std::size_t kAttributes, class... P, class... A>
void launch_with(cudaLaunchAttribute (&attributes)[kAttributes], unsigned count, void (*kernel)(P...), dim3 grid,
                 dim3 block, std::size_t shared_bytes, cudaStream_t stream, A&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  TESSERA_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
}

/// All blocks run at once, so that they may wait for each other; fails where the device has no room for that.
struct CooperativeGrid {};

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream, CooperativeGrid,
            A&&... arguments) {
  cudaLaunchAttribute attributes[1]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  launch_with(attributes, 1, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}

/// With `early`, the launch begins as soon as the one before it in the stream lets it: see early_start.cuh.
struct EarlyStart {
  bool early;
};

/// Blocks that are scheduled together and see one another's shared memory; above 1 from compute
/// capability 9.0 on.
struct ClusterSize {
  unsigned blocks;
};

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            ClusterSize cluster, EarlyStart start, A&&... arguments) {
  cudaLaunchAttribute attributes[3]{};
  unsigned count = 0;
  if (cluster.blocks > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {cluster.blocks, 1, 1};
    // By default clusters of 4 and more crowd on some multiprocessors while others have none.
    attributes[count].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
    attributes[count++].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicyLoadBalancing;
  }
  if (start.early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  launch_with(attributes, count, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            EarlyStart start, A&&... arguments) {
  launch(kernel, grid, block, shared_bytes, stream, ClusterSize{1}, start, std::forward<A>(arguments)...);
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            ClusterSize cluster, A&&... arguments) {
  launch(kernel, grid, block, shared_bytes, stream, cluster, EarlyStart{false}, std::forward<A>(arguments)...);
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            A&&... arguments) {
  launch(kernel, grid, block, shared_bytes, stream, ClusterSize{1}, std::forward<A>(arguments)...);
}

}  // namespace tessera::cuda
