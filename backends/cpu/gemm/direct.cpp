// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read both operands where they lie. A transposed B is copied block by block, or turned
/// in registers for a few rows.

#include "../context.hpp"
#include "panels_plan.hpp"
#include "tiles.hpp"

namespace tessera::cpu {
namespace {

Packing packing_of(const GemmProblem& p, const Machine& machine) {
  const bool chained = p.ordered || turns_columns(machine, p, p.m);
  return {.a = false, .b = p.trans_b, .sums = chained, .chained = chained};
}

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t workspace_limit, plugin::OfferList& offers) {
  offer_panels(machine, p, packing_of(p, machine), given, {}, workspace_limit, offers);
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  const PanelsLayout layout = panels_layout(context.machine(), p, packing_of(p, context.machine()), parameters);
  return lists_tiles(context.machine(), p, layout) ? make_tiles_plan(p, layout.threads)
                                                   : make_panels_plan<WideTypes>(p, layout);
}

const plugin::Register<Context, GemmProblem> kRegistered{{"direct",
                                                          plugin::supports_all<GemmProblem, Machine>,
                                                          offer,
                                                          make,
                                                          {.epilogue = true, .aux = true, .ordered = true}},
                                                         2};

}  // namespace
}  // namespace tessera::cpu
