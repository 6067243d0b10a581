// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver.hpp"

#include <dlfcn.h>

#include <string>

namespace tessera::distributed {
namespace {

/// CUDA_MEMCPY2D of cuda.h.
struct Copy2d {
  std::size_t from_x, from_y;
  int from_type;
  const void* from_host;
  std::uintptr_t from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_type;
  void* to_host;
  std::uintptr_t to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};
constexpr int kDeviceMemory = 2;           // CU_MEMORYTYPE_DEVICE
constexpr int kMultiprocessors = 16;       // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int kIsPlain = 10;               // CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
constexpr int kAlreadyEnabled = 704;       // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
constexpr unsigned kWithoutTiming = 0x02;  // CU_EVENT_DISABLE_TIMING

/// By name and as cuda.h declares it.
struct Library {
  int (*stream_context)(void*, void**);
  int (*push_context)(void*);
  int (*pop_context)(void**);
  int (*device)(int*);
  int (*identity)(void*, int);
  int (*total_memory)(std::size_t*, int);
  int (*device_attribute)(int*, int, int);
  int (*can_access)(int*, int, int);
  int (*enable_access)(void*, unsigned);
  int (*attribute)(void*, int, std::uintptr_t);
  int (*copy)(std::uintptr_t, std::uintptr_t, std::size_t, void*);
  int (*copy_lines)(const void*, void*);
  int (*create_event)(void**, unsigned);
  int (*destroy_event)(void*);
  int (*record)(void*, void*);
  int (*wait)(void*, void*, unsigned);

  Library() {
    void* const cuda = open_library("libcuda.so.1");
    find(cuda, "cuStreamGetCtx", stream_context), find(cuda, "cuCtxPushCurrent_v2", push_context);
    find(cuda, "cuCtxPopCurrent_v2", pop_context), find(cuda, "cuCtxGetDevice", device);
    find(cuda, "cuDeviceGetUuid_v2", identity), find(cuda, "cuDeviceTotalMem_v2", total_memory);
    find(cuda, "cuDeviceCanAccessPeer", can_access), find(cuda, "cuDeviceGetAttribute", device_attribute);
    find(cuda, "cuCtxEnablePeerAccess", enable_access), find(cuda, "cuPointerGetAttribute", attribute);
    find(cuda, "cuMemcpyDtoDAsync_v2", copy), find(cuda, "cuMemcpy2DAsync_v2", copy_lines);
    find(cuda, "cuEventCreate", create_event), find(cuda, "cuEventDestroy_v2", destroy_event);
    find(cuda, "cuEventRecord", record), find(cuda, "cuStreamWaitEvent", wait);
  }
};

/// Loaded once.
const Library& cuda() {
  static const Library library;
  return library;
}

void check(int status, const char* what) {
  if (status == 0) return;
  throw Error(TESSERA_DEVICE_ERROR, std::string(what) + ": error " + std::to_string(status) + " of CUDA's driver");
}

/// A device's number in this process.
int number_of(void* device) {
  const driver::Current current(device);
  int number = 0;
  check(cuda().device(&number), "the device's number");
  return number;
}

}  // namespace

void* open_library(const char* name) {
  if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  throw Error(TESSERA_UNSUPPORTED, dlerror());
}

void* find_function(void* library, const char* name) {
  if (void* const function = dlsym(library, name)) return function;
  throw Error(TESSERA_UNSUPPORTED, std::string("there is no ") + name);
}

namespace driver {

void* device_of(tessera_context* context) {
  void* device = nullptr;
  if (cuda().stream_context(stream_of(context), &device) != 0)
    throw Error(TESSERA_UNSUPPORTED, "the context's stream is none of CUDA");
  return device;
}

std::array<unsigned char, 16> identity_of(void* device) {
  std::array<unsigned char, 16> identity{};
  check(cuda().identity(identity.data(), number_of(device)), "the device's identity");
  return identity;
}

std::uint64_t memory_of(void* device) {
  std::size_t bytes = 0;
  check(cuda().total_memory(&bytes, number_of(device)), "the device's memory");
  return bytes;
}

int multiprocessors_of(void* device) {
  int count = 0;
  check(cuda().device_attribute(&count, kMultiprocessors, number_of(device)), "the device's multiprocessors");
  return count;
}

bool reaches(void* device, void* peer) {
  if (device == peer) return true;
  int can = 0;
  check(cuda().can_access(&can, number_of(device), number_of(peer)), "the link between devices");
  if (can == 0) return false;
  const Current current(device);
  const int status = cuda().enable_access(peer, 0);
  return status == 0 || status == kAlreadyEnabled;
}

bool is_open(const void* data) {
  int open = 0;
  return cuda().attribute(&open, kIsPlain, reinterpret_cast<std::uintptr_t>(data)) == 0 && open != 0;
}

void copy(void* device, void* stream, const Lines& lines) {
  if (lines.count == 0 || lines.bytes == 0) return;
  const Current current(device);
  const auto from = reinterpret_cast<std::uintptr_t>(lines.from), to = reinterpret_cast<std::uintptr_t>(lines.to);
  const bool dense = lines.from_apart == lines.bytes && lines.to_apart == lines.bytes;
  if (dense || lines.count == 1)
    return check(cuda().copy(to, from, lines.count * lines.bytes, stream), "a copy between devices");
  Copy2d c{};
  c.from_type = c.to_type = kDeviceMemory;
  c.from_device = from, c.to_device = to;
  c.from_pitch = lines.from_apart, c.to_pitch = lines.to_apart;
  c.width = lines.bytes, c.height = lines.count;
  check(cuda().copy_lines(&c, stream), "a copy between devices");
}

Current::Current(void* device) {
  if (cuda().push_context(device) != 0) throw Error(TESSERA_DEVICE_ERROR, "the device cannot be made the current one");
}

Current::~Current() {
  void* before = nullptr;
  cuda().pop_context(&before);
}

Event::Event(void* device) : device_(device) {
  const Current current(device);
  check(cuda().create_event(&event_, kWithoutTiming), "an event");
}

Event::~Event() { cuda().destroy_event(event_); }

void Event::record(void* stream) {
  const Current current(device_);
  check(cuda().record(event_, stream), "an event");
}

void Event::hold(void* device, void* stream) const {
  const Current current(device);
  check(cuda().wait(stream, event_, 0), "to wait for an event");
}

}  // namespace driver
}  // namespace tessera::distributed
