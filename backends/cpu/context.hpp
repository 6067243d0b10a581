// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CPU backend's context: a number of threads, and host memory.
#pragma once

#include "machine.hpp"

#include <tessera/plugin/bias_gradient.hpp>
#include <tessera/plugin/complex_copy.hpp>
#include <tessera/plugin/operand_copy.hpp>
#include <tessera/plugin/plugin.hpp>
#include <tessera/plugin/triangle_copy.hpp>

#include <atomic>
#include <cstdint>

namespace tessera::cpu {

/// Work is done when execute() returns, so there is no stream and nothing to wait for.
class Context {
 public:
  explicit Context(const tessera_backend_context_desc& desc);

  using Machine = cpu::Machine;
  /// Its number of threads is frozen here, whatever OpenMP is told later.
  const Machine& machine() const { return machine_; }

  /// 256-byte aligned memory. Consecutive blocks start at different offsets modulo 4 KiB.
  void* allocate(std::uint64_t bytes);
  void free(void* data) noexcept;
  void copy(const tessera_copy& copy);
  /// See tessera/plugin/operand_copy.hpp.
  plugin::CopyOperand copying(const plugin::OperandCopy& copy);
  static double copying_seconds(const Machine& machine, const plugin::OperandCopy& copy);
  /// See tessera/plugin/triangle_copy.hpp.
  plugin::CopyTriangle copying_triangle(const plugin::TriangleCopy& copy);
  static double copying_seconds(const Machine& machine, const plugin::TriangleCopy& copy);
  /// See tessera/plugin/complex_copy.hpp.
  plugin::CopyComplex copying_complex(const plugin::ComplexCopy& copy);
  static double copying_seconds(const Machine& machine, const plugin::ComplexCopy& copy);
  /// See tessera/plugin/bias_gradient.hpp.
  plugin::SumBias summing(const plugin::BiasGradient& gradient);
  void synchronize() {}
  void* native_stream();

 private:
  Machine machine_;
  std::atomic<unsigned> allocations_{0};
};

}  // namespace tessera::cpu
