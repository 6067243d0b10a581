// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backend's table: who it is, what it can do, how fast it guesses to be.
#include "context.hpp"
#include "error.hpp"
#include "gemm/algorithms.hpp"
#include "stencil/algorithms.hpp"
#include "stencil/persistent/persistent.hpp"
#include "stencil/preferred.hpp"
#include "stencil/temporal/temporal.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::GemmProblem;
using plugin::StencilProblem;

// Rates of the algorithms here on an H100, for score().
constexpr double kGemmFlops32 = 50e12;
constexpr double kGemmFlops64 = 50e12;
constexpr double kMemoryRate = 2.8e12;       ///< bytes/s of a stencil sweep, or of a GEMM that is all memory
constexpr double kTapRate = 6e12;            ///< taps of points a second: the limit of long lists
constexpr double kFusedRate = 56e12;         ///< the same in bytes, where several steps share a pass over memory
constexpr double kPersistentRate = 45e12;    ///< the same, where the domain stays in registers,
constexpr double kPersistentStep = 0.25e-6;  ///< with so many seconds a step
constexpr double kLaunchSeconds = 5e-6;
constexpr double kTransferRate = 25e9;  ///< bytes/s between host and device
constexpr double kTransferSeconds = 20e-6;
constexpr double kGemmTile = 32.0;     ///< smallest tile, for the share of the device that is busy
constexpr double kBlocksToFill = 4.0;  ///< blocks a multiprocessor

double executions_per_second(double device_seconds, double host_bytes, tessera_memory memory) {
  const double transfer = memory == TESSERA_MEMORY_HOST ? kTransferSeconds + host_bytes / kTransferRate : 0.0;
  return 1.0 / (device_seconds + transfer);
}

struct Backend {
  static constexpr const char* kName = TESSERA_BACKEND_NAME;
  static constexpr std::uint32_t kFlags = 0;
  using Context = cuda::Context;

  static const char* build_info() {
    static const std::string text =
        std::string("nvcc ") + compiler_version() + ", architectures " + compiled_architectures() + ", static runtime";
    return text.c_str();
  }

  /// At least one device must be usable; a context on another says why that one is not.
  static void require_available() {
    const int count = count_devices();
    std::string reasons;
    for (int device = 0; device < count; ++device) {
      const std::string why = why_unusable(device);
      if (why.empty()) return;
      reasons += (reasons.empty() ? "" : "; ") + why;
    }
    throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE, reasons);
  }

  static std::vector<plugin::Device> devices() {
    std::vector<plugin::Device> list;
    const int count = count_devices();
    for (int device = 0; device < count; ++device) {
      cudaDeviceProp properties;
      TESSERA_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
      list.push_back({properties.name, properties.totalGlobalMem});
    }
    return list;
  }

  static std::span<const GemmAlgorithm> gemm_algorithms() {
    static const std::array list{kGemmMultistage, kGemmPeeled, kGemmSmall, kGemmSkinny, kGemmTiledShared, kGemmNaive};
    return list;
  }

  static std::span<const StencilAlgorithm> stencil_algorithms() {
    static const std::array list{kStencilStreaming,      kStencilTemporal,  kStencilPersistent, kStencilRestrict,
                                 kStencilSharedConstant, kStencilSharedLdg, kStencilNaive};
    return list;
  }

  static std::string_view preferred(int device, const GemmProblem& p) {
    return preferred_gemm(p, device_limits(device));
  }

  static std::string_view preferred(int device, const StencilProblem& p) {
    if (persistent_pays(p) && kStencilPersistent.why_unsupported(p, device).empty()) return kStencilPersistent.name;
    if (temporal_pays(p) && kStencilTemporal.why_unsupported(p, device).empty()) return kStencilTemporal.name;
    for (const std::string_view name : preferred_stencils(p))
      for (const StencilAlgorithm& algorithm : stencil_algorithms())
        if (algorithm.name == name && algorithm.why_unsupported(p, device).empty()) return name;
    return {};
  }

  static double score(int device, const GemmProblem& p, tessera_memory memory, double share) {
    const double blocks = std::ceil(double(p.m) / kGemmTile) * std::ceil(double(p.n) / kGemmTile) * double(p.batch);
    const double busy = std::min(1.0, blocks / (kBlocksToFill * device_limits(device).multiprocessors));
    const double rate = (p.dtype == TESSERA_F64 ? kGemmFlops64 : kGemmFlops32) * std::max(busy, 1e-3);
    const double seconds = std::max(p.flops() / rate, p.bytes() / kMemoryRate) / share;
    return executions_per_second(kLaunchSeconds + seconds, p.bytes(), memory);
  }

  static double score(int device, const StencilProblem& p, tessera_memory memory, double share) {
    const double points = double(p.points()), bytes = 2.0 * points * double(plugin::size_of(p.dtype));
    const double taps = points * double(p.taps.size());
    if (share == 1.0 && preferred(device, p) == kStencilPersistent.name)
      return executions_per_second(
          kLaunchSeconds +
              double(p.steps) * (kPersistentStep + taps * double(plugin::size_of(p.dtype)) / kPersistentRate),
          bytes, memory);
    const double sweep = p.steps > 1 && temporal_pays(p) ? taps * double(plugin::size_of(p.dtype)) / kFusedRate
                                                         : std::max(bytes / kMemoryRate, taps / kTapRate);
    return executions_per_second(double(p.steps) * (kLaunchSeconds + sweep / share), bytes, memory);
  }
};

}  // namespace
}  // namespace tessera::cuda

TESSERA_DEFINE_BACKEND(tessera::cuda::Backend)
