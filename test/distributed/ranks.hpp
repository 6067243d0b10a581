// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Work of several ranks, each a thread.
#pragma once

#include "required.hpp"

#include <tessera/backends.hpp>
#include <tessera/distributed.hpp>
#include <tessera/tessera.hpp>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::test {

/// Runs `body` on each rank of a group and returns what each threw, "" for nothing. Catch2's assertions are for the
/// main thread alone.
inline std::vector<std::string> on_ranks(int count, const std::function<void(const Comm&)>& body) {
  std::vector<Comm> comms = Comm::threads(count);
  std::vector<std::string> errors(comms.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < comms.size(); ++rank)
    threads.emplace_back([&body, &error = errors[rank], comm = std::move(comms[rank])] {
      try {
        body(comm);
      } catch (const std::exception& failure) {
        error = failure.what();
        if (error.empty()) error = "an exception without a text";
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The backends of this machine that are usable, or that must be; TESSERA_BACKEND alone where it is set.
inline std::vector<std::string> tested_backends() {
  if (const char* const only = std::getenv("TESSERA_BACKEND")) return {only};
  std::vector<std::string> names;
  for (const BackendInfo& backend : backends()) {
    const std::string name = backend.variant.empty() ? backend.name : backend.name + "-" + backend.variant;
    if (backend.available || is_required(backend.name)) names.push_back(name);
  }
  return names;
}

/// How many devices a backend has.
inline int devices_of(const std::string& backend) {
  for (const BackendInfo& info : backends())
    if (backend == (info.variant.empty() ? info.name : info.name + "-" + info.variant)) return int(info.devices.size());
  return 0;
}

/// A rank's context of one thread: there are as many ranks as the test wants. They have the backend's devices in turn.
inline Context context_of(const std::string& backend, int rank = 0) {
  ContextOptions options;
  options.threads = 1;
  const int devices = devices_of(backend);
  return Context(devices > 1 ? backend + ":" + std::to_string(rank % devices) : backend, options);
}

/// The same of the environment's choice.
inline Context one_thread(int rank = 0) {
  ContextOptions options;
  options.threads = 1;
  static const std::string backend = Context(options).backend();
  return context_of(backend, rank);
}

}  // namespace tessera::test
