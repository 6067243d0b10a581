// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CPU backend's table: what it is called, what it has, what it would cost.

#include "context.hpp"
#include "cost.hpp"
#include "gemm/algorithms.hpp"
#include "machine.hpp"
#include "stencil/algorithms.hpp"

#include <tessera/plugin/plugin.hpp>

#include <omp.h>

namespace tessera::cpu {
namespace {

using plugin::Algorithm;
using plugin::GemmProblem;
using plugin::StencilProblem;

#if defined(__clang__)
#define TESSERA_CPU_COMPILER "clang " __clang_version__
#else
#define TESSERA_CPU_COMPILER "g++ " __VERSION__
#endif

struct Backend {
  using Context = cpu::Context;
  static constexpr const char* kName = TESSERA_BACKEND_NAME;
  static constexpr std::uint32_t kFlags = TESSERA_BACKEND_ON_HOST;

  static const char* build_info() {
    return TESSERA_CPU_COMPILER ", Eigen " TESSERA_CPU_EIGEN_VERSION ", OpenMP, " TESSERA_CPU_MARCH;
  }
  static void require_available() { watch_forks(); }
  static std::vector<plugin::Device> devices() { return {{processor_name(), memory_bytes()}}; }

  static std::span<const Algorithm<Context, GemmProblem>> gemm_algorithms() {
    static constexpr Algorithm<Context, GemmProblem> list[] = {kGemmPacked, kGemmDirect, kGemmEigen, kGemmReference};
    return list;
  }
  static std::span<const Algorithm<Context, StencilProblem>> stencil_algorithms() {
    static constexpr Algorithm<Context, StencilProblem> list[] = {kStencilRows, kStencilStreaming, kStencilTemporal,
                                                                  kStencilReference};
    return list;
  }
  static std::string_view preferred(int, const GemmProblem& problem) { return preferred_gemm(problem); }
  static std::string_view preferred(int, const StencilProblem& problem) { return preferred_stencil(problem); }

  /// Operands are in host memory whatever the caller calls it: nothing travels.
  static double score(int, const GemmProblem& problem, tessera_memory, double share) {
    const Work work = work_of(problem);
    return share / work.seconds(work.useful_threads(omp_get_max_threads()));
  }
  static double score(int, const StencilProblem& problem, tessera_memory, double share) {
    const Work sweep = work_of_sweep(problem);
    return share / (double(std::max<std::int64_t>(1, problem.steps)) *
                    sweep.seconds(sweep.useful_threads(omp_get_max_threads())));
  }
};

}  // namespace
}  // namespace tessera::cpu

TESSERA_DEFINE_BACKEND(tessera::cpu::Backend)
