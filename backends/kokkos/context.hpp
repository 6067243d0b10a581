// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A context of the flavour: its memory and an execution space instance.
#pragma once

#include "flavour.hpp"
#include "launch.hpp"
#include "machine.hpp"
#include "version.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace tessera::kokkos {

/// Calls body(), on a thread of its own where the caller is inside a parallel region of OpenMP: there Kokkos would
/// see the caller's threads instead of its own.
template <class Body>
void outside_parallel_regions(Body&& body) {
#if defined(_OPENMP)
  if (kOnHost && omp_get_level() > 0) {
    std::exception_ptr error;
    std::thread([&] {
      try {
        body();
      } catch (...) {
        error = std::current_exception();
      }
    }).join();
    if (error) std::rethrow_exception(error);
    return;
  }
#endif
  body();
}

class Context : public MemoryContext {
 public:
  using Machine = kokkos::Machine;

  explicit Context(const tessera_backend_context_desc& desc);
  ~Context();

  const Machine& machine() const { return machine_; }
  static double copying_seconds(const Machine& machine, const plugin::OperandCopy& copy) {
    return MemoryContext::copying_seconds(machine.device, copy);
  }
  static double copying_seconds(const Machine& machine, const plugin::ComplexCopy& copy) {
    return MemoryContext::copying_seconds(machine.device, copy);
  }
  static double copying_seconds(const Machine& machine, const plugin::TriangleCopy& copy) {
    return MemoryContext::copying_seconds(machine.device, copy);
  }

  /// Calls body(Launcher), which launches kernels on the execution space instance and does not wait.
  template <class Body>
  void dispatch(Body&& body) {
    require_no_fault();
    [[maybe_unused]] const CallersDevice callers;
    outside_parallel_regions([&] {
      const Dispatch dispatch(mutex_);
      require_threads(*space_);
      body(Launcher(*space_));
    });
  }

  /// Throws where nothing can be executed: to be called when a plan is made, and by dispatch().
  void require_no_fault() const;

 private:
  Machine machine_;
  std::mutex mutex_;
  std::optional<Space> space_;
};

}  // namespace tessera::kokkos
