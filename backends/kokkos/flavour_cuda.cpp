// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The flavour on an NVIDIA device: the first that the process sees.

#include "../cuda/error.hpp"
#include "flavour.hpp"
#include "version.hpp"

namespace tessera::kokkos {

using plugin::Error;

std::string flavour_info() {
  return std::string("nvcc ") + cuda::compiler_version() + ", architectures " + cuda::compiled_architectures() +
         ", static runtime";
}

void require_flavour() {
  cuda::count_devices();
  if (const std::string why = cuda::why_unusable(kFirstDevice); !why.empty())
    throw Error(TESSERA_BACKEND_UNAVAILABLE, why);
}

std::vector<plugin::Device> flavour_devices() {
  cudaDeviceProp properties;
  TESSERA_CUDA_CHECK(cudaGetDeviceProperties(&properties, kFirstDevice));
  return {{properties.name, properties.totalGlobalMem}};
}

cuda::Machine flavour_machine(int device, int) { return cuda::machine(device); }

bool device_is_well() {
  const cudaError_t error = cudaFree(nullptr);  // does nothing, but tells of faults
  cuda::ignore(error);
  return error == cudaSuccess;
}

int flavour_threads(const MemoryContext&) { return -1; }

void require_no_pending_fault() {
  if (const cudaError_t error = cudaPeekAtLastError(); error != cudaSuccess) cuda::fail(error, "an earlier call");
}

void require_threads(const Space&) {}

Space make_space(MemoryContext& context) { return Kokkos::Cuda(context.stream()); }

}  // namespace tessera::kokkos
