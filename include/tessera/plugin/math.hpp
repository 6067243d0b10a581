// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Whole numbers that count parts.
#pragma once

#include <tessera/plugin/host_device.hpp>

#include <concepts>
#include <type_traits>

namespace tessera::plugin {

/// How many parts of `size` hold n: n >= 0, size > 0.
template <std::integral Integer>
TESSERA_HOST_DEVICE constexpr Integer ceil_div(Integer n, std::type_identity_t<Integer> size) {
  return Integer(n / size + (n % size != 0));
}

/// The least multiple of `multiple` that is n or more.
template <std::integral Integer>
TESSERA_HOST_DEVICE constexpr Integer round_up(Integer n, std::type_identity_t<Integer> multiple) {
  return Integer(ceil_div(n, multiple) * multiple);
}

}  // namespace tessera::plugin
