// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products a little larger than whole tiles (4097 = 32 x 128 + 1): the rows and columns left over are products of
/// their own, which read a matrix once, instead of a row and a column of nearly empty tiles.
#include "peeled.hpp"

#include "offers.hpp"
#include "parts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

class PeeledPlan final : public plugin::Plan {
 public:
  PeeledPlan(Context& context, const plugin::GemmProblem& problem, std::vector<PeeledPart> parts)
      : problem_(problem), workspace_bytes_(peeled_workspace(parts)) {
    for (PeeledPart& part : parts) {
      auto plan = (part.skinny ? make_skinny : make_multistage)(context, part.problem, part.offer.parameters);
      parts_.push_back({part.first_row, part.first_column, std::move(plan)});
    }
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    for (const Part& part : parts_) execute(part, e);
  }

 private:
  struct Part {
    std::int64_t first_row, first_column;
    std::unique_ptr<plugin::Plan> plan;
  };

  void execute(const Part& part, const plugin::Execution& e) const {
    const auto& p = problem_;
    const std::int64_t i = part.first_row, j = part.first_column;
    const bool per_row = p.bias == TESSERA_BIAS_PER_ROW;
    const auto operand = [&](int number, tessera_dtype dtype, std::int64_t element) {
      auto* const data = e.operand<std::byte>(number);  // null where it is not read
      return tessera_operand{data == nullptr ? data : data + element * std::int64_t(plugin::size_of(dtype)), dtype, 0};
    };
    tessera_operand operands[6] = {operand(0, p.dtype, i * (p.trans_a ? 1 : p.lda)),
                                   operand(1, p.dtype, j * (p.trans_b ? p.ldb : 1)),
                                   operand(2, p.dtype_d, i * p.ldc + j), operand(3, p.dtype_d, i * p.ldd + j)};
    if (p.bias != TESSERA_BIAS_NONE) operands[4] = operand(4, p.dtype_bias, (per_row ? i : j) * p.bias_increment);
    if (const int aux = p.aux_operand(); p.aux != TESSERA_AUX_NONE)
      operands[aux] = operand(aux, p.dtype_d, i * p.ldaux + j);
    const tessera_scalar scalars[] = {{p.dtype, 0, e.scalar<double>(0), 0.0}, {p.dtype, 0, e.scalar<double>(1), 0.0}};
    const tessera_execution execution{
        sizeof execution,  operands,           sizeof operands[0],  std::size(operands),          scalars,
        sizeof scalars[0], std::size(scalars), e.workspace<void>(), part.plan->workspace_bytes(), 0};
    part.plan->execute(plugin::Execution(execution));
  }

  plugin::GemmProblem problem_;
  std::uint64_t workspace_bytes_;
  std::vector<Part> parts_;
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem,
                                   const plugin::Parameters& parameters) {
  const Peel peel{parameters.at("rows"), parameters.at("columns")};
  const auto workspace = std::uint64_t(parameters.at("workspace"));
  plugin::GemmProblem permitted = problem;
  if (multistage_arithmetic(problem).size() > 1) permitted.compute = tessera_compute(parameters.at("compute"));
  return std::make_unique<PeeledPlan>(context, permitted, peeled_parts(permitted, context.machine(), peel, workspace));
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"peeled", peeled_why_unsupported, peeled_offers, make, {.narrow = true, .epilogue = true, .aux = true}}, 1};

}  // namespace
}  // namespace tessera::cuda
