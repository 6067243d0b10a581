// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The floating-point modes of OpenMP's threads, on which Kokkos calls kernels.
#pragma once

#include "../cpu/thread_pool.hpp"

#include <array>
#include <cstdint>

namespace tessera::kokkos {

/// Regions of OpenMP that others open have the program's threads, which may have set their floating-point modes. While
/// this lives so many threads of the calling one's regions compute in the default mode. Costs a region, and another one
/// where a thread had another mode.
class TeamInDefaultMode {
 public:
  explicit TeamInDefaultMode(int threads);
  ~TeamInDefaultMode();
  TeamInDefaultMode(const TeamInDefaultMode&) = delete;
  TeamInDefaultMode& operator=(const TeamInDefaultMode&) = delete;

 private:
  std::array<std::uint64_t, cpu::kMostThreads> before_;  ///< of each thread; not set where all had the default mode
  int threads_;
  bool changed_ = false;
};

}  // namespace tessera::kokkos
