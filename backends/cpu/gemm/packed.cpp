// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read copies of both operands: blocks of them, in the order of reading. 16-bit
/// elements become float on the way.

#include "../context.hpp"
#include "panels_plan.hpp"

namespace tessera::cpu {
namespace {

Packing packing_of(const GemmProblem& p) { return {true, true, !holds_sums(p)}; }

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t workspace_limit, plugin::OfferList& offers) {
  offer_panels(machine, p, packing_of(p), given, workspace_limit, offers);
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  return make_panels_plan<ElementTypes>(p, panels_layout(context.machine(), p, packing_of(p), parameters));
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"packed", plugin::supports_all<GemmProblem, Machine>, offer, make, {.narrow = true, .epilogue = true}}, 1};

}  // namespace
}  // namespace tessera::cpu
