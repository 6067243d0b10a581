// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backend's table, for whichever flavour it is compiled. Its algorithms register themselves.

#include "context.hpp"

#include <string>

namespace tessera::kokkos {
namespace {

struct Backend {
  using Context = kokkos::Context;
  static constexpr const char* kName = TESSERA_BACKEND_NAME;
  static constexpr std::uint32_t kFlags = kOnHost ? TESSERA_BACKEND_ON_HOST : 0;

  static const char* build_info() {
    static const std::string text = "Kokkos " TESSERA_KOKKOS_VERSION ", " + flavour_info();
    return text.c_str();
  }
  /// Kokkos itself is initialised, and tried, by the first context.
  static void require_available() { require_flavour(); }
  static std::vector<plugin::Device> devices() { return flavour_devices(); }

  static Machine machine(int device, int threads) { return {flavour_machine(device, threads)}; }
#if defined(KOKKOS_ENABLE_CUDA)
  static double transfer_seconds(const Machine& machine, const plugin::GemmProblem& p) {
    return machine.host_seconds(p.bytes());
  }
  static double transfer_seconds(const Machine& machine, const plugin::StencilProblem& p) {
    return machine.host_seconds(field_bytes(p));
  }
#endif
};

}  // namespace
}  // namespace tessera::kokkos

TESSERA_DEFINE_BACKEND(tessera::kokkos::Backend)
