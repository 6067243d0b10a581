// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Lives of Kokkos in one process: the plugins' own, and the program's. One scenario a process, since how it ends is
/// what is tested: isolation_test SCENARIO BACKEND... ends with 0 where all is well, 4 where a backend is not
/// available.

#include "required.hpp"

#include <tessera/tessera.hpp>

#if defined(TESSERA_TEST_OWN_KOKKOS)
#include <Kokkos_Core.hpp>
#endif

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSkipped = 4;
constexpr std::int64_t kSize = 67;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// A product and a stencil whose results are known, with all that they need.
class Work {
 public:
  explicit Work(const std::string& backend)
      : context_(backend),
        gemm_(context_, {.m = kSize, .n = kSize, .k = kSize, .dtype = tessera::DType::f64}),
        stencil_(context_, {.extents = {kSize, kSize},
                            .taps = tessera::taps::box(2, 1),
                            .boundary = tessera::Boundary::periodic,
                            .steps = 3,
                            .dtype = tessera::DType::f64}) {}

  void run() {
    std::vector<double> ones(kSize * kSize, 1.0), result(kSize * kSize, -1.0);
    gemm_.execute(1.0, ones.data(), ones.data(), 0.0, result.data());
    for (const double value : result) require(value == double(kSize), "a wrong product");
    stencil_.execute(ones.data(), result.data());
    for (const double value : result) require(std::abs(value - 1.0) < 1e-12, "a wrong stencil");
  }

 private:
  tessera::Context context_;
  tessera::GemmPlan gemm_;
  tessera::StencilPlan stencil_;
};

using Backends = std::vector<std::string>;

int openmp_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

void run_all(const Backends& backends) {
  const int threads = openmp_threads();
  std::vector<std::unique_ptr<Work>> work;
  for (const std::string& backend : backends) work.push_back(std::make_unique<Work>(backend));
  for (int round = 0; round < 3; ++round)
    for (const auto& each : work) each->run();
  require(openmp_threads() == threads, "OpenMP's number of threads is another one now");
}

/// The first context has another number of threads than OpenMP.
void run_with_one_thread(const Backends& backends) {
  setenv("TESSERA_NUM_THREADS", "1", 1);
  require(tessera_reload_environment(nullptr) == TESSERA_OK, "the environment cannot be read");
  run_all(backends);
}

/// Two contexts of each backend on two threads, neither of which is the one that came first.
void run_on_threads(const Backends& backends) {
  std::exception_ptr error[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i)
    threads[i] = std::thread([&, i] {
      try {
        for (int round = 0; round < 5; ++round) run_all(backends);
      } catch (...) {
        error[i] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : error)
    if (each) std::rethrow_exception(each);
}

/// Each thread of the caller's parallel region has a plan of its own.
void run_in_parallel_region(const Backends& backends) {
  std::string wrong;
#pragma omp parallel num_threads(2)
  try {
    run_all(backends);
  } catch (const std::exception& e) {
#pragma omp critical
    wrong = e.what();
  }
  require(wrong.empty(), wrong);
}

/// Never destroyed.
void leave_plans(const Backends& backends) {
  for (const std::string& backend : backends) (new Work(backend))->run();
}

/// Destroyed after main, and, since they were there before Kokkos was, after it is finalised.
std::vector<std::unique_ptr<Work>> kept;

void keep_plans(const Backends& backends) {
  for (const std::string& backend : backends) {
    kept.push_back(std::make_unique<Work>(backend));
    kept.back()->run();
  }
}

/// The registry lists each backend; one that is not available has a reason.
void check_listed(const Backends& backends) {
  std::map<std::string, std::string> reasons;
  for (const tessera::BackendInfo& info : tessera::backends()) reasons[info.name] = info.available ? "" : info.reason;
  for (const std::string& backend : backends) {
    require(reasons.count(backend) == 1, backend + " is not listed");
    try {
      Work(backend).run();
    } catch (const tessera::Error& error) {
      require(error.code() == tessera::ErrorCode::backend_unavailable, error.what());
      require(!reasons[backend].empty(), backend + " gives no reason");
    }
  }
}

#if defined(TESSERA_TEST_OWN_KOKKOS)
/// The program's Kokkos sums 1 + ... + n.
void sum_numbers() {
  constexpr int n = 1000;
  long sum = 0;
  Kokkos::parallel_reduce(
      n, KOKKOS_LAMBDA(int i, long& s) { s += i + 1; }, sum);
  require(sum == long(n) * (n + 1) / 2, "the program's own Kokkos computes a wrong sum");
}

void own_kokkos_first(const Backends& backends) {
  Kokkos::initialize();
  sum_numbers();
  run_all(backends);
  sum_numbers();
  Kokkos::finalize();
}

void own_kokkos_later(const Backends& backends) {
  run_all(backends);
  Kokkos::initialize();
  sum_numbers();
  run_all(backends);
  Kokkos::finalize();
}

void own_kokkos_ends_early(const Backends& backends) {
  Kokkos::initialize();
  std::vector<std::unique_ptr<Work>> work;
  for (const std::string& backend : backends) work.push_back(std::make_unique<Work>(backend));
  sum_numbers();
  Kokkos::finalize();
  for (const auto& each : work) each->run();
  run_all(backends);
}
#endif

const std::map<std::string, std::function<void(const Backends&)>> kScenarios = {
    {"alone", run_all},
    {"one_thread", run_with_one_thread},
    {"threads", run_on_threads},
    {"parallel_region", run_in_parallel_region},
    {"plans_left", leave_plans},
    {"plans_kept", keep_plans},
    {"listed", check_listed},
#if defined(TESSERA_TEST_OWN_KOKKOS)
    {"own_first", own_kokkos_first},
    {"own_later", own_kokkos_later},
    {"own_ends_early", own_kokkos_ends_early},
#endif
};

int run(int count, char** arguments) {
  if (count < 3 || kScenarios.count(arguments[1]) == 0)
    throw std::runtime_error("usage: isolation_test SCENARIO BACKEND...");
  const std::string scenario = arguments[1];
  const Backends backends(arguments + 2, arguments + count);
  if (scenario != "listed")
    for (const tessera::BackendInfo& info : tessera::backends())
      for (const std::string& backend : backends)
        if (info.name == backend && !info.available && !tessera::test::is_required(backend)) {
          std::cout << backend << " is not available: " << info.reason << "\n";
          return kSkipped;
        }
  kScenarios.at(scenario)(backends);
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
