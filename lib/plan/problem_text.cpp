// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/problem_text.hpp"

#include "dispatch/environment.hpp"

#include <sched.h>

#include <tessera/version.h>
#include <tessera/boundary.hpp>
#include <tessera/dtype.hpp>
#include <tessera/plugin/epilogue.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <span>

namespace tessera::core {
namespace {

#define TESSERA_TEXT_(x) #x
#define TESSERA_TEXT(x) TESSERA_TEXT_(x)
constexpr const char* kVersion = "tessera " TESSERA_TEXT(TESSERA_VERSION_MAJOR) "." TESSERA_TEXT(
    TESSERA_VERSION_MINOR) "." TESSERA_TEXT(TESSERA_VERSION_PATCH);

/// "3x4x5".
std::string numbers(std::span<const std::int64_t> values) {
  std::string text;
  for (const std::int64_t value : values) text.append(text.empty() ? "" : "x").append(std::to_string(value));
  return text;
}
std::string numbers(std::initializer_list<std::int64_t> values) { return numbers(std::span(values)); }

std::string text_of(const tessera_gemm_desc& d) {
  const std::string b = d.dtype_b == d.dtype ? "" : std::string("*") + name_of(d.dtype_b);
  std::string text = std::string("gemm ") + name_of(d.dtype) + b + "->" + name_of(d.dtype_d) + " " +
                     plugin::name_of_compute(d.compute) + " " + numbers({d.m, d.n, d.k, d.batch}) + " " +
                     (d.trans_a == TESSERA_TRANSPOSE ? "T" : "N") + (d.trans_b == TESSERA_TRANSPOSE ? "T" : "N");
  text += " ld " + numbers({d.lda, d.ldb, d.ldc, d.ldd});
  if (d.batch > 1) text += " stride " + numbers({d.stride_a, d.stride_b, d.stride_c, d.stride_d});
  if (d.bias != TESSERA_BIAS_NONE)
    text += std::string(" bias ") + plugin::name_of_bias(d.bias) + " " + name_of(d.dtype_bias) + " " +
            numbers({d.bias_increment, d.bias_stride});
  if (d.activation != TESSERA_ACTIVATION_NONE) text += std::string(" ") + plugin::name_of_activation(d.activation);
  if (d.aux != TESSERA_AUX_NONE)
    text += std::string(" ") + plugin::name_of_aux(d.aux) + " " + numbers({d.ldaux, d.stride_aux});
  if (d.triangle != TESSERA_TRIANGLE_NONE) text += std::string(" ") + plugin::name_of_triangle(d.triangle);
  if (d.sums != TESSERA_SUMS_ANY) text += d.sums == TESSERA_SUMS_ORDERED ? " ordered" : " ordered by columns";
  if (d.whole_n > 0) text += " of " + std::to_string(d.whole_n);
  return text;
}

/// FNV-1a, of 64 bits.
std::uint64_t hash_of(const std::vector<tessera_tap>& taps) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const tessera_tap& tap : taps) {
    unsigned char bytes[sizeof tap];
    std::memcpy(bytes, &tap, sizeof tap);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  }
  return hash;
}

std::string text_of(const tessera_stencil_desc& d, const std::vector<tessera_tap>& taps) {
  std::string text = std::string("stencil ") + name_of(d.dtype) + " ";
  const auto axes = [&](const std::int64_t* values) { return numbers(std::span(values, std::size_t(d.rank))); };
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of(taps)));
  text += axes(d.extents) + " in " + axes(d.in_strides) + " out " + axes(d.out_strides) + " taps " +
          std::to_string(taps.size()) + ":" + hash + " steps " + std::to_string(d.steps);
  for (int axis = 0; axis < d.rank; ++axis)
    for (int side = 0; side < 2; ++side) text += std::string(" ") + name_of(Boundary(d.boundary[axis][side]));
  if (d.sums == TESSERA_SUMS_ORDERED) text += " ordered";
  return text;
}

/// "cpu-v4 (GCC 12.2) on AMD EPYC".
std::string text_of(Backend& backend, int device) {
  return backend.full_name() + " (" + backend.build_info() + ") on " + backend.devices()[std::size_t(device)].name;
}

/// Those that plans of the context use; where it does not tell, those that it was made for.
int threads_of(Context& context) {
  std::int32_t threads = context.threads();
  if (const auto entry = context.optional(&tessera_backend::threads)) context.call(entry, context.handle(), &threads);
  return threads;
}

/// Processors that the process may run on.
int processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Before there is a context that could tell.
std::string text_of_threads(int threads) {
  if (threads > 0) return ", threads " + std::to_string(threads);
  const std::string omp = environment_omp_threads();
  return ", processors " + std::to_string(processors()) + (omp.empty() ? "" : " by OMP_NUM_THREADS=" + omp);
}

std::string text_of(const PlanLimits& limits, bool on_host) {
  const std::string text = ", workspace " + std::to_string(limits.workspace);
  return limits.multiprocessors == 0 || on_host ? text : text + ", sm_limit " + std::to_string(limits.multiprocessors);
}

}  // namespace

std::string canonical_text(const Problem& problem) {
  if (problem.op != TESSERA_OP_GEMM) return text_of(problem.stencil, problem.taps);
  const std::string text = text_of(problem.gemm);
  if (!problem.prepared) return text;
  return text + " prepared " + problem.operands[problem.prepared->place].name + " " + problem.prepared->form;
}

std::string canonical_text(Context& context, tessera_memory operands, const PlanLimits& limits,
                           const std::string& forced) {
  std::string text = std::string(kVersion) + ", " + text_of(context.backend(), context.device());
  if (context.on_host()) text += ", threads " + std::to_string(threads_of(context));
  text +=
      (operands == TESSERA_MEMORY_HOST ? ", host operands" : ", device operands") + text_of(limits, context.on_host());
  return forced.empty() ? text : text + ", forced " + forced;
}

std::string canonical_text(std::vector<Dispatched> backends, int threads, const PlanLimits& limits) {
  std::sort(backends.begin(), backends.end(),
            [](const Dispatched& a, const Dispatched& b) { return a.backend->full_name() < b.backend->full_name(); });
  std::string text = std::string(kVersion) + ", one of";
  for (const Dispatched& place : backends)
    text += (&place == &backends.front() ? " " : " | ") + text_of(*place.backend, place.device);
  return text + text_of_threads(threads) + ", host operands" + text_of(limits, false);
}

}  // namespace tessera::core
