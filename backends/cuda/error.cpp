// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "error.hpp"

#include <string>

namespace tessera::cuda {
namespace {

/// Sticky errors: every later call in the process fails with the same code.
bool kills_context(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorContextIsDestroyed:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
#if CUDART_VERSION >= 12080
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
      return true;
    default:
      return false;
  }
}

bool by_capture(cudaError_t error) {
  return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

std::string describe(cudaError_t error, const char* call) {
  return std::string(call) + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error);
}

}  // namespace

void fail(cudaError_t error, const char* call) {
  ignore(error);
  std::string message = describe(error, call);
  if (error == cudaErrorMemoryAllocation) throw plugin::Error(TESSERA_OUT_OF_MEMORY, message);
  if (kills_context(error)) {
    message +=
        "; the process's CUDA context on this device is lost: nothing on it can be used again, the process "
        "has to be started anew (compute-sanitizer finds the kernel at fault)";
    throw plugin::Error(TESSERA_DEVICE_ERROR, message, TESSERA_ERROR_CONTEXT_DEAD);
  }
  if (by_capture(error)) message += "; this cannot be done while the stream is captured: do it before the capture";
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    message += "; build the backend for this device: -DCMAKE_CUDA_ARCHITECTURES=<its compute capability>";
    throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE, message);
  }
  throw plugin::Error(TESSERA_DEVICE_ERROR, message);
}

void fail_allocation(cudaError_t error, const char* call, std::uint64_t bytes, const char* where) {
  if (error != cudaErrorMemoryAllocation) fail(error, call);
  ignore(error);
  std::string message = std::to_string(bytes) + " bytes of " + where + " are not to be had";
  std::size_t free = 0, total = 0;
  if (const cudaError_t asked = cudaMemGetInfo(&free, &total); asked == cudaSuccess)
    message += "; the device has " + std::to_string(total) + " bytes, " + std::to_string(free) + " of them free";
  else
    ignore(asked);
  throw plugin::Error(TESSERA_OUT_OF_MEMORY, message + " (" + describe(error, call) + ")");
}

void ignore(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace tessera::cuda
