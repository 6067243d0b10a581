/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A shared library for LD_PRELOAD that makes the n-th call of a family fail; see faults.h. Needs glibc. Functions that
 * only undo (free, unlink, munmap) never fail: no program could tidy up then. */

#define _GNU_SOURCE

#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct tessera_faults* faults;

__attribute__((constructor(101))) static void attach(void) {
  const char* const path = getenv("TESSERA_FAULTS");
  const long file = path == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const block = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, (int)file, 0);
  syscall(SYS_close, file);
  if (block != MAP_FAILED) faults = block;
}

/* Whether this call is hit. Never ends in a call of what it is asked about. */
static bool hit(const char* family, const char* function) {
  if (faults == NULL || faults->at == 0 || (strcmp(faults->what, family) != 0 && strcmp(faults->what, function) != 0))
    return false;
  const uint64_t call = __atomic_add_fetch(&faults->calls, 1, __ATOMIC_SEQ_CST);
  if (call < faults->at || (call > faults->at && faults->mode == TESSERA_FAULT_ONCE)) return false;
  __atomic_add_fetch(&faults->hits, 1, __ATOMIC_SEQ_CST);
  if (faults->mode == TESSERA_FAULT_KILL) syscall(SYS_kill, getpid(), SIGKILL);
  return true;
}

static bool fails(const char* family, const char* function, int error) {
  if (!hit(family, function) || faults->mode == TESSERA_FAULT_SHORT) return false;
  errno = error;
  return true;
}

/* The next library's function of the same name. */
static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

/* ---- memory: glibc's own names, since dlsym itself takes memory */

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return fails("alloc", "malloc", ENOMEM) ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return fails("alloc", "calloc", ENOMEM) ? NULL : __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) { return fails("alloc", "realloc", ENOMEM) ? NULL : __libc_realloc(old, bytes); }
void* memalign(size_t alignment, size_t bytes) {
  return fails("alloc", "memalign", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails("alloc", "aligned_alloc", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, size_t alignment, size_t bytes) {
  void* const found = fails("alloc", "posix_memalign", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
  if (found == NULL) return ENOMEM;
  *result = found;
  return 0;
}

/* ---- files */

static int open_at(int folder, const char* path, int flags, va_list more) {
  const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = (flags & O_CREAT) != 0 || unnamed ? va_arg(more, mode_t) : 0;
  if (unnamed && faults != NULL && faults->no_tmpfile) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return fails("file", "open", EMFILE) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int result = open_at(AT_FDCWD, path, flags, more);
  va_end(more);
  return result;
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int result = open_at(AT_FDCWD, path, flags, more);
  va_end(more);
  return result;
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int result = open_at(folder, path, flags, more);
  va_end(more);
  return result;
}
FILE* fopen(const char* path, const char* mode) {
  FILE* (*const real)(const char*, const char*) = (FILE * (*)(const char*, const char*)) next("fopen");
  return fails("file", "fopen", EMFILE) ? NULL : real(path, mode);
}

/* Bytes that a call may take; 0 where it is interrupted. */
static size_t shortened(const char* function, size_t count) {
  if (faults == NULL || faults->mode != TESSERA_FAULT_SHORT || !hit("file", function)) return count;
  return faults->calls % 2 == 0 ? 0 : (count + 1) / 2;
}
static bool shortens(void) { return faults != NULL && faults->mode == TESSERA_FAULT_SHORT; }

ssize_t read(int file, void* data, size_t count) {
  if (!shortens()) return fails("file", "read", EIO) ? -1 : syscall(SYS_read, file, data, count);
  const size_t most = shortened("read", count);
  if (most > 0 || count == 0) return syscall(SYS_read, file, data, most);
  errno = EINTR;
  return -1;
}
ssize_t write(int file, const void* data, size_t count) {
  if (!shortens()) return fails("file", "write", ENOSPC) ? -1 : syscall(SYS_write, file, data, count);
  const size_t most = shortened("write", count);
  if (most > 0 || count == 0) return syscall(SYS_write, file, data, most);
  errno = EINTR;
  return -1;
}

int close(int file) {
  const bool failing = fails("file", "close", EIO);
  const int result = (int)syscall(SYS_close, file); /* closes in any case, as Linux does */
  if (failing) errno = EIO;
  return failing ? -1 : result;
}
int fsync(int file) { return fails("file", "fsync", EIO) ? -1 : (int)syscall(SYS_fsync, file); }
int ftruncate(int file, off_t size) {
  return fails("file", "ftruncate", EIO) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}
int fchmod(int file, mode_t mode) { return fails("file", "fchmod", EPERM) ? -1 : (int)syscall(SYS_fchmod, file, mode); }
int fchown(int file, uid_t user, gid_t group) {
  return fails("file", "fchown", EPERM) ? -1 : (int)syscall(SYS_fchown, file, user, group);
}
int linkat(int from, const char* old, int to, const char* name, int flags) {
  return fails("file", "linkat", EIO) ? -1 : (int)syscall(SYS_linkat, from, old, to, name, flags);
}
int rename(const char* old, const char* name) {
  return fails("file", "rename", EIO) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, name, 0);
}
ssize_t readlink(const char* path, char* text, size_t size) {
  return fails("file", "readlink", EIO) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, text, size);
}
int access(const char* path, int mode) {
  return fails("file", "access", EIO) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}
int fstat(int file, struct stat* status) {
  int (*const real)(int, struct stat*) = (int (*)(int, struct stat*))next("fstat");
  return fails("file", "fstat", EIO) ? -1 : real(file, status);
}
int stat(const char* path, struct stat* status) {
  int (*const real)(const char*, struct stat*) = (int (*)(const char*, struct stat*))next("stat");
  return fails("file", "stat", EIO) ? -1 : real(path, status);
}
ssize_t getrandom(void* data, size_t count, unsigned flags) {
  return fails("file", "getrandom", EAGAIN) ? -1 : syscall(SYS_getrandom, data, count, flags);
}

/* ---- libraries and threads */

void* dlopen(const char* path, int flags) {
  void* (*const real)(const char*, int) = (void* (*)(const char*, int))next("dlopen");
  return real(fails("dlopen", "dlopen", ENOENT) ? "/nonexistent/a-fault.so" : path, flags); /* so that dlerror speaks */
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  typedef int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return fails("thread", "pthread_create", EAGAIN)
             ? EAGAIN
             : ((create)next("pthread_create"))(thread, attributes, start, argument);
}
