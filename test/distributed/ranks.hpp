// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Ranks that are threads, and what each of them throws.
#pragma once

#include "required.hpp"

#include <tessera/backends.hpp>
#include <tessera/distributed.hpp>

#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace tessera::test {

/// Runs body(comm) on `count` threads and returns what each threw, "" for those that went well. A rank that throws gives
/// up its Comm, as a program does that ends.
template <class Body>
std::vector<std::string> on_ranks(int count, Body&& body) {
  std::vector<Comm> comms = Comm::threads(count);
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      Comm comm = std::move(comms[std::size_t(rank)]);
      try {
        body(comm);
      } catch (const std::exception& error) {
        errors[std::size_t(rank)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The backends of this machine that are usable, or that must be.
inline std::vector<std::string> tested_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : backends()) {
    const std::string name = backend.variant.empty() ? backend.name : backend.name + "-" + backend.variant;
    if (backend.available || is_required(backend.name)) names.push_back(name);
  }
  return names;
}

/// A context of one thread: there are as many ranks as the test wants.
inline Context context_of(const std::string& backend) { return Context(backend, {.threads = 1}); }

}  // namespace tessera::test
