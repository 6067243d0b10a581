// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What lib/distributed needs of CUDA's driver, for the emulated device of test/plugins: each context is a device of
/// its own, and copies are made at once. TESSERA_FAKE_DRIVER = foreign: it knows none of the devices; unlinked: they do
/// not reach each other's memory; shared: nor that, and they are one; pools: their memory is not open to others.
/// TESSERA_FAKE_FAULT = driver:n, the n-th call of those that may fail does.

#include "../../plugins/fake_context.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kUnknownError = 999;  // CUDA_ERROR_UNKNOWN
thread_local void* current = nullptr;

bool is_told(std::string_view what) {
  const char* const value = std::getenv("TESSERA_FAKE_DRIVER");
  return value != nullptr && value == what;
}

int status() {
  try {
    tessera::test::may_fail("driver");
  } catch (const tessera::plugin::Error&) {
    return kUnknownError;
  }
  return 0;
}

/// Of a call on a stream: no context has the default one.
int status_on(const void* stream) { return stream == nullptr ? 400 : status(); }

char* resolve(std::uintptr_t address) { return reinterpret_cast<char*>(address & ~tessera::test::kDeviceBit); }

/// CUDA_MEMCPY2D.
struct Side {
  std::size_t x, y;
  int type;
  const void* host;
  std::uintptr_t device;
  void* array;
  std::size_t pitch;
};
struct Copy {
  Side from, to;
  std::size_t width, height;
};

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT int cuStreamGetCtx(void* stream, void** device) {
  *device = stream;
  return is_told("foreign") ? kUnknownError : 0;
}
EXPORT int cuCtxPushCurrent_v2(void* device) {
  current = device;
  return status();
}
EXPORT int cuCtxPopCurrent_v2(void**) { return 0; }
EXPORT int cuCtxGetDevice(int* number) {
  *number = is_told("shared") ? 0 : int(reinterpret_cast<std::uintptr_t>(current) >> 4 & 0x7fffffff);
  return 0;
}
EXPORT int cuDeviceGetUuid_v2(void* identity, int number) {
  std::memcpy(identity, &number, sizeof number);
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16;  // multiprocessors
  return 0;
}
EXPORT int cuDeviceCanAccessPeer(int* can, int, int) {
  *can = !is_told("unlinked") && !is_told("shared");
  return status();
}
EXPORT int cuCtxEnablePeerAccess(void*, unsigned) { return 704; }
EXPORT int cuPointerGetAttribute(void* value, int attribute, std::uintptr_t) {
  const int open = attribute == 10 && !is_told("pools");
  std::memcpy(value, &open, sizeof open);
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void* stream) {
  if (const int failed = status_on(stream); failed != 0) return failed;
  std::memcpy(resolve(to), resolve(from), bytes);
  return 0;
}
EXPORT int cuMemcpy2DAsync_v2(const Copy* copy, void* stream) {
  if (const int failed = status_on(stream); failed != 0) return failed;
  if (copy->from.type != 2 || copy->to.type != 2 || copy->from.pitch < copy->width || copy->to.pitch < copy->width)
    return 1;
  for (std::size_t line = 0; line < copy->height; ++line)
    std::memcpy(resolve(copy->to.device + line * copy->to.pitch), resolve(copy->from.device + line * copy->from.pitch),
                copy->width);
  return 0;
}
EXPORT int cuEventCreate(void** event, unsigned) {
  if (const int failed = status(); failed != 0) return failed;
  *event = std::malloc(1);
  return 0;
}
EXPORT int cuEventDestroy_v2(void* event) {
  std::free(event);
  return 0;
}
EXPORT int cuEventRecord(void*, void* stream) { return status_on(stream); }
EXPORT int cuStreamWaitEvent(void* stream, void*, unsigned) { return status_on(stream); }

}  // extern "C"
