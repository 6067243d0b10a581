// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Memory that can be refused. glibc's own names do the work, since dlsym takes memory itself.

#include "call_fails.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

using tessera::test::call_fails;
using tessera::test::Family;

namespace {

std::atomic<std::int64_t> g_live{0};

}  // namespace

std::int64_t tessera::test::live_blocks() { return g_live; }

#if defined(TESSERA_TEST_SANITIZED)

// The sanitizer's malloc stays what it is: of memory, operator new alone fails.
void* operator new(std::size_t bytes) {
  void* const block = call_fails(Family::memory, __builtin_return_address(0)) ? nullptr : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return call_fails(Family::memory, __builtin_return_address(0)) ? nullptr : std::malloc(bytes);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }

#else

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

void* counted(void* block) {
  if (block != nullptr) ++g_live;
  return block;
}

bool refused(const void* caller) {
  if (!call_fails(Family::memory, caller)) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_malloc(bytes));
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_calloc(count, bytes));
}
__attribute__((visibility("default"))) void* realloc(void* old, std::size_t bytes) {
  if (refused(__builtin_return_address(0))) return nullptr;
  void* const block = __libc_realloc(old, bytes);
  if (old == nullptr) return counted(block);
  if (block == nullptr && bytes == 0) --g_live;
  return block;
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, bytes));
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, bytes));
}
__attribute__((visibility("default"))) int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  void* const block = refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, bytes));
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}
__attribute__((visibility("default"))) void free(void* block) {
  if (block != nullptr) --g_live;
  __libc_free(block);
}

}  // extern "C"

#endif
