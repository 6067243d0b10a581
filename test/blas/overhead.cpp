// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What a call through BLAS's interface takes beside an execution of a plan that the program keeps, in nanoseconds:
/// OMP_NUM_THREADS=1 tessera-blas-overhead [SIZE]. Both are timed in turn; the median of many turns is printed.

#include <tessera/tessera.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
}

namespace {

/// Of one call.
template <class Call>
double nanoseconds(Call&& call) {
  constexpr int kCalls = 2000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kCalls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kTurns = 301;
  const int size = argc > 1 ? std::atoi(argv[1]) : 8;
  std::vector<double> a(std::size_t(size) * std::size_t(size), 1.0), b = a, c = a;
  tessera::GemmPlan plan(
      {.m = size, .n = size, .k = size, .dtype = tessera::DType::f64, .order = tessera::Order::column_major});
  const double one = 1.0, zero = 0.0;
  std::vector<double> kept, fortran, in_c;
  for (int turn = 0; turn < kTurns; ++turn) {
    kept.push_back(nanoseconds([&] { plan.execute(1.0, a.data(), b.data(), 0.0, c.data()); }));
    fortran.push_back(nanoseconds([&] {
      dgemm_("N", "N", &size, &size, &size, &one, a.data(), &size, b.data(), &size, &zero, c.data(), &size);
    }));
    in_c.push_back(nanoseconds([&] {
      cblas_dgemm(102, 111, 111, size, size, size, one, a.data(), size, b.data(), size, zero, c.data(), size);
    }));
  }
  std::printf("f64 %d x %d: kept plan %.0f ns, dgemm_ %.0f ns, cblas_dgemm %.0f ns\n", size, size, median(kept),
              median(fortran), median(in_c));
}
