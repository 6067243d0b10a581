// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A problem as an algorithm sees it. Products of two types by algorithms that take one are computed from a copy of the
/// narrower operand; a prepared operand is in the algorithm's own form, or a matrix; the gradient of a bias is summed
/// up behind them.
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/bias_gradient.hpp>
#include <tessera/plugin/operand_copy.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace tessera::plugin {

/// What an algorithm computes for a product.
struct SeenProduct {
  GemmProblem problem;
  std::optional<OperandCopy> copy = {};  ///< that each execution makes first

  template <class Context>
  SeenProduct(const Algorithm<Context, GemmProblem>& algorithm, const GemmProblem& given) : problem(given) {
    if (problem.form != nullptr && problem.form->name != algorithm.name) problem.form = nullptr;  // reads the matrix
    if (!problem.mixed() || algorithm.features.mixed) return;
    const OperandCopy wide = OperandCopy::widening(problem);
    problem = wide.copied(std::move(problem));
    const bool own_form = problem.form != nullptr && problem.form->operand == wide.operand;
    if (!own_form) copy = wide;
  }
};

/// A copy of an operand, then the plan for it. The workspace begins with the copy.
template <class Context>
class CopyingPlan final : public Plan {
 public:
  CopyingPlan(Context& context, bool reads, const OperandCopy& copy, std::unique_ptr<Plan> plan)
      : copy_(copy), make_copy_(context.copying(copy)), plan_(std::move(plan)), reads_(reads) {}

  std::uint64_t workspace_bytes() const override { return copy_.bytes() + plan_->workspace_bytes(); }

  void execute(const Execution& e) override {
    auto* const copy = e.template workspace<std::byte>();
    if (reads_ && e.template scalar<double>(0) != 0.0) make_copy_(e.template operand<const void>(copy_.operand), copy);
    tessera_operand operands[6] = {};
    tessera_execution of_copy = e.raw();
    for (std::uint64_t i = 0; i < of_copy.operand_count; ++i) operands[i] = e.raw_operand(int(i));
    operands[copy_.operand].data = copy, operands[copy_.operand].dtype = copy_.to;
    of_copy.operands = operands, of_copy.operand_size = sizeof operands[0];
    of_copy.workspace = copy + copy_.bytes(), of_copy.workspace_bytes -= copy_.bytes();
    plan_->execute(Execution(of_copy));
  }

 private:
  OperandCopy copy_;
  CopyOperand make_copy_;
  std::unique_ptr<Plan> plan_;
  bool reads_;
};

/// Algorithm::why_not of what the algorithm sees.
template <class Context, class Problem>
std::string why_not(const Algorithm<Context, Problem>& algorithm, const Problem& problem,
                    const typename Context::Machine& machine) {
  if constexpr (std::is_same_v<Problem, GemmProblem>) {
    if constexpr (!requires { &Context::summing; })
      if (problem.bias_gradient != TESSERA_BIAS_NONE) return "writes no gradient of a bias";
    if (problem.bias_gradient != TESSERA_BIAS_NONE && problem.multiprocessors > 0)
      return "what sums the gradient of a bias keeps no sm_limit: it must be 0";
    if (problem.form != nullptr && !problem.form->matrix && problem.form->name != algorithm.name)
      return "an operand was prepared as '" + problem.form->text() + "', which " + problem.form->name +
             " alone reads: prepare it for this algorithm";
    const SeenProduct seen(algorithm, problem);
    if (!seen.copy) return algorithm.why_not(seen.problem, machine);
    if constexpr (!requires { &Context::copying; }) return "takes A and B of one type";
    Features features = algorithm.features;
    features.limited = false;  // the copy's kernel knows no limit
    const std::string limit = missing_limit(problem, features);
    if (seen.copy->is_too_large()) return "the copy of an operand in the other's type has more than 2^62 bytes";
    return limit.empty() ? algorithm.why_not(seen.problem, machine) : limit;
  } else {
    return algorithm.why_not(problem, machine);
  }
}

/// Algorithm::offers of the same.
template <class Context, class Problem>
void add_offers(const Algorithm<Context, Problem>& algorithm, const Problem& problem,
                const typename Context::Machine& machine, const GivenParameters& given, std::uint64_t workspace_limit,
                OfferList& offers) {
  if constexpr (std::is_same_v<Problem, GemmProblem> && requires { &Context::copying; }) {
    const SeenProduct seen(algorithm, problem);
    const std::uint64_t bytes = seen.copy ? seen.copy->bytes() : 0;
    OfferList none(true);
    const bool fits = bytes <= workspace_limit;
    // Without room, too, it is asked, as if there were any: what parameters there are.
    constexpr std::uint64_t kAny = INT64_MAX;
    algorithm.offers(seen.problem, machine, given, fits ? workspace_limit - bytes : kAny, fits ? offers : none);
    if (!seen.copy) return;
    const double seconds = Context::copying_seconds(machine, *seen.copy);
    for (Offer& offer : offers.all()) offer.seconds += seconds, offer.workspace_bytes += bytes;
  } else {
    algorithm.offers(problem, machine, given, workspace_limit, offers);
  }
}

/// Algorithm::make of the same.
template <class Context, class Problem>
std::unique_ptr<Plan> make(const Algorithm<Context, Problem>& algorithm, Context& context, const Problem& problem,
                           const Parameters& parameters) {
  if constexpr (std::is_same_v<Problem, GemmProblem>) {
    const SeenProduct seen(algorithm, problem);
    std::unique_ptr<Plan> plan = algorithm.make(context, seen.problem, parameters);
    if constexpr (requires { &Context::copying; })
      if (seen.copy) plan = std::make_unique<CopyingPlan<Context>>(context, problem.k > 0, *seen.copy, std::move(plan));
    if constexpr (requires { &Context::summing; })
      if (problem.bias_gradient != TESSERA_BIAS_NONE)
        plan = std::make_unique<SummingPlan>(context.summing(BiasGradient(problem)), std::move(plan));
    return plan;
  } else {
    return algorithm.make(context, problem, parameters);
  }
}

}  // namespace tessera::plugin
