// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A flavour is the execution space for which the plugin is compiled. It takes its memory, copies and streams from the
/// hand-written backend of the same memory, so that both behave alike.
#pragma once

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include "../cuda/context.hpp"
#else
#include "../cpu/context.hpp"
#endif

#include <tessera/plugin/plugin.hpp>

#include <string>
#include <vector>

namespace tessera::kokkos {

using Space = Kokkos::DefaultExecutionSpace;

#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool kOnHost = false;
using MemoryContext = cuda::Context;
/// Data that a plan fills when it is made and kernels read.
using Table = cuda::DeviceTable;
/// Kokkos makes its device current and leaves it so; the caller's comes back when this goes.
struct CallersDevice {
  cuda::DeviceGuard guard{0};
};
#else
inline constexpr bool kOnHost = true;
using MemoryContext = cpu::Context;
struct CallersDevice {};

class Table {
 public:
  Table(MemoryContext&, const void* data, std::uint64_t bytes)
      : bytes_(static_cast<const unsigned char*>(data), static_cast<const unsigned char*>(data) + bytes) {}
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(const_cast<unsigned char*>(bytes_.data()));
  }

 private:
  std::vector<unsigned char> bytes_;
};
#endif

/// Scratch of level 0, 16-byte aligned. What Kokkos returns may be null for all that nvcc knows; told that it is shared
/// memory, nvcc needs no addresses of 64 bits.
template <class T, class Member>
KOKKOS_INLINE_FUNCTION T* near_scratch(const Member& team, std::ptrdiff_t bytes) {
  void* memory = team.team_scratch(0).get_shmem_aligned(bytes, 16);
#if defined(__CUDA_ARCH__)
  memory = __cvta_shared_to_generic(__cvta_generic_to_shared(memory));
#endif
  return static_cast<T*>(memory);
}

// What a flavour adds to Kokkos: flavour_openmp.cpp, flavour_cuda.cpp.

/// "OpenMP, x86-64-v4", after the version of Kokkos in the plugin's build information.
std::string flavour_info();
/// Throws BACKEND_UNAVAILABLE with the reason. Initialises nothing.
void require_flavour();
std::vector<plugin::Device> flavour_devices();
/// What a context on that device with so many CPU threads would have.
MemoryContext::Machine flavour_machine(int device, int threads);
/// False after a fault of the device, or where a fork has left its threads behind: then Kokkos would end the process
/// when it tidies up, or wait for ever.
bool device_is_well();
/// How many threads Kokkos is to be initialised with.
int flavour_threads(const MemoryContext& context);
/// Throws the fault of the device that the next launch would find, where Kokkos would end the process, or says that a
/// fork has left its threads behind, for which Kokkos would wait.
void require_no_pending_fault();
/// Throws where the calling thread cannot gather the threads of an instance.
void require_threads(const Space& space);
/// The execution space instance through which a context's work goes.
Space make_space(MemoryContext& context);

}  // namespace tessera::kokkos
