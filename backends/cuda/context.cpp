// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "context.hpp"

#include "error.hpp"
#include "transfer.hpp"

#include <algorithm>
#include <string>

namespace tessera::cuda {
namespace {

/// On the current device.
cudaError_t make_stream(cudaStream_t& stream, bool high_priority) {
  int least = 0, greatest = 0;
  if (high_priority)
    if (const cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest); error != cudaSuccess)
      return error;
  return cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high_priority ? greatest : 0);
}

}  // namespace

Context::Context(const tessera_backend_context_desc& desc) : device_(desc.device), owns_stream_(desc.wrap_stream == 0) {
  if (const std::string why = why_unusable(device_); !why.empty())
    throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE, why);
  machine_ = &cuda::machine(device_);
  const DeviceGuard guard(device_);
  require_kernel_image();
  TESSERA_CUDA_CHECK(cudaStreamCreateWithFlags(&setup_stream_, cudaStreamNonBlocking));
  if (!owns_stream_) {
    stream_ = static_cast<cudaStream_t>(desc.native_stream);
  } else if (const cudaError_t error = make_stream(stream_, desc.high_priority != 0); error != cudaSuccess) {
    ignore(cudaStreamDestroy(setup_stream_));
    fail(error, "a stream of the context");
  }
}

Context::~Context() {
  const DeviceGuard guard(device_, std::nothrow);
  staging_.release();
  for (const cudaEvent_t event : timer_)
    if (event != nullptr) ignore(cudaEventDestroy(event));
  if (reached_ != nullptr) ignore(cudaEventDestroy(reached_));
  ignore(cudaStreamDestroy(setup_stream_));
  if (owns_stream_) ignore(cudaStreamDestroy(stream_));
}

void* Context::allocate(std::uint64_t bytes) {
  const DeviceGuard guard(device_);
  void* data = nullptr;
  if (bytes == 0) return data;
  if (const cudaError_t error = cudaMalloc(&data, bytes); error != cudaSuccess)
    fail_allocation(error, "cudaMalloc", bytes, "device memory");
  return data;
}

void Context::free(void* data) noexcept {
  const DeviceGuard guard(device_, std::nothrow);
  ignore(cudaFree(data));
}

void Context::copy(const tessera_copy& copy) {
  const DeviceGuard guard(device_);
  require_no_capture("a copy between host and device");
  transfer(copy, stream_, staging_);
}

/// Each copy doubles what is there.
void Context::repeat(void* data, std::uint64_t block, std::uint64_t bytes) {
  const DeviceGuard guard(device_);
  auto* const begin = static_cast<unsigned char*>(data);
  for (std::uint64_t filled = block; filled < bytes;) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    TESSERA_CUDA_CHECK(cudaMemcpyAsync(begin + filled, begin, more, cudaMemcpyDeviceToDevice, stream_));
    filled += more;
  }
}

void Context::synchronize() {
  const DeviceGuard guard(device_);
  require_no_capture("synchronize");
  TESSERA_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

void Context::wait_for(Context& earlier) {
  {
    const DeviceGuard guard(earlier.device_);
    if (earlier.reached_ == nullptr)
      TESSERA_CUDA_CHECK(cudaEventCreateWithFlags(&earlier.reached_, cudaEventDisableTiming));
    TESSERA_CUDA_CHECK(cudaEventRecord(earlier.reached_, earlier.stream_));
  }
  const DeviceGuard guard(device_);
  TESSERA_CUDA_CHECK(cudaStreamWaitEvent(stream_, earlier.reached_, 0));
}

void Context::start_timer() {
  const DeviceGuard guard(device_);
  require_no_capture("timing");
  for (cudaEvent_t& event : timer_)
    if (event == nullptr) TESSERA_CUDA_CHECK(cudaEventCreate(&event));
  TESSERA_CUDA_CHECK(cudaEventRecord(timer_[0], stream_));
}

double Context::stop_timer() {
  const DeviceGuard guard(device_);
  TESSERA_CUDA_CHECK(cudaEventRecord(timer_[1], stream_));
  TESSERA_CUDA_CHECK(cudaEventSynchronize(timer_[1]));
  float milliseconds = 0.0f;
  TESSERA_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, timer_[0], timer_[1]));
  return double(milliseconds) * 1e-3;
}

/// Refused before it is tried: a forbidden call would also spoil the caller's capture.
void Context::require_no_capture(const char* what) const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  TESSERA_CUDA_CHECK(cudaStreamIsCapturing(stream_, &status));
  if (status != cudaStreamCaptureStatusNone)
    throw plugin::Error(TESSERA_INVALID_ARGUMENT, std::string(what) +
                                                      " waits for the device and cannot be part of a captured graph; "
                                                      "do it before or after the capture");
}

DeviceTable::DeviceTable(Context& context, const void* data, std::uint64_t bytes)
    : context_(context), data_(context.allocate(bytes)) {
  try {
    const DeviceGuard guard(context.device());
    TESSERA_CUDA_CHECK(cudaMemcpyAsync(data_, data, bytes, cudaMemcpyHostToDevice, context.setup_stream()));
    TESSERA_CUDA_CHECK(cudaStreamSynchronize(context.setup_stream()));
  } catch (...) {
    context.free(data_);
    throw;
  }
}

DeviceTable::~DeviceTable() { context_.free(data_); }

}  // namespace tessera::cuda
