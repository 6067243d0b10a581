// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one way to a kernel. The threads of a pool on the processor are OpenMP's, and so the program's, which may have
/// set their floating-point modes: kernels compute in the default mode.
#pragma once

#include "flavour.hpp"

#if !defined(KOKKOS_ENABLE_CUDA)
#include "team_in_default_mode.hpp"

#include <tessera/plugin/floating_mode.hpp>
#endif

#include <optional>

namespace tessera::kokkos {

#if !defined(KOKKOS_ENABLE_CUDA)
/// A kernel whose calls are so long that each may look at its thread's mode.
template <class Kernel>
class InDefaultMode {
 public:
  explicit InDefaultMode(const Kernel& kernel) : kernel_(kernel) {}
  template <class Member>
  void operator()(const Member& member) const {
    const plugin::DefaultMode mode;
    call(member);
  }

 private:
  template <class Member>
  [[gnu::noinline]] void call(const Member& member) const {
    kernel_(member);
  }
  Kernel kernel_;
};
#endif

/// The kernels of a dispatch. On the processor those of teams look by themselves, since a team has a share of all the
/// work; others are called for each point, so that all threads are asked before the first.
class Launcher {
 public:
  explicit Launcher(const Space& space) : space_(space) {}
  const Space& space() const { return space_; }
  template <class Policy, class Kernel>
  void operator()(const Policy& policy, const Kernel& kernel) const {
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::parallel_for("tessera", policy, kernel);
#else
    if constexpr (requires { policy.team_size(); }) {
      Kokkos::parallel_for("tessera", policy, InDefaultMode<Kernel>(kernel));
    } else {
      if (!modes_) modes_.emplace(space_.concurrency());
      Kokkos::parallel_for("tessera", policy, kernel);
    }
#endif
  }

 private:
  const Space& space_;
#if !defined(KOKKOS_ENABLE_CUDA)
  mutable std::optional<TeamInDefaultMode> modes_;
#endif
};

}  // namespace tessera::kokkos
