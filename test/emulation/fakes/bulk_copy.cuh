// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Barriers and asynchronous copies of an emulated device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

inline emulation::Device& device() { return emulation::Device::instance(); }
inline void barrier_init(std::uint32_t barrier, unsigned count) { device().barrier_init(barrier, int(count)); }
inline void barrier_wait(std::uint32_t barrier, unsigned parity) { device().barrier_wait(barrier, parity); }
inline void barrier_arrive(std::uint32_t barrier) { device().barrier_arrive(barrier); }
inline void barrier_expect(std::uint32_t barrier, unsigned bytes) { device().barrier_arrive(barrier, bytes); }
inline void barriers_ready() {}
inline void fence_for_bulk_copies() {}
inline void copy_bytes(std::uint32_t shared, const void* global, unsigned bytes, std::uint32_t barrier) {
  device().bulk_copy(shared, global, bytes, barrier);
}
template <int kBytes>
void cp_async(std::uint32_t shared, const void* global, bool exists) {
  device().require_aligned(shared, kBytes), device().require_aligned(reinterpret_cast<std::uintptr_t>(global), kBytes);
  if (exists) device().copy(shared, global, kBytes);
}
inline void cp_async_commit() { device().end_group(); }
template <int kGroups>
void cp_async_wait() {
  device().wait_for_copies(kGroups);
}
inline std::uint32_t shared_address(const void*) { return 0; }

}  // namespace tessera::cuda
