// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "thread_creation.hpp"

#include <atomic>
#include <cerrno>
#include <memory>

#include <dlfcn.h>
#include <pthread.h>

namespace tessera::test {
namespace {

ThreadLimits in_force;
std::atomic<int> calls{0}, alive{0}, refused{0};

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  void* const result = owned->routine(owned->argument);
  --alive;
  return result;
}

bool fails() {
  const int call = ++calls;
  const bool counted = call >= in_force.first_failing && call - in_force.first_failing < in_force.failing;
  return counted || alive >= in_force.alive;
}

}  // namespace

void limit_threads(const ThreadLimits& limits) {
  calls = alive = refused = 0;
  in_force = limits;
}

int threads_refused() { return refused; }

}  // namespace tessera::test

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*), void* argument) {
  using namespace tessera::test;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (fails()) {
    ++refused;
    return EAGAIN;
  }
  auto start = std::make_unique<Start>(Start{routine, argument});
  ++alive;
  const int error = real(thread, attributes, run, start.get());
  if (error == 0)
    static_cast<void>(start.release());
  else
    --alive;
  return error;
}
