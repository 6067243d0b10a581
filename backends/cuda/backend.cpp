// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backend: who it is and what it needs. Algorithms register themselves.
#include "context.hpp"
#include "error.hpp"

#include <tessera/plugin/plugin.hpp>

#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

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

  static const Machine& machine(int device, int) { return cuda::machine(device); }

  static double transfer_seconds(const Machine& machine, const plugin::GemmProblem& p) {
    return machine.host_latency + p.bytes() / machine.host_rate;
  }
  static double transfer_seconds(const Machine& machine, const plugin::StencilProblem& p) {
    return machine.host_latency + 2.0 * double(p.points()) * double(plugin::size_of(p.dtype)) / machine.host_rate;
  }
  static double transfer_seconds(const Machine& machine, const plugin::SystemProblem& p) {
    double bytes = 0.0;  // states come back
    for (const auto& field : p.fields)
      bytes += double(field.levels) * (field.state() ? 2.0 : 1.0) * double(field.span(p.extents)) *
               double(plugin::size_of(field.dtype));
    return machine.host_latency + bytes / machine.host_rate;
  }
};

}  // namespace
}  // namespace tessera::cuda

TESSERA_DEFINE_BACKEND(tessera::cuda::Backend)
