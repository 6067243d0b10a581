// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Files, libraries and the functions of the backend "faulty", all of which can fail. What only undoes (close,
/// dlclose) never does: no program could tidy up then.

#include "call_fails.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using tessera::test::call_fails;
using tessera::test::Family;

namespace {

std::atomic<std::int64_t> g_objects{0};

/// The next library's function of that name.
template <class Function>
Function* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

bool file_fails(const void* caller, int error) {
  if (!call_fails(Family::files, caller)) return false;
  errno = error;
  return true;
}

mode_t mode_of(int flags, std::va_list more) { return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0; }

}  // namespace

std::int64_t tessera::test::live_device_objects() { return g_objects; }

extern "C" {

__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  if (file_fails(__builtin_return_address(0), EMFILE)) return -1;
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}
__attribute__((visibility("default"))) int openat(int folder, const char* path, int flags, ...) {
  if (file_fails(__builtin_return_address(0), EMFILE)) return -1;
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return next<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}
__attribute__((visibility("default"))) FILE* fopen(const char* path, const char* mode) {
  if (file_fails(__builtin_return_address(0), EMFILE)) return nullptr;
  return next<FILE*(const char*, const char*)>("fopen")(path, mode);
}
__attribute__((visibility("default"))) FILE* fopen64(const char* path, const char* mode) {
  if (file_fails(__builtin_return_address(0), EMFILE)) return nullptr;
  return next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}
__attribute__((visibility("default"))) DIR* opendir(const char* path) {
  if (file_fails(__builtin_return_address(0), EMFILE)) return nullptr;
  return next<DIR*(const char*)>("opendir")(path);
}
__attribute__((visibility("default"))) DIR* fdopendir(int folder) {
  if (file_fails(__builtin_return_address(0), ENOMEM)) return nullptr;
  return next<DIR*(int)>("fdopendir")(folder);
}
__attribute__((visibility("default"))) dirent* readdir(DIR* folder) {
  if (file_fails(__builtin_return_address(0), EIO)) return nullptr;
  return next<dirent*(DIR*)>("readdir")(folder);
}
__attribute__((visibility("default"))) ssize_t read(int file, void* data, std::size_t count) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<ssize_t(int, void*, std::size_t)>("read")(file, data, count);
}
__attribute__((visibility("default"))) ssize_t pread(int file, void* data, std::size_t count, off_t offset) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<ssize_t(int, void*, std::size_t, off_t)>("pread")(file, data, count, offset);
}
__attribute__((visibility("default"))) char* realpath(const char* path, char* resolved) {
  if (file_fails(__builtin_return_address(0), EIO)) return nullptr;
  return next<char*(const char*, char*)>("realpath")(path, resolved);
}
__attribute__((visibility("default"))) ssize_t readlink(const char* path, char* target, std::size_t count) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<ssize_t(const char*, char*, std::size_t)>("readlink")(path, target, count);
}
__attribute__((visibility("default"))) int stat(const char* path, struct stat* status) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<int(const char*, struct stat*)>("stat")(path, status);
}
__attribute__((visibility("default"))) int lstat(const char* path, struct stat* status) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<int(const char*, struct stat*)>("lstat")(path, status);
}
__attribute__((visibility("default"))) int fstat(int file, struct stat* status) {
  if (file_fails(__builtin_return_address(0), EIO)) return -1;
  return next<int(int, struct stat*)>("fstat")(file, status);
}

__attribute__((visibility("default"))) void* dlopen(const char* path, int flags) {
  // A name that is nowhere: dlerror() has something to say then.
  return next<void*(const char*, int)>("dlopen")(
      call_fails(Family::libraries, __builtin_return_address(0)) ? "/nowhere/refused.so" : path, flags);
}

/// Called by faulty.cpp and by the CUDA plugin's variant.
__attribute__((visibility("default"))) bool tessera_test_device_fails() {
  return call_fails(Family::device, __builtin_return_address(0));
}
__attribute__((visibility("default"))) void tessera_test_device_objects(int change) { g_objects += change; }

}  // extern "C"
