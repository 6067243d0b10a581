// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What every fuzz target does alike: memory that ends early is an error and not the sanitizer's end of the process,
/// and damage to memory is a finding.

#include "bytes.hpp"
#include "stop.hpp"

#include <cstdlib>
#include <new>

namespace tessera::test {

Running::Running(const std::string&) {}  // signals are the fuzzer's
Running::~Running() = default;

void stop(const std::string& damage) {
  require(false, "damage:", damage);
  std::abort();
}

}  // namespace tessera::test

/// Leaks are looked for by clang 16 with glibc 2.36 only under the first option.
extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0:allocator_may_return_null=1:max_allocation_size_mb=64";
}
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp\n"; }

// AddressSanitizer's operator new ends the process where memory ends, where the standard's throws. Arrays go the same
// way.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, std::size_t(alignment), bytes) == 0) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
