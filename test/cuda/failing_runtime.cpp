// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The CUDA runtime's functions as a variant of the plugin calls them (the linker's --wrap): they fail when the program
/// says so, and what they make and take is counted. What only undoes never fails. What waits fails when it has waited.

#include <cuda_runtime_api.h>

#include <type_traits>

/// The program's (test/faults). Weak, since a plugin must not need anything else.
extern "C" {
__attribute__((weak)) bool tessera_test_device_fails();
__attribute__((weak)) void tessera_test_device_objects(int change);
}

namespace {

bool told_to_fail() { return tessera_test_device_fails != nullptr && tessera_test_device_fails(); }

cudaError_t counted(cudaError_t status, int change) {
  if (status == cudaSuccess && tessera_test_device_objects != nullptr) tessera_test_device_objects(change);
  return status;
}

template <class... Parameters>
cudaError_t attempt(cudaError_t (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return told_to_fail() ? cudaErrorMemoryAllocation : real(arguments...);
}

}  // namespace

extern "C" {

decltype(cudaDeviceGetAttribute) __real_cudaDeviceGetAttribute;
decltype(cudaDeviceGetStreamPriorityRange) __real_cudaDeviceGetStreamPriorityRange;
decltype(cudaDriverGetVersion) __real_cudaDriverGetVersion;
cudaError_t __real_cudaEventCreate(cudaEvent_t*);
decltype(cudaEventCreateWithFlags) __real_cudaEventCreateWithFlags;
decltype(cudaEventDestroy) __real_cudaEventDestroy;
decltype(cudaEventElapsedTime) __real_cudaEventElapsedTime;
decltype(cudaEventRecord) __real_cudaEventRecord;
decltype(cudaEventSynchronize) __real_cudaEventSynchronize;
decltype(cudaFree) __real_cudaFree;
decltype(cudaFreeHost) __real_cudaFreeHost;
decltype(cudaFuncGetAttributes) __real_cudaFuncGetAttributes;
decltype(cudaFuncSetAttribute) __real_cudaFuncSetAttribute;
decltype(cudaGetDevice) __real_cudaGetDevice;
decltype(cudaGetDeviceCount) __real_cudaGetDeviceCount;
decltype(cudaGetDeviceProperties) __real_cudaGetDeviceProperties;
decltype(cudaGetDriverEntryPointByVersion) __real_cudaGetDriverEntryPointByVersion;
decltype(cudaLaunchKernelExC) __real_cudaLaunchKernelExC;
decltype(cudaMalloc) __real_cudaMalloc;
decltype(cudaMallocHost) __real_cudaMallocHost;
decltype(cudaMemGetInfo) __real_cudaMemGetInfo;
decltype(cudaMemcpy2DAsync) __real_cudaMemcpy2DAsync;
decltype(cudaMemcpyAsync) __real_cudaMemcpyAsync;
decltype(cudaMemcpyToSymbolAsync) __real_cudaMemcpyToSymbolAsync;
decltype(cudaOccupancyMaxActiveBlocksPerMultiprocessor) __real_cudaOccupancyMaxActiveBlocksPerMultiprocessor;
decltype(cudaOccupancyMaxActiveClusters) __real_cudaOccupancyMaxActiveClusters;
decltype(cudaPointerGetAttributes) __real_cudaPointerGetAttributes;
decltype(cudaSetDevice) __real_cudaSetDevice;
decltype(cudaStreamCreateWithFlags) __real_cudaStreamCreateWithFlags;
decltype(cudaStreamCreateWithPriority) __real_cudaStreamCreateWithPriority;
decltype(cudaStreamDestroy) __real_cudaStreamDestroy;
decltype(cudaStreamIsCapturing) __real_cudaStreamIsCapturing;
decltype(cudaStreamSynchronize) __real_cudaStreamSynchronize;
decltype(cudaStreamWaitEvent) __real_cudaStreamWaitEvent;

cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return attempt(__real_cudaDeviceGetAttribute, value, attribute, device);
}
cudaError_t __wrap_cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return attempt(__real_cudaDeviceGetStreamPriorityRange, least, greatest);
}
cudaError_t __wrap_cudaDriverGetVersion(int* version) { return attempt(__real_cudaDriverGetVersion, version); }
cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) { return counted(attempt(__real_cudaEventCreate, event), 1); }
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return counted(attempt(__real_cudaEventCreateWithFlags, event, flags), 1);
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) { return counted(__real_cudaEventDestroy(event), -1); }
cudaError_t __wrap_cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return attempt(__real_cudaEventElapsedTime, milliseconds, start, end);
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return attempt(__real_cudaEventRecord, event, stream);
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event) {
  const cudaError_t status = __real_cudaEventSynchronize(event);
  return told_to_fail() ? cudaErrorMemoryAllocation : status;
}
cudaError_t __wrap_cudaFree(void* data) { return counted(__real_cudaFree(data), data == nullptr ? 0 : -1); }
cudaError_t __wrap_cudaFreeHost(void* data) { return counted(__real_cudaFreeHost(data), data == nullptr ? 0 : -1); }
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return attempt(__real_cudaFuncGetAttributes, attributes, function);
}
cudaError_t __wrap_cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return attempt(__real_cudaFuncSetAttribute, function, attribute, value);
}
cudaError_t __wrap_cudaGetDevice(int* device) { return attempt(__real_cudaGetDevice, device); }
cudaError_t __wrap_cudaGetDeviceCount(int* count) { return attempt(__real_cudaGetDeviceCount, count); }
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return attempt(__real_cudaGetDeviceProperties, properties, device);
}
cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                    unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return attempt(__real_cudaGetDriverEntryPointByVersion, symbol, function, version, flags, result);
}
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return told_to_fail() ? cudaErrorLaunchOutOfResources : __real_cudaLaunchKernelExC(config, kernel, arguments);
}
cudaError_t __wrap_cudaMalloc(void** data, std::size_t bytes) {
  return counted(attempt(__real_cudaMalloc, data, bytes), 1);
}
cudaError_t __wrap_cudaMallocHost(void** data, std::size_t bytes) {
  return counted(attempt(__real_cudaMallocHost, data, bytes), 1);
}
cudaError_t __wrap_cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return attempt(__real_cudaMemGetInfo, free, total);
}
cudaError_t __wrap_cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source,
                                     std::size_t source_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return attempt(__real_cudaMemcpy2DAsync, target, target_pitch, source, source_pitch, width, height, kind, stream);
}
cudaError_t __wrap_cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return attempt(__real_cudaMemcpyAsync, target, source, bytes, kind, stream);
}
cudaError_t __wrap_cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return attempt(__real_cudaMemcpyToSymbolAsync, symbol, source, bytes, offset, kind, stream);
}
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                                 std::size_t shared_bytes) {
  return attempt(__real_cudaOccupancyMaxActiveBlocksPerMultiprocessor, blocks, kernel, threads, shared_bytes);
}
cudaError_t __wrap_cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* config) {
  return attempt(__real_cudaOccupancyMaxActiveClusters, clusters, kernel, config);
}
cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  return attempt(__real_cudaPointerGetAttributes, attributes, data);
}
cudaError_t __wrap_cudaSetDevice(int device) { return attempt(__real_cudaSetDevice, device); }
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return counted(attempt(__real_cudaStreamCreateWithFlags, stream, flags), 1);
}
cudaError_t __wrap_cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return counted(attempt(__real_cudaStreamCreateWithPriority, stream, flags, priority), 1);
}
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) { return counted(__real_cudaStreamDestroy(stream), -1); }
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return attempt(__real_cudaStreamIsCapturing, stream, status);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t status = __real_cudaStreamSynchronize(stream);
  return told_to_fail() ? cudaErrorMemoryAllocation : status;
}
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return attempt(__real_cudaStreamWaitEvent, stream, event, flags);
}

}  // extern "C"
