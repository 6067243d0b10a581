// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/verbose.hpp"

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <new>

namespace tessera::core {
namespace {

// Never destroyed: plans in static objects may still speak at the very end. Recursive, since a callback may set
// another. In place, since nobody could be told that there is no memory for it.
std::recursive_mutex& mutex() {
  alignas(std::recursive_mutex) static std::byte room[sizeof(std::recursive_mutex)];
  static auto* instance = new (room) std::recursive_mutex;
  return *instance;
}

VerboseCallback g_callback = nullptr;
void* g_user = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool g_speaking = false;  // no memory is taken for it later

/// Marks the thread as inside a callback while it lives.
struct Speaking {
  Speaking() { g_speaking = true; }
  ~Speaking() { g_speaking = false; }
};

}  // namespace

void set_verbose_callback(VerboseCallback callback, void* user) {
  const std::lock_guard lock(mutex());
  g_callback = callback;
  g_user = user;
}

void print_verbose(const std::string& line) noexcept {
  if (g_speaking) return;
  try {
    const std::lock_guard lock(mutex());
    const Speaking speaking;
    if (g_callback != nullptr)
      g_callback(line.c_str(), g_user);
    else
      std::fprintf(stderr, "tessera: %s\n", line.c_str());
  } catch (...) {  // the callback's; what the line tells of is done and stays done
  }
}

}  // namespace tessera::core
