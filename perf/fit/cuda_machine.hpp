// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CUDA backend's models for tessera-models-cuda. They need no device.
#pragma once

#include "problem.hpp"

#include "context.hpp"

#include <nlohmann/json.hpp>

#include <span>

namespace tessera::fit {

using Context = cuda::Context;
using Machine = cuda::Machine;

/// The device that the tables are of.
inline Machine machine(const nlohmann::ordered_json&) { return cuda::machine_of(cuda::kH100); }

template <class Costs>
std::span<double> doubles(Costs& costs) {
  static_assert(sizeof(Costs) % sizeof(double) == 0, "coefficients are doubles and nothing else");
  return {reinterpret_cast<double*>(&costs), sizeof(Costs) / sizeof(double)};
}

inline std::span<double> coefficients(Machine& machine, perf::Op op) {
  return op == perf::Op::gemm ? doubles(machine.gemm) : doubles(machine.stencil);
}

}  // namespace tessera::fit
