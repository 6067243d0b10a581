// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CPU backend's models for tessera-models-cpu.
#pragma once

#include "problem.hpp"

#include "context.hpp"

#include <nlohmann/json.hpp>

#include <span>

namespace tessera::fit {

using Context = cpu::Context;
using Machine = cpu::Machine;

/// This processor, on which the offers must have been measured, with their number of threads.
inline Machine machine(const nlohmann::ordered_json& measured) { return cpu::machine_here(measured.at("threads")); }

inline std::span<double> coefficients(Machine& machine, perf::Op) {
  static_assert(sizeof(machine.costs) % sizeof(double) == 0, "coefficients are doubles and nothing else");
  return {reinterpret_cast<double*>(&machine.costs), sizeof(machine.costs) / sizeof(double)};
}

}  // namespace tessera::fit
