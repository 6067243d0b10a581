// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Shared memory of an emulated device.
#pragma once

#include "../bulk_copy.cuh"

#include <cstdint>

namespace tessera::cuda::detail {

template <class T>
void load_shared(T& value, std::uint32_t from) {
  device().load(&value, from, sizeof value);
}
template <class T>
void store_shared(std::uint32_t to, const T& value) {
  device().store(to, &value, sizeof value);
}
template <class T, std::size_t kCount>
void store_streaming(T* to, const T (&values)[kCount]) {
  std::copy_n(values, kCount, to);
}

}  // namespace tessera::cuda::detail
