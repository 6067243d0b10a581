// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The context of a small backend: one thread of the processor.
#pragma once

#include <tessera/plugin/plugin.hpp>

namespace simple {

namespace plugin = tessera::plugin;

/// What the models of time need to know.
struct Machine {
  double multiply_adds = 1e9;  ///< a second
  double bytes = 5e9;          ///< moved to and from memory, a second
};

class Context {
 public:
  using Machine = simple::Machine;

  explicit Context(const tessera_backend_context_desc&) {}

  Machine machine() const { return {}; }
  void* allocate(std::uint64_t bytes);
  void free(void* data) noexcept;
  void copy(const tessera_copy& copy);
  void synchronize() {}  // work is done when execute() returns
  void* native_stream();
};

}  // namespace simple
