// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read copies of B, and of A where that pays: blocks of them, in the order of reading.
/// 16-bit elements become f32 on the way, or those of bf16 pairs for dot products.

#include "../context.hpp"
#include "panels_plan.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace tessera::cpu {
namespace {

/// Whether op(A) may stay where it is: rows of k that are read in place cost less than a copy of them.
bool may_leave_a(const GemmProblem& p) { return plugin::size_of(p.dtype) != 2; }

Packing packing_of(const GemmProblem& p, bool copy_a, bool pairs) { return {copy_a, true, !holds_sums(p), pairs}; }

/// Whether to copy op(A): 0 and 1, or what is given. 1 alone where neighbours of k are far apart, and with 16
/// registers: a tile of four rows has too few multiply-adds for the addresses of four.
std::vector<std::int64_t> copy_choices(const GemmProblem& p, const Machine& machine,
                                       const plugin::GivenParameters& given) {
  if (!may_leave_a(p)) return {1};
  constexpr std::array<std::int64_t, 2> kChoices{0, 1};
  const bool copies = p.trans_a || machine.instructions.tile_rows < 8;
  return given.in_range("copy_a", std::span(kChoices).subspan(copies ? 1 : 0), 0, 1);
}

/// Whether to compute by dot products: 1 and 0, or what is given.
std::vector<std::int64_t> dot_choices(const GemmProblem& p, const Machine& machine,
                                      const plugin::GivenParameters& given) {
  if (!has_pairs(p)) return {0};
  std::vector<std::int64_t> choices{0};
  if (machine.dot_products) choices.insert(choices.begin(), 1);
  choices = given.in_range("dot", choices, 0, 1);
  if (choices.front() == 1 && !machine.dot_products)
    throw plugin::Error(TESSERA_UNSUPPORTED, std::string("dot = 1: ") +
                                                 (kHasDotProducts ? "the processor lacks AVX512-BF16"
                                                                  : "only the variant for x86-64-v4 has dot products"));
  return choices;
}

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t workspace_limit, plugin::OfferList& offers) {
  for (const std::int64_t dot : dot_choices(p, machine, given))
    for (const std::int64_t copy_a : copy_choices(p, machine, given)) {
      std::vector<plugin::Parameters::Entry> own;
      if (has_pairs(p)) own.push_back({"dot", dot});
      if (may_leave_a(p)) own.push_back({"copy_a", copy_a});
      offer_panels(machine, p, packing_of(p, copy_a != 0, dot != 0), given, own, workspace_limit, offers);
    }
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  const Packing packing =
      packing_of(p, !may_leave_a(p) || parameters.at("copy_a") != 0, has_pairs(p) && parameters.at("dot") != 0);
  return make_panels_plan<ElementTypes>(p, panels_layout(context.machine(), p, packing, parameters));
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"packed", plugin::supports_all<GemmProblem, Machine>, offer, make, {.narrow = true, .epilogue = true}}, 1};

}  // namespace
}  // namespace tessera::cpu
