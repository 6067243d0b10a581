// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which of the x86-64 instruction set levels (psABI: v2, v3, v4) the processor and the system offer.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::core {

/// The CPUID and XGETBV words that decide the level.
struct CpuidWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t extended1_ecx = 0;
  std::uint64_t xcr0 = 0;
};

/// 1 (baseline), 2, 3 or 4.
int x86_level(const CpuidWords& words);

/// The level of this machine; 0 on other architectures.
int processor_level();

/// 2, 3, 4 for "v2", "v3", "v4"; 0 for "" (runs everywhere).
int variant_level(std::string_view variant);

}  // namespace tessera::core
