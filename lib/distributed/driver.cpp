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

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find_function(library, name));
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

Driver::Driver() {
  void* const library = open_library("libcuda.so.1");
  find(library, "cuStreamGetCtx", stream_context_), find(library, "cuCtxPushCurrent_v2", push_context_);
  find(library, "cuCtxPopCurrent_v2", pop_context_), find(library, "cuCtxGetDevice", device_);
  find(library, "cuDeviceGetUuid_v2", identity_);
  find(library, "cuDeviceTotalMem_v2", total_memory_), find(library, "cuDeviceCanAccessPeer", can_access_);
  find(library, "cuDeviceGetAttribute", device_attribute_);
  find(library, "cuCtxEnablePeerAccess", enable_access_), find(library, "cuPointerGetAttribute", attribute_);
  find(library, "cuMemcpyDtoDAsync_v2", copy_), find(library, "cuMemcpy2DAsync_v2", copy_lines_);
  find(library, "cuEventCreate", create_event_), find(library, "cuEventDestroy_v2", destroy_event_);
  find(library, "cuEventRecord", record_), find(library, "cuStreamWaitEvent", wait_);
}

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

void Driver::check(int status, const char* what) const {
  if (status == 0) return;
  throw Error(TESSERA_DEVICE_ERROR, std::string(what) + ": error " + std::to_string(status) + " of CUDA's driver");
}

void* Driver::device_of(tessera_context* context) const {
  void* device = nullptr;
  if (stream_context_(stream_of(context), &device) != 0)
    throw Error(TESSERA_UNSUPPORTED, "the context's stream is none of CUDA");
  return device;
}

int Driver::number_of(void* device) const {
  const CurrentDevice current(device);
  int number = 0;
  check(device_(&number), "the device's number");
  return number;
}

std::array<unsigned char, 16> Driver::identity_of(void* device) const {
  std::array<unsigned char, 16> identity{};
  check(identity_(identity.data(), number_of(device)), "the device's identity");
  return identity;
}

std::uint64_t Driver::memory_of(void* device) const {
  std::size_t bytes = 0;
  check(total_memory_(&bytes, number_of(device)), "the device's memory");
  return bytes;
}

int Driver::multiprocessors_of(void* device) const {
  int count = 0;
  check(device_attribute_(&count, kMultiprocessors, number_of(device)), "the device's multiprocessors");
  return count;
}

bool Driver::reaches(void* device, void* peer) const {
  if (device == peer) return true;
  int can = 0;
  check(can_access_(&can, number_of(device), number_of(peer)), "the link between devices");
  if (can == 0) return false;
  const CurrentDevice current(device);
  const int status = enable_access_(peer, 0);
  return status == 0 || status == kAlreadyEnabled;
}

bool Driver::is_open(const void* data) const {
  int open = 0;
  return attribute_(&open, kIsPlain, reinterpret_cast<std::uintptr_t>(data)) == 0 && open != 0;
}

void Driver::copy(void* device, void* stream, const Lines& lines) const {
  if (lines.count == 0 || lines.bytes == 0) return;
  const CurrentDevice current(device);
  const auto from = reinterpret_cast<std::uintptr_t>(lines.from), to = reinterpret_cast<std::uintptr_t>(lines.to);
  const bool dense = lines.from_apart == lines.bytes && lines.to_apart == lines.bytes;
  if (dense || lines.count == 1)
    return check(copy_(to, from, lines.count * lines.bytes, stream), "a copy between devices");
  Copy2d copy{};
  copy.from_type = copy.to_type = kDeviceMemory;
  copy.from_device = from, copy.to_device = to;
  copy.from_pitch = lines.from_apart, copy.to_pitch = lines.to_apart;
  copy.width = lines.bytes, copy.height = lines.count;
  check(copy_lines_(&copy, stream), "a copy between devices");
}

CurrentDevice::CurrentDevice(void* device) {
  if (Driver::get().push_context_(device) != 0)
    throw Error(TESSERA_DEVICE_ERROR, "the device cannot be made the current one");
}

CurrentDevice::~CurrentDevice() {
  void* before = nullptr;
  Driver::get().pop_context_(&before);
}

DeviceEvent::DeviceEvent(void* device) : device_(device) {
  const CurrentDevice current(device);
  Driver::get().check(Driver::get().create_event_(&event_, kWithoutTiming), "an event");
}

DeviceEvent::~DeviceEvent() { Driver::get().destroy_event_(event_); }

void DeviceEvent::record(void* stream) {
  const CurrentDevice current(device_);
  Driver::get().check(Driver::get().record_(event_, stream), "an event");
}

void DeviceEvent::hold(void* device, void* stream) const {
  const CurrentDevice current(device);
  Driver::get().check(Driver::get().wait_(stream, event_, 0), "to wait for an event");
}

}  // namespace tessera::distributed
