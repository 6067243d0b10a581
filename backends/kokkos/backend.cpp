// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backend's table, for whichever flavour it is compiled.

#include "cost.hpp"
#include "gemm/algorithms.hpp"
#include "stencil/algorithms.hpp"

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

  static std::span<const GemmAlgorithm> gemm_algorithms() {
    static constexpr GemmAlgorithm list[] = {kGemmTeamTiled, kGemmMdrange};
    return list;
  }
  static std::span<const StencilAlgorithm> stencil_algorithms() {
    static constexpr StencilAlgorithm list[] = {kStencilTeamTiled, kStencilMdrange};
    return list;
  }

  static double score(int device, const plugin::GemmProblem& problem, tessera_memory memory, double share) {
    return gemm_score(device, problem, memory, share);
  }
  static double score(int device, const plugin::StencilProblem& problem, tessera_memory memory, double share) {
    return stencil_score(device, problem, memory, share);
  }
};

}  // namespace
}  // namespace tessera::kokkos

TESSERA_DEFINE_BACKEND(tessera::kokkos::Backend)
