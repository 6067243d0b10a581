// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read copies of both operands: blocks of them, in the order of reading.

#include "../context.hpp"
#include "panels_plan.hpp"

namespace tessera::cpu {
namespace {

constexpr Packing kPacking{true, true};

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t workspace_limit, plugin::OfferList& offers) {
  offer_panels(machine, p, kPacking, given, workspace_limit, offers);
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  return make_panels_plan(p, panels_layout(context.machine(), p, kPacking, parameters));
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"packed", plugin::supports_all<GemmProblem, Machine>, offer, make}, 1};

}  // namespace
}  // namespace tessera::cpu
