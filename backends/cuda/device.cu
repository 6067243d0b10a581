// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "device.hpp"

#include "error.hpp"

#include <deque>
#include <mutex>

namespace tessera::cuda {
namespace {

constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};

#define TESSERA_CUDA_TEXT_(...) #__VA_ARGS__
#define TESSERA_CUDA_TEXT(...) TESSERA_CUDA_TEXT_(__VA_ARGS__)

__global__ void probe_kernel() {}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  TESSERA_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

DeviceProperties read_properties(int device) {
  constexpr double kKilohertz = 1e3;
  return {.major = attribute(cudaDevAttrComputeCapabilityMajor, device),
          .minor = attribute(cudaDevAttrComputeCapabilityMinor, device),
          .multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device),
          .threads_per_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device),
          .shared_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          .shared_per_multiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
          .l2_bytes = attribute(cudaDevAttrL2CacheSize, device),
          .cooperative = attribute(cudaDevAttrCooperativeLaunch, device) != 0,
          .clock_hz = kKilohertz * attribute(cudaDevAttrClockRate, device),
          .memory_clock_hz = kKilohertz * attribute(cudaDevAttrMemoryClockRate, device),
          .memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device)};
}

Machine read_machine(int device) {
  Machine machine = machine_of(read_properties(device));
  machine.device = device;
  if (machine.clusters()) machine.count_clusters = count_clusters;
  return machine;
}

}  // namespace

DeviceGuard::DeviceGuard(int device) {
  TESSERA_CUDA_CHECK(cudaGetDevice(&previous_));
  if (previous_ == device) return;
  TESSERA_CUDA_CHECK(cudaSetDevice(device));
  changed_ = true;
}

DeviceGuard::DeviceGuard(int device, std::nothrow_t) noexcept {
  cudaError_t error = cudaGetDevice(&previous_);
  if (error == cudaSuccess && previous_ != device) {
    error = cudaSetDevice(device);
    changed_ = error == cudaSuccess;
  }
  ignore(error);
}

DeviceGuard::~DeviceGuard() {
  if (changed_) ignore(cudaSetDevice(previous_));
}

int count_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return count;
  if (error == cudaErrorMemoryAllocation) fail(error, "cudaGetDeviceCount(&count)");
  ignore(error);
  std::string reason = "no CUDA device";
  if (error == cudaErrorInsufficientDriver) {  // which says too little
    int driver = 0;
    ignore(cudaDriverGetVersion(&driver));
    const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
    reason = driver == 0 ? "no CUDA driver on this machine"
                         : "the CUDA driver is too old: it knows CUDA " + version(driver) + ", this backend needs " +
                               version(CUDART_VERSION);
  } else if (error != cudaSuccess) {
    reason += std::string(": ") + cudaGetErrorString(error);
  }
  throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE, reason);
}

const Machine& machine(int device) {
  static std::mutex mutex;
  static auto* known = new std::deque<Machine>;  // never destroyed: plans may outlive static objects
  const std::lock_guard lock(mutex);
  for (int next = int(known->size()); next <= device; ++next) known->push_back(read_machine(next));
  return (*known)[std::size_t(device)];
}

std::string why_unusable(int device) {
  const Machine& limits = machine(device);
  int lowest = kArchitectures[0];
  for (const int architecture : kArchitectures) lowest = architecture < lowest ? architecture : lowest;
  if (limits.major * 100 + limits.minor * 10 >= lowest) return {};
  return "device " + std::to_string(device) + " has compute capability " + std::to_string(limits.major) + "." +
         std::to_string(limits.minor) + ", this backend was built for " + std::to_string(lowest / 100) + "." +
         std::to_string(lowest % 100 / 10) + " and later (CMAKE_CUDA_ARCHITECTURES)";
}

void require_kernel_image() {
  cudaFuncAttributes attributes;
  TESSERA_CUDA_CHECK(cudaFuncGetAttributes(&attributes, probe_kernel));
}

const char* compiled_architectures() { return TESSERA_CUDA_TEXT(__CUDA_ARCH_LIST__); }

const char* compiler_version() {
  return TESSERA_CUDA_TEXT(__CUDACC_VER_MAJOR__) "." TESSERA_CUDA_TEXT(__CUDACC_VER_MINOR__) "." TESSERA_CUDA_TEXT(
      __CUDACC_VER_BUILD__);
}

}  // namespace tessera::cuda
