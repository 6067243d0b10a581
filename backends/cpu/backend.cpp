// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The CPU backend's table. Its algorithms register themselves.

#include "context.hpp"
#include "gemm/small.hpp"
#include "machine.hpp"
#include "processor.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/plugin.hpp>

namespace tessera::cpu {
namespace {

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

  static Machine machine(int, int threads) { return machine_here(threads); }
  static constexpr auto small_gemm = cpu::small_gemm;
};

}  // namespace
}  // namespace tessera::cpu

TESSERA_DEFINE_BACKEND(tessera::cpu::Backend)
