// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the backends say of a problem: whether they can run it, and how long it would take.
#pragma once

#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"

#include <tessera/plugin/abi.h>

#include <cstdint>
#include <vector>

namespace tessera::core {

/// A problem to be run somewhere.
struct Question {
  const tessera_desc* desc = nullptr;  ///< null: none yet, a context is to be made
  tessera_memory operands = TESSERA_MEMORY_DEVICE;
  int threads = 0;  ///< CPU threads; 0: the backend's own default
  std::uint64_t workspace_limit = 0;
  int multiprocessors = 0;  ///< of a device that has some; 0: all
};

/// Asks a backend. Without a problem it is ranked by a product that stands for all.
Candidate ask(Backend& backend, const Request& request, const Question& question);
std::vector<Candidate> ask(const std::vector<Backend*>& backends, const Request& request, const Question& question);

/// Why the forced algorithm of that name cannot run the problem on the device; "" when it can.
std::string why_not(Backend& backend, int device, const std::string& algorithm, const tessera_desc* desc);

/// Executions a second of the product that stands for all, 1024^3 in f32 on device operands; 0 where it cannot.
double reference_score(Backend& backend, int device);

}  // namespace tessera::core
