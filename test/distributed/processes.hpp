// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Work of several ranks, each a process.
#pragma once

#include "sockets.hpp"

#include <tessera/distributed.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

/// How a rank's process ended.
struct Ending {
  std::string error;  ///< what the body threw; "": nothing
  int signal = 0;     ///< that ended it
  bool hung = false;  ///< it was still there long after another one had ended, and was killed for that
};

/// Forks a process for each rank of a group, which runs `body`. This process must have no threads and no contexts, and
/// what the ranks draw at random is the same where it has asked for the seed.
std::vector<Ending> on_processes(int count, const std::function<void(const Comm&, Sockets&)>& body);

}  // namespace tessera::test
