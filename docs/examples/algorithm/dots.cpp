// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A product whose elements are dot products of a row of A and a column of B, each thread on a slab of rows of D. A
/// draft: as backends/cpu/gemm/dots.cpp it runs where it is forced. docs/adding-an-algorithm.md.

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "arguments.hpp"

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

template <class T>
class DotsPlan final : public plugin::Plan {
 public:
  DotsPlan(const GemmProblem& problem, int threads) : p_(problem), threads_(threads) {}

  void execute(const plugin::Execution& execution) override {
    const GemmArguments<T> g(p_, execution);
    const std::int64_t rows = p_.batch * p_.m;
    run_team(threads_, [&](const Team& team) {
      for (std::int64_t row = team.begin(rows); row < team.end(rows); ++row) make_row(g, row / p_.m, row % p_.m);
    });
  }

 private:
  void make_row(const GemmArguments<T>& g, std::int64_t item, std::int64_t i) const {
    const T* c = g.c + item * g.stride_c + i * g.ldc;
    T* d = g.d + item * p_.stride_d + i * p_.ldd;
    for (std::int64_t j = 0; j < p_.n; ++j) {
      const T kept = g.beta == T(0) ? T(0) : g.beta * c[j];
      const T value = g.alpha == T(0) || p_.k == 0 ? kept : g.alpha * dot(g, item, i, j) + kept;
      d[j] = g.epilogue ? (*g.epilogue)(item, i, j, value) : value;
    }
  }

  T dot(const GemmArguments<T>& g, std::int64_t item, std::int64_t i, std::int64_t j) const {
    const T* a = g.a + item * p_.stride_a + i * (p_.trans_a ? 1 : p_.lda);
    const T* b = g.b + item * p_.stride_b + j * (p_.trans_b ? p_.ldb : 1);
    const std::int64_t a_step = p_.trans_a ? p_.lda : 1, b_step = p_.trans_b ? 1 : p_.ldb;
    T sum = 0;
    for (std::int64_t l = 0; l < p_.k; ++l) sum += a[l * a_step] * b[l * b_step];
    return sum;
  }

  GemmProblem p_;
  int threads_;
};

void offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
            plugin::OfferList& list) {
  const double alone = 1e-9 * p.flops() / 2.0;  // seconds a multiply-add: a guess
  const std::int64_t threads = given.in_range("threads", machine.useful_threads(alone), 1, kMostThreads);
  list.add({{{"threads", threads}}, machine.overhead(int(threads)) + alone / double(threads)});
}

std::unique_ptr<plugin::Plan> make(Context&, const GemmProblem& problem, const plugin::Parameters& parameters) {
  const auto plan = [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<DotsPlan<T>>(problem, int(parameters.at("threads")));
  };
  return plugin::with_types<WideTypes>(problem.dtype, plan);
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"dots", plugin::supports_all<GemmProblem, Machine>, offers, make, {.epilogue = true, .forced_only = true}}, 90};

}  // namespace
}  // namespace tessera::cpu
