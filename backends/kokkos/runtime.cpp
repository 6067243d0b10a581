// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime.hpp"

#include "context.hpp"
#include "flavour.hpp"
#include "version.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

namespace tessera::kokkos {
namespace {

using plugin::Error;

/// 0 + 1 + ... + (n - 1), summed by the flavour's execution space: kernels that get wrong arguments, as builds of
/// Kokkos and compilers that do not fit produce them, do not find it.
constexpr std::int64_t kProbeNumbers = 4097;

struct Numbers {
  std::int64_t first;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += first + i; }
};

void probe() {
  std::int64_t sum = 0;
  Kokkos::parallel_reduce("tessera", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, kProbeNumbers),
                          Numbers{1}, sum);
  const std::int64_t expected = kProbeNumbers * (kProbeNumbers + 1) / 2;
  if (sum != expected)
    throw Error(TESSERA_BACKEND_UNAVAILABLE, "this build of Kokkos computes wrong sums here (" + std::to_string(sum) +
                                                 " instead of " + std::to_string(expected) +
                                                 "): another version, or another compiler, is needed");
}

/// From atexit().
void finalize() {
  if (runtime_lives() && device_is_well()) outside_parallel_regions([] { Kokkos::finalize(); });
}

void start(int threads) {
  if (!Kokkos::is_initialized()) {
    initialize_kokkos(threads);
    std::atexit(finalize);
  }
  remember_pool();
  probe();
}

}  // namespace

bool runtime_lives() { return Kokkos::is_initialized(); }

void require_runtime(int threads) {
  static auto* mutex = new std::mutex;  // never destroyed: contexts may be made by destructors of static objects
  static auto* failure = new std::string;
  static bool tried = false;
  const std::lock_guard lock(*mutex);
  if (!tried) {
    try {
      outside_parallel_regions([threads] {
        tried = true;
        start(threads);
      });
    } catch (const std::exception& e) {
      if (!tried) throw;
      *failure = std::string("Kokkos: ") + e.what();
    }
  }
  if (!failure->empty()) throw Error(TESSERA_BACKEND_UNAVAILABLE, *failure);
  if (!runtime_lives())
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                "Kokkos has been finalised in this process, and cannot be initialised a second time");
}

}  // namespace tessera::kokkos
