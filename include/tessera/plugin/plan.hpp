// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A backend's plan, and what an execution of it gets.
#pragma once

#include <tessera/plugin/abi.h>

#include <complex>
#include <cstdint>

namespace tessera::plugin {

/// One execution, checked by the core: see abi.h for what holds.
class Execution {
 public:
  explicit Execution(const tessera_execution& e) : e_(e) {}
  template <class T>
  T* operand(int i) const {
    return static_cast<T*>(raw_operand(i).data);
  }
  template <class T>
  T scalar(int i) const {
    return static_cast<T>(at<tessera_scalar>(e_.scalars, e_.scalar_size, i).real);
  }
  const tessera_scalar& raw_scalar(int i) const { return at<tessera_scalar>(e_.scalars, e_.scalar_size, i); }
  std::complex<double> complex_scalar(int i) const { return {raw_scalar(i).real, raw_scalar(i).imaginary}; }
  template <class T>
  T* workspace() const {
    return static_cast<T*>(e_.workspace);
  }
  /// As the core gave it.
  const tessera_execution& raw() const { return e_; }
  const tessera_operand& raw_operand(int i) const { return at<tessera_operand>(e_.operands, e_.operand_size, i); }

 private:
  template <class S>
  static const S& at(const void* array, std::uint64_t element_size, int i) {
    return *reinterpret_cast<const S*>(static_cast<const unsigned char*>(array) + std::uint64_t(i) * element_size);
  }
  const tessera_execution& e_;
};

/// A plan of one algorithm. It keeps what it needs of the problem, and a reference to its context,
/// which outlives it.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Queues the work (or does it, on the host). Allocates nothing.
  virtual void execute(const Execution& execution) = 0;
  /// What every execution gets, 256-byte aligned, not shared with another plan; what the plan's offer said.
  virtual std::uint64_t workspace_bytes() const { return 0; }
};

}  // namespace tessera::plugin
