// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// unload_test LIBRARY: opens libtessera_blas, closes it while threads that have called it go on, and opens it again.

#include "work.hpp"

#include <future>
#include <iostream>
#include <thread>

#include <dlfcn.h>

namespace {

using namespace tessera::test;

void* open(const char* path) {
  if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  throw std::runtime_error(dlerror());
}

Products products_of(void* library) { return Products(reinterpret_cast<Dgemm>(dlsym(library, "dgemm_"))); }

void unload(const char* path) {
  std::promise<void> called, closed;
  void* const library = open(path);
  std::thread thread([&] {  // its table goes when it ends, behind dlclose
    products_of(library).check_all();
    called.set_value();
    closed.get_future().wait();
  });
  called.get_future().wait();
  products_of(library).check_all();
  const bool done = dlclose(library) == 0;
  closed.set_value();
  thread.join();
  if (!done) throw std::runtime_error("dlclose failed");
  void* const again = open(path);
  products_of(again).check_all();
  dlclose(again);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    unload(argc > 1 ? argv[1] : "libtessera_blas.so");
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
