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

/// Blocks that are scheduled together and see one another's shared memory; above 1 from compute
/// capability 9.0 on.
struct ClusterSize {
  unsigned blocks;
};

/// All blocks run at once, so that they may wait for each other; fails where the device has no room for that.
struct CooperativeGrid {};

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream, CooperativeGrid,
            A&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  TESSERA_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
}

/// Launches and checks the launch's own status: errors that were pending before are not looked at.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            ClusterSize cluster, A&&... arguments) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {cluster.blocks, 1, 1};
  // By default clusters of 4 and more crowd on some multiprocessors while others have none.
  attributes[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  attributes[1].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicyLoadBalancing;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster.blocks > 1 ? 2 : 0;
  TESSERA_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            A&&... arguments) {
  launch(kernel, grid, block, shared_bytes, stream, ClusterSize{1}, std::forward<A>(arguments)...);
}

}  // namespace tessera::cuda
