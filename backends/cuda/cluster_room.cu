// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How many clusters of blocks a device runs at once.
#include "device.hpp"
#include "launch.cuh"

#include <map>
#include <mutex>

namespace tessera::cuda {
namespace {

/// Blocks that are nothing but their shared memory.
__global__ void cluster_room_kernel() {}

/// As the driver counts them. Kernels compiled for older devices know no clusters: each block would take itself for the
/// only one.
ClusterRoom ask_driver(const Machine& machine) {
  constexpr int kUnit = 128;  // bytes, of what a block is given
  if (!has_hopper_code(cluster_room_kernel)) return {};
  prepare(cluster_room_kernel, machine.shared_per_block);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  ClusterRoom room;
  for (unsigned blocks_per_sm = 1; blocks_per_sm <= room.size(); ++blocks_per_sm)
    for (unsigned blocks = 1; blocks <= room[0].size(); ++blocks) {
      attribute.val.clusterDim = {blocks, 1, 1};
      config.gridDim = dim3(blocks);
      config.dynamicSmemBytes = (machine.shared_per_multiprocessor / blocks_per_sm - kReservedBytes) / kUnit * kUnit;
      int clusters = 0;
      TESSERA_CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, cluster_room_kernel, &config));
      room[blocks_per_sm - 1][blocks - 1] = clusters * int(blocks);
    }
  return room;
}

}  // namespace

const ClusterRoom& count_clusters(int device) {
  static std::mutex mutex;
  static auto* counted = new std::map<int, ClusterRoom>;  // never destroyed: plans may outlive static objects
  const std::lock_guard lock(mutex);
  const auto known = counted->find(device);
  if (known != counted->end()) return known->second;
  const DeviceGuard guard(device);
  return counted->emplace(device, ask_driver(machine(device))).first->second;
}

}  // namespace tessera::cuda
