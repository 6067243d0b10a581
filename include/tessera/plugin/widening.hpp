// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products of two types by algorithms that take one: the elements of the narrower operand are copied into the type of
/// the other, which has all their values. For that a Context has
///
///     Widen widening(const Widening&);  // for a plan, made with it
///     static double widening_seconds(const Machine&, const Widening&);
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/math.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tessera::plugin {

/// The narrower operand of a product of two types, as it is stored, and its copy, whose rows begin at multiples of 8
/// elements and whose matrices follow one another.
struct Widening {
  int operand;  ///< 0: A, 1: B
  tessera_dtype from, to;
  std::int64_t matrices, rows, columns;  ///< one matrix where all of a batch share it
  std::int64_t ld, stride;               ///< elements from a row, a matrix to the next
  std::int64_t copy_ld, copy_stride;     ///< the same of the copy

  explicit Widening(const GemmProblem& p) : operand(p.wider() == p.dtype ? 1 : 0), to(p.wider()) {
    const bool is_b = operand == 1, trans = is_b ? p.trans_b : p.trans_a;
    from = is_b ? p.dtype_b : p.dtype;
    rows = is_b ? p.k : p.m, columns = is_b ? p.n : p.k;
    if (trans) std::swap(rows, columns);
    ld = is_b ? p.ldb : p.lda, stride = is_b ? p.stride_b : p.stride_a;
    matrices = stride != 0 ? p.batch : (std::min)(p.batch, std::int64_t(1));
    copy_ld = ld, copy_stride = stride;
    if (p.m == 0 || p.n == 0 || p.k == 0) matrices = 0;
    if (matrices == 0) return;  // nothing is copied
    copy_ld = round_up(columns, 8);
    copy_stride = stride == 0 || is_too_large() ? 0 : rows * copy_ld;
  }

  double elements() const { return double(matrices) * double(rows) * double(columns); }

  /// Whether the copy has more than 2^62 bytes.
  bool is_too_large() const { return double(matrices) * double(rows) * double(copy_ld) * double(size_of(to)) > 0x1p62; }
  /// Of the copy, a multiple of 256; more than there is memory where it is too large.
  std::uint64_t bytes() const {
    if (is_too_large()) return (std::numeric_limits<std::uint64_t>::max)();
    return (std::uint64_t(matrices * rows * copy_ld) * size_of(to) + 255) / 256 * 256;
  }

  /// The product with the copy in place of the operand.
  GemmProblem widened(GemmProblem p) const {
    p.dtype = p.dtype_b = to;
    (operand == 1 ? p.ldb : p.lda) = copy_ld;
    (operand == 1 ? p.stride_b : p.stride_a) = copy_stride;
    return p;
  }
};

/// Makes the copy: queues that, or does it on the host. Allocates nothing.
using Widen = std::function<void(const void* from, void* to)>;

/// Whether an algorithm with these features computes the problem from a widened copy.
template <class Problem>
bool is_widened(const Features& features, const Problem& problem) {
  if constexpr (std::is_same_v<Problem, GemmProblem>) return problem.mixed() && !features.mixed;
  return false;
}

/// The copy of the narrower operand, then a plan of one type. The workspace begins with the copy.
template <class Context>
class WidenedPlan final : public Plan {
 public:
  WidenedPlan(Context& context, const GemmProblem& problem, const Widening& widening, std::unique_ptr<Plan> plan)
      : widening_(widening), widen_(context.widening(widening)), plan_(std::move(plan)), reads_(problem.k > 0) {}

  std::uint64_t workspace_bytes() const override { return widening_.bytes() + plan_->workspace_bytes(); }

  void execute(const Execution& e) override {
    auto* const copy = e.template workspace<std::byte>();
    if (reads_ && e.template scalar<double>(0) != 0.0) widen_(e.template operand<const void>(widening_.operand), copy);
    tessera_operand operands[5] = {};
    tessera_execution of_copy = e.raw();
    for (std::uint64_t i = 0; i < of_copy.operand_count; ++i) operands[i] = e.raw_operand(int(i));
    operands[widening_.operand].data = copy, operands[widening_.operand].dtype = widening_.to;
    of_copy.operands = operands, of_copy.operand_size = sizeof operands[0];
    of_copy.workspace = copy + widening_.bytes(), of_copy.workspace_bytes -= widening_.bytes();
    plan_->execute(Execution(of_copy));
  }

 private:
  Widening widening_;
  Widen widen_;
  std::unique_ptr<Plan> plan_;
  bool reads_;
};

/// Algorithm::why_not, where that takes one type of a widened product.
template <class Context, class Problem>
std::string why_not(const Algorithm<Context, Problem>& algorithm, const Problem& problem,
                    const typename Context::Machine& machine) {
  if (!is_widened(algorithm.features, problem)) return algorithm.why_not(problem, machine);
  if constexpr (std::is_same_v<Problem, GemmProblem> && requires { &Context::widening; }) {
    Features features = algorithm.features;
    features.limited = false;  // the copy's kernel knows no limit
    const std::string limit = missing_limit(problem, features);
    const Widening widening(problem);
    if (widening.is_too_large()) return "the copy of an operand in the other's type has more than 2^62 bytes";
    return limit.empty() ? algorithm.why_not(widening.widened(problem), machine) : limit;
  }
  return "takes A and B of one type";
}

/// Algorithm::offers of the same.
template <class Context, class Problem>
void add_offers(const Algorithm<Context, Problem>& algorithm, const Problem& problem,
                const typename Context::Machine& machine, const GivenParameters& given, std::uint64_t workspace_limit,
                OfferList& offers) {
  if (!is_widened(algorithm.features, problem))
    return algorithm.offers(problem, machine, given, workspace_limit, offers);
  if constexpr (std::is_same_v<Problem, GemmProblem> && requires { &Context::widening; }) {
    const Widening widening(problem);
    OfferList none(true);
    const bool fits = widening.bytes() <= workspace_limit;
    // Without room, too, it is asked: what parameters there are.
    algorithm.offers(widening.widened(problem), machine, given, fits ? workspace_limit - widening.bytes() : 0,
                     fits ? offers : none);
    const double seconds = Context::widening_seconds(machine, widening);
    for (Offer& offer : offers.all()) offer.seconds += seconds, offer.workspace_bytes += widening.bytes();
  }
}

/// Algorithm::make of the same.
template <class Context, class Problem>
std::unique_ptr<Plan> make(const Algorithm<Context, Problem>& algorithm, Context& context, const Problem& problem,
                           const Parameters& parameters) {
  if constexpr (std::is_same_v<Problem, GemmProblem> && requires { &Context::widening; })
    if (is_widened(algorithm.features, problem)) {
      const Widening widening(problem);
      return std::make_unique<WidenedPlan<Context>>(context, problem, widening,
                                                    algorithm.make(context, widening.widened(problem), parameters));
    }
  return algorithm.make(context, problem, parameters);
}

}  // namespace tessera::plugin
