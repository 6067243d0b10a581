// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Shared memory of an emulated device, by addresses.
#pragma once

#include "bulk_copy.cuh"

#include <cstdint>

namespace tessera::cuda {

template <class S>
void load_shared(std::uint32_t address, S* to) {
  device().require_aligned(address, 16);
  device().load(to, address, 16);
}
inline void load_shared_words(std::uint32_t address, std::uint32_t (&words)[2]) {
  device().require_aligned(address, 8);
  device().load(words, address, 8);
}
template <class S>
S load_shared_value(std::uint32_t address) {
  S value{};
  device().load(&value, address, sizeof value);
  return value;
}
template <class S>
void store_shared(std::uint32_t to, S value) {
  device().store(to, &value, sizeof value);
}
template <class S>
void store_shared_vector(std::uint32_t to, const S* value) {
  device().require_aligned(to, 16);
  device().store(to, value, 16);
}

}  // namespace tessera::cuda
