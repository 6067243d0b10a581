// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of cuda that add up D's rows and columns, on an emulated device: whole numbers, whose sums are exact in
// any order, of all parts, alignments and batches, launched twice.
#include <cuda_runtime.h>
#undef __shared__
#define __shared__ static  // blocks run one after the other

#include "../unit/problems.hpp"
#include "random.hpp"

#include <bias_sums.cuh>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

/// Elements at an address that is a multiple of 16 bytes, or `shift` behind one.
template <class T>
T* aligned(std::vector<T>& memory, std::ptrdiff_t shift) {
  const auto rest = std::ptrdiff_t(reinterpret_cast<std::uintptr_t>(memory.data()) % 16 / sizeof(T));
  return memory.data() + (std::ptrdiff_t(16 / sizeof(T)) - rest) + shift;
}

template <class T>
void check_sums(plugin::GemmProblem p, bool vectors, test::Random& random) {
  using S = Scalar<T>;
  const plugin::BiasGradient g(p);
  std::vector<T> memory(std::size_t(g.batch * g.stride_d) + 64 / sizeof(T));
  T* const d = aligned(memory, vectors ? 0 : 1);
  for (std::int64_t i = 0; i < g.batch * g.stride_d; ++i) d[i] = T(float(random.integer(-4, 4)));
  SumLayout<T> layout(g);
  std::vector<double> parts(layout.bytes() / sizeof(double) + 4);
  if (layout.bytes() > 0) layout.place_parts(reinterpret_cast<S*>(aligned(parts, 0)));
  SumArguments<T> x = layout.x;
  const std::int64_t values = g.per_row ? g.m : g.n, vectors_apart = values * g.increment + 3;
  std::vector<S> to(std::size_t(x.vectors * vectors_apart), S(-99));
  std::vector<S> expected = to;
  for (std::int64_t item = 0; item < g.batch; ++item)
    for (std::int64_t i = 0; i < values; ++i) {
      S& sum = expected[std::size_t((g.shared() ? 0 : item) * vectors_apart + i * g.increment)];
      if (!g.shared() || item == 0) sum = 0;
      for (std::int64_t t = 0; t < (g.per_row ? g.n : g.m); ++t)
        sum += S(d[item * g.stride_d + (g.per_row ? i * g.ldd + t : t * g.ldd + i)]);
    }
  x.from = d, x.to = {to.data(), true}, x.vector_stride = vectors_apart;
  x.aligned = vectors && g.ldd % kVectorWidth<T> == 0 && g.stride_d % kVectorWidth<T> == 0;
  CAPTURE(name_of(kDType<T>), g.per_row, g.m, g.n, g.batch, g.shared(), g.ldd, x.parts, x.aligned);
  for (int launch = 0; launch < 2; ++launch) {
    std::fill(to.begin(), to.end(), S(-99));
    const emulation::Schedule schedule{emulation::Schedule::Order(random.integer(0, 2))};
    emulation::Device::instance().run({unsigned(layout.blocks)}, kSumThreads, 0, schedule,
                                      [&] { g.per_row ? sum_rows_kernel<T>(x) : sum_columns_kernel<T>(x); });
    REQUIRE(to == expected);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("sums of D's rows and columns are right for every size and place", "", float, bfloat16) {
  test::Random random("sums");
  constexpr std::int64_t kSizes[][2] = {{1, 1}, {7, 3}, {300, 5}, {64, 130}, {513, 140}, {3, 2000}, {1100, 9}};
  for (const bool per_row : {false, true})
    for (const auto& [m, n] : kSizes)
      for (const std::int64_t batch : {1, 3})
        for (const std::int64_t gap : {0, 3})
          for (const bool vectors : {false, true}) {
            auto p = test::product(tessera_dtype(kDType<TestType>), m, n, 0, batch);
            p.dtype_bias = p.dtype_d;
            p.bias_gradient = per_row ? TESSERA_BIAS_PER_ROW : TESSERA_BIAS_PER_COLUMN;
            p.ldd = n + gap, p.stride_d = m * p.ldd + gap;
            p.bias_increment = 2, p.bias_stride = random.integer(0, 1);
            check_sums<TestType>(p, vectors, random);
          }
}
