// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's models for tessera-models-cuda. They need no device.
#pragma once

#include "problem.hpp"

#include "context.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace tessera::fit {

using Context = cuda::Context;
using Machine = cuda::Machine;

/// About the room for clusters of that device: as its predictions tell, on which it has a say.
inline const cuda::ClusterRoom& cluster_room(int) {
  constexpr std::array kOneBlock{132, 132, 117, 124, 110, 102, 98, 120};
  static const cuda::ClusterRoom room = [&] {
    cuda::ClusterRoom all{};
    for (std::size_t blocks = 1; blocks <= all.size(); ++blocks)
      for (std::size_t cluster = 0; cluster < kOneBlock.size(); ++cluster)
        all[blocks - 1][cluster] = int(blocks) * kOneBlock[cluster];
    return all;
  }();
  return room;
}

/// The device that the figures are of: that of the tables, or one of the same multiprocessors and more memory.
inline Machine machine(const nlohmann::ordered_json& header) {
  cuda::DeviceProperties device = cuda::kH100;
  if (header.value("gpu", "") == "NVIDIA H200")
    device.l2_bytes = 62914560, device.memory_clock_hz = 3.201e9, device.memory_bus_bits = 6144;
  Machine machine = cuda::machine_of(device);
  machine.count_clusters = cluster_room;
  return machine;
}

template <class Costs>
std::span<double> doubles(Costs& costs) {
  static_assert(sizeof(Costs) % sizeof(double) == 0, "coefficients are doubles and nothing else");
  return {reinterpret_cast<double*>(&costs), sizeof(Costs) / sizeof(double)};
}

inline std::span<double> coefficients(Machine& machine, perf::Op op) {
  return op == perf::Op::gemm ? doubles(machine.gemm) : doubles(machine.stencil);
}

}  // namespace tessera::fit
