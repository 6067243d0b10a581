// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Floating-point modes of the caller and of OpenMP's threads: the bits are those of the default mode, and everybody
/// keeps the mode that he has. modes_test BACKEND ends with 0 where all is well, 4 where the backend is not available.

#include "child.hpp"
#include "required.hpp"
#include "work.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <omp.h>

namespace {

using namespace tessera::test;
using tessera::Context;

constexpr int kSkipped = 4;

struct Setting {
  const FloatingMode& mode;
  Workload workload;
  std::vector<std::uint64_t> hashes;  ///< in the default mode
  std::string name() const { return std::string(mode.name) + ", " + std::to_string(workload.threads) + " threads"; }
};

/// Everything from the first context on, whose threads are born in that mode, is done in it; then nothing is.
void callers_mode(const Setting& s) {
  Workload workload = s.workload;
  workload.mode = &s.mode;
  const Context context = context_of(workload);
  const Jobs jobs = jobs_of(context, workload);
  require_same(jobs, s.hashes, s.name());
  for (const auto& job : jobs) job->mode = nullptr;
  require_same(jobs, s.hashes, s.name() + ", which is over");
}

/// Sets the mode of OpenMP's threads, but for the calling one.
void set_teams_mode(const Setting& s) {
#pragma omp parallel num_threads(s.workload.threads)
  if (omp_get_thread_num() > 0) s.mode.set();
}

/// The program has set the mode of OpenMP's threads, of which plans may take some.
void teams_mode(const Setting& s) {
  set_teams_mode(s);
  std::vector<std::uint64_t> before(std::size_t(s.workload.threads));
#pragma omp parallel num_threads(s.workload.threads)
  before[std::size_t(omp_get_thread_num())] = floating_mode();
  require_same(jobs_of(context_of(s.workload), s.workload), s.hashes, s.name() + " of OpenMP's");
  std::atomic<int> changed{0};
#pragma omp parallel num_threads(s.workload.threads)
  if (floating_mode() != before[std::size_t(omp_get_thread_num())]) ++changed;
  require(changed == 0, s.name() + ": " + std::to_string(changed) + " of OpenMP's threads have another mode");
}

/// The bits of sums of one-call forms, whose alpha is rounded inside.
std::vector<std::uint32_t> one_call_bits(const Context& context, const FloatingMode* mode, float unit) {
  constexpr std::int64_t kN = 8;
  std::vector<float> a, b, c(kN * kN, unit), out(kN * kN);
  for (int i = 0; i < kN * kN; ++i) a.push_back(float(i % 13 - 6) / 7 * unit), b.push_back(float(i % 11 - 5) / 9);
  const tessera_gemm_desc product = tessera_packed_gemm(TESSERA_F32, kN, kN, kN);
  const tessera_tap taps[] = {{{0, 0, 0}, 1.0 / 3}, {{0, 1, 0}, 0.1}, {{1, 0, 0}, 0.1}};
  const std::int64_t extents[] = {kN, kN};
  const tessera_stencil_desc stencil = tessera_packed_stencil(TESSERA_F32, 2, extents, taps, 3);
  in_mode(mode, [&] {
    tessera::detail::call(tessera_gemm, context.get(), &product, 1.0 / 3, a.data(), b.data(), 0.7, c.data());
    tessera::detail::call(tessera_stencil, context.get(), &stencil, a.data(), out.data());
  });
  c.insert(c.end(), out.begin(), out.end());
  std::vector<std::uint32_t> bits;
  for (const float value : c) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

void one_call(const Setting& s) {
  const Context context = context_of(s.workload);
  const float unit = s.workload.tiny ? 0x1p-137f : 1.0f;
  const auto expected = one_call_bits(context, nullptr, unit);
  tessera::detail::call(tessera_plan_cache_clear);
  require(one_call_bits(context, &s.mode, unit) == expected, s.name() + ": other bits of one-call forms");
}

/// Infinity times 0 is NaN, and no signal.
void no_signals(const std::string& backend) {
  const Context context = context_of({.backend = backend, .threads = 2});
  const std::vector<float> infinities(64, INFINITY), zeros(64);
  std::vector<float> c(64);
  tessera::GemmPlan plan(context, {.m = 8, .n = 8, .k = 8});
  const KeptMode kept;
  feenableexcept(FE_INVALID);
  plan.execute(1.0f, infinities, zeros, 0.0f, c);
  require(std::isnan(c.front()), "infinity times 0 is not NaN");
}

int run(int count, char** arguments) {
  if (count != 2) throw std::runtime_error("usage: modes_test BACKEND");
  const std::string backend = arguments[1];
  if (!is_available(backend) && !is_required(backend)) return kSkipped;
  for (const bool tiny : {false, true})
    for (const int threads : {1, 2}) {  // each has cuts of its own
      const Workload workload{.backend = backend, .threads = threads, .tiny = tiny};
      Hashes hashes;
      in_child("the default mode", [&] { hashes.keep(results(workload)); });
      for (const FloatingMode& mode : floating_modes()) {
        const Setting s{mode, workload, hashes.get()};
        in_child(s.name() + " of the caller", [&] { callers_mode(s); });
        in_child(s.name() + " of OpenMP's", [&] { teams_mode(s); });
        in_child(s.name() + " and one-call forms", [&] { one_call(s); });
      }
    }
  in_child("signals", [&] { no_signals(backend); });
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
