// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "verbose.hpp"

#include <cstdio>
#include <mutex>

namespace tessera::core {
namespace {

// Never destroyed: plans in static objects may still speak at the very end.
std::mutex& mutex() {
  static auto* instance = new std::mutex;
  return *instance;
}

VerboseCallback g_callback = nullptr;
void* g_user = nullptr;

}  // namespace

void set_verbose_callback(VerboseCallback callback, void* user) {
  const std::lock_guard lock(mutex());
  g_callback = callback;
  g_user = user;
}

void print_verbose(const std::string& line) {
  const std::lock_guard lock(mutex());
  if (g_callback != nullptr)
    g_callback(line.c_str(), g_user);
  else
    std::fprintf(stderr, "tessera: %s\n", line.c_str());
}

}  // namespace tessera::core
