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
template <int kBytes>
void cp_async(std::uint32_t shared, const void* global, bool exists) {
  if (exists) device().copy(shared, global, kBytes);
}
inline void cp_async_commit() {}
template <int kGroups>
void cp_async_wait() {
  static_assert(kGroups == 0, "of the emulated device all copies are waited for");
  device().wait_for_copies();
}
inline std::uint32_t shared_address(const void*) { return 0; }

}  // namespace tessera::cuda
