// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "context.hpp"

#include "runtime.hpp"

#include <new>

namespace tessera::kokkos {

Context::Context(const tessera_backend_context_desc& desc) : MemoryContext(desc), machine_{MemoryContext::machine()} {
  [[maybe_unused]] const CallersDevice callers;
  require_runtime(flavour_threads(*this));
  outside_parallel_regions([this] { space_.emplace(make_space(*this)); });
}

Context::~Context() {
  if (runtime_lives() && device_is_well()) {
    outside_parallel_regions([this] { space_.reset(); });
    return;
  }
  // What is left of the instance belongs to a Kokkos that is gone, to a lost device or to threads that are not here:
  // its destructor must not run.
  new (&space_) std::optional<Space>();
}

void Context::require_no_fault() const {
  if (!runtime_lives())
    throw plugin::Error(TESSERA_DEVICE_ERROR, "Kokkos has been finalised: nothing can be executed any more",
                        TESSERA_ERROR_CONTEXT_DEAD);
  require_no_pending_fault();
}

}  // namespace tessera::kokkos
