// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil by its definition, each thread on a slab of rows. As backends/cpu/stencil/slabs.cpp this file is all
/// the code that it takes, and it runs where it is forced: docs/adding-an-algorithm.md.

#include "../context.hpp"
#include "../thread_pool.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

using plugin::Index3;
using plugin::StencilProblem;

template <class T>
class SlabsPlan final : public plugin::Plan {
 public:
  SlabsPlan(const StencilProblem& problem, int threads) : p_(problem), threads_(threads) {}

  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    run_steps(threads_, p_.steps, [&](const Team& team, std::int64_t step) {
      const auto [in, from, out, to] = plugin::sweep_arrays(p_, execution.operand<const T>(0), execution.operand<T>(1),
                                                            execution.workspace<T>(), step);
      sweep(team, in, from, out, to);
    });
  }

 private:
  /// The team shares the rows of all planes. Axes 0 and 1 have extent 1 where the caller has fewer axes.
  void sweep(const Team& team, const T* in, const Index3& from, T* out, const Index3& to) const {
    const auto& n = p_.domain.extents;
    const std::int64_t rows = n[0] * n[1];
    for (std::int64_t row = team.begin(rows); row < team.end(rows); ++row)
      for (std::int64_t i = row / n[1], j = row % n[1], l = 0; l < n[2]; ++l)
        out[i * to[0] + j * to[1] + l * to[2]] = point(in, from, i, j, l);
  }

  T point(const T* in, const Index3& strides, std::int64_t i, std::int64_t j, std::int64_t l) const {
    if (p_.domain.frozen(i, j, l)) return in[i * strides[0] + j * strides[1] + l * strides[2]];
    T sum = 0;
    for (const auto& [offset, coefficient] : p_.taps) {
      const plugin::Sample s = p_.domain.sample(i + offset[0], j + offset[1], l + offset[2]);
      const std::int64_t at = s.index[0] * strides[0] + s.index[1] * strides[1] + s.index[2] * strides[2];
      sum += T(coefficient) * (s.constant ? T(s.value) : in[at]);
    }
    return sum;
  }

  StencilProblem p_;
  int threads_;
};

void offers(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
            plugin::OfferList& list) {
  constexpr double kTap = 4e-9;  // seconds a tap: measured
  const double points = double(p.steps) * double(p.points());
  const double alone = kTap * points * double(p.taps.size());
  const std::int64_t threads = given.in_range("threads", machine.useful_threads(alone), 1, kMostThreads);
  const double sums = alone * machine.slowdown(int(threads)) / double(threads);
  // Of each point an element is read, one of the result fetched and written.
  const double bytes = 3.0 * points * double(size_of(p.dtype));
  const double memory = bytes / (double(threads) * machine.bandwidth(int(threads)));
  list.add({{{"threads", threads}}, machine.overhead(int(threads)) + std::max(sums, memory), p.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context&, const StencilProblem& problem, const plugin::Parameters& parameters) {
  const auto plan = [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SlabsPlan<T>>(problem, int(parameters.at("threads")));
  };
  return plugin::with_types<WideTypes>(problem.dtype, plan);
}

const plugin::Register<Context, StencilProblem> kRegistered{
    {"slabs", plugin::supports_all<StencilProblem, Machine>, offers, make, {.forced_only = true}}, 90};

}  // namespace
}  // namespace tessera::cpu
