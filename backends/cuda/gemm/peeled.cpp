// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products a little larger than whole tiles (4097 = 32 x 128 + 1): the rows and columns left over are products of
/// their own, which read a matrix once, instead of a row and a column of nearly empty tiles.
#include "peeled.hpp"

#include "algorithms.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

MultistageDevice device_of(const DeviceLimits& limits) {
  return {limits.multiprocessors, limits.shared_per_block, limits.major >= 9};
}

/// A block of C: its own product, of some rows of op(A) and some columns of op(B).
struct Part {
  std::int64_t first_row, first_column;
  std::unique_ptr<plugin::Plan> plan;
};

class PeeledPlan final : public plugin::Plan {
 public:
  PeeledPlan(Context& context, const plugin::GemmProblem& problem, std::uint64_t workspace_limit, const Peel& peel)
      : problem_(problem) {
    const std::int64_t m = problem.m - peel.rows, n = problem.n - peel.columns;
    add(context, workspace_limit, kGemmMultistage, 0, 0, m, n);
    if (peel.rows > 0) add_edge(context, workspace_limit, m, 0, peel.rows, problem.n);
    if (peel.columns > 0) add_edge(context, workspace_limit, 0, n, m, peel.columns);
  }

  /// One part after the other uses it.
  std::uint64_t workspace_bytes() const override {
    std::uint64_t most = 0;
    for (const Part& part : parts_) most = std::max(most, part.plan->workspace_bytes());
    return most;
  }

  void execute(const plugin::Execution& e) override {
    for (const Part& part : parts_) execute(part, e);
  }

 private:
  plugin::GemmProblem problem_of(std::int64_t m, std::int64_t n) const {
    plugin::GemmProblem part = problem_;
    part.m = m, part.n = n;
    return part;
  }

  void add(Context& context, std::uint64_t workspace_limit, const GemmAlgorithm& algorithm, std::int64_t first_row,
           std::int64_t first_column, std::int64_t m, std::int64_t n) {
    plugin::Parameters automatic;
    parts_.push_back(
        {first_row, first_column, algorithm.make(context, problem_of(m, n), {automatic, workspace_limit})});
  }

  void add_edge(Context& context, std::uint64_t workspace_limit, std::int64_t first_row, std::int64_t first_column,
                std::int64_t m, std::int64_t n) {
    const bool skinny = preferred_unpeeled_gemm(problem_of(m, n)) == kGemmSkinny.name;
    add(context, workspace_limit, skinny ? kGemmSkinny : kGemmMultistage, first_row, first_column, m, n);
  }

  void execute(const Part& part, const plugin::Execution& e) const {
    const auto& p = problem_;
    const auto operand = [&](int number, std::int64_t element) {
      std::byte* const data = e.operand<std::byte>(number) + element * std::int64_t(plugin::size_of(p.dtype));
      return tessera_operand{data, p.dtype, 0};
    };
    const tessera_operand operands[] = {operand(0, part.first_row * (p.trans_a ? 1 : p.lda)),
                                        operand(1, part.first_column * (p.trans_b ? p.ldb : 1)),
                                        operand(2, part.first_row * p.ldc + part.first_column)};
    const tessera_scalar scalars[] = {{p.dtype, 0, e.scalar<double>(0), 0.0}, {p.dtype, 0, e.scalar<double>(1), 0.0}};
    const tessera_execution execution{
        sizeof execution,  operands,           sizeof operands[0],  std::size(operands),         scalars,
        sizeof scalars[0], std::size(scalars), e.workspace<void>(), part.plan->workspace_bytes()};
    part.plan->execute(plugin::Execution(execution));
  }

  plugin::GemmProblem problem_;
  std::vector<Part> parts_;
};

std::string why_unsupported(const plugin::GemmProblem& p, int device) {
  return kGemmMultistage.why_unsupported(p, device);
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p, plugin::PlanOptions options) {
  const Peel automatic = choose_peel(p, device_of(context.limits()));
  const auto take = [&](const char* name, std::int64_t value, std::int64_t extent) {
    const std::int64_t most = std::clamp(extent - 1, std::int64_t(0), kMostPeeled);
    return options.parameters.take(name, value, 0, most);
  };
  const std::int64_t rows = take("rows", automatic.rows, p.m), columns = take("columns", automatic.columns, p.n);
  return std::make_unique<PeeledPlan>(context, p, options.workspace_limit, Peel{rows, columns});
}

}  // namespace

const GemmAlgorithm kGemmPeeled{"peeled", why_unsupported, make, 0.76};

bool peeling_pays(const plugin::GemmProblem& p, const DeviceLimits& limits) {
  const Peel peel = choose_peel(p, device_of(limits));
  return peel.rows > 0 || peel.columns > 0;
}

}  // namespace tessera::cuda
