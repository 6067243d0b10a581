// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by our own kernels, which read copies of B, and of A where that pays: blocks of them, in the order of reading.
/// 16-bit elements become f32 on the way, or those of bf16 pairs for dot products.

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "panels_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::cpu {
namespace {

/// Whether op(A) may stay where it is: rows of k that are read in place cost less than a copy of them.
bool may_leave_a(const GemmProblem& p) { return plugin::size_of(p.dtype) != 2; }

/// Whether D^T can be computed in place of D: from elements that are read where they lie.
bool may_turn(const GemmProblem& p) { return may_leave_a(p) && holds_sums(p); }

struct Choice {
  bool copy_a, pairs, turned;
};
Packing packing_of(const GemmProblem& p, const Machine& machine, const Choice& choice) {
  const GemmProblem computed = as_computed(p, choice.turned);
  const bool few_columns = choice.turned && turns_columns(machine, computed, computed.m);
  const bool chained = (p.ordered && may_leave_a(p)) || few_columns;
  const std::int64_t panels_k = p.form != nullptr ? std::max<std::int64_t>(p.form->at("block_k"), 1) : 0;
  const bool sums = choice.turned || !holds_sums(p) || chained;
  return {choice.copy_a, true, sums, choice.pairs, choice.turned, chained, panels_k};
}

/// Whether to copy op(A), or where that is turned op(B): 0 and 1, or what is given. 1 alone where neighbours of k are
/// far apart, and with 16 registers: a tile of four rows has too few multiply-adds for the addresses of four.
std::vector<std::int64_t> copy_choices(const GemmProblem& p, const Machine& machine,
                                       const plugin::GivenParameters& given, bool turned) {
  if (!may_leave_a(p)) return {1};
  constexpr std::array<std::int64_t, 2> kChoices{0, 1};
  const bool copies = as_computed(p, turned).trans_a || machine.instructions.tile_rows < 8;
  return given.in_range("copy_a", std::span(kChoices).subspan(copies ? 1 : 0), 0, 1);
}

/// Whether to compute D^T: 0 and 1, or what is given. Few rows of D do not repay the copy of a transposed B, and few
/// columns are computed by turning op(A) in registers.
std::vector<std::int64_t> turn_choices(const GemmProblem& p, const Machine& machine,
                                       const plugin::GivenParameters& given) {
  if (!may_turn(p)) return {0};
  if (p.form != nullptr) {  // B's place is that of what was packed
    const std::int64_t only = p.form->operand == 0 ? 1 : 0;
    return {given.in_range("turned", only, only, only)};
  }
  constexpr std::array<std::int64_t, 2> kChoices{0, 1};
  const bool pays = p.trans_b && p.m < p.n && machine.instructions.tile_rows >= 8;
  const bool few_columns = turns_columns(machine, as_computed(p, true), p.n);
  return given.in_range("turned", std::span(kChoices).first(pays || few_columns ? 2 : 1), 0, 1);
}

/// For ordered sums one of both has to be right for any number of rows.
bool dots_are_faster(const Machine& machine) {
  return machine.costs.gemm.dot_product < 2.0 * machine.costs.gemm.multiply_add;
}

std::int64_t best_dot(const Machine& machine) { return machine.dot_products && dots_are_faster(machine) ? 1 : 0; }

/// Whether to compute by dot products: 1 and 0, or what is given.
std::vector<std::int64_t> dot_choices(const GemmProblem& p, const Machine& machine,
                                      const plugin::GivenParameters& given) {
  if (!has_pairs(p)) return {0};
  std::vector<std::int64_t> choices{0};
  if (machine.dot_products) choices.insert(choices.begin(), 1);
  if (p.ordered || p.form != nullptr) {
    const std::int64_t only = p.form != nullptr ? p.form->at("dot") : best_dot(machine);
    return {given.in_range("dot", only, only, only)};
  }
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
    for (const std::int64_t turned : turn_choices(p, machine, given))
      for (const std::int64_t copy_a : copy_choices(p, machine, given, turned != 0)) {
        std::vector<plugin::Parameters::Entry> own;
        if (has_pairs(p)) own.push_back({"dot", dot});
        if (may_leave_a(p)) own.push_back({"copy_a", copy_a});
        if (may_turn(p)) own.push_back({"turned", turned});
        offer_panels(machine, as_computed(p, turned != 0), packing_of(p, machine, {copy_a != 0, dot != 0, turned != 0}),
                     given, own, workspace_limit, offers);
      }
}

std::unique_ptr<plugin::Plan> make(Context& context, const GemmProblem& p, const plugin::Parameters& parameters) {
  const Packing packing =
      packing_of(p, context.machine(),
                 {!may_leave_a(p) || parameters.at("copy_a") != 0, has_pairs(p) && parameters.at("dot") != 0,
                  may_turn(p) && parameters.at("turned") != 0});
  const GemmProblem computed = as_computed(p, packing.turned);
  std::optional<PanelsForm> form;
  if (p.form != nullptr) form.emplace(context.machine(), computed);
  return make_panels_plan<ElementTypes>(computed, panels_layout(context.machine(), computed, packing, parameters),
                                        form);
}

/// One, which ordered sums can be computed from, too. op(A) becomes the op(B) of the turned product.
std::vector<plugin::Parameters> forms(const GemmProblem& p, const Machine& machine, int operand) {
  if ((operand == 0 && !may_turn(p)) || p.k == 0 || (operand == 0 ? p.m : p.n) == 0) return {};
  const std::int64_t dot = has_pairs(p) ? best_dot(machine) : 0;
  plugin::Parameters form{
      {"block_k", packed_block_k(machine, scalar_bytes(p), p.k, {.a = true, .b = true, .pairs = dot != 0})}};
  if (has_pairs(p)) form.add({"dot", dot});
  return {form};
}

GemmProblem computed_form(const GemmProblem& p) { return as_computed(p, p.form->operand == 0); }

std::uint64_t form_bytes(const GemmProblem& p, const Machine& machine) {
  return PanelsForm(machine, computed_form(p)).bytes(scalar_bytes(p));
}

void write_form(Context& context, const GemmProblem& p, const void* operand, void* target) {
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    using S = Scalar<T>;
    const PanelsForm form(context.machine(), computed_form(p));
    const bool turned = p.form->operand == 0;
    const std::int64_t stride = turned ? p.stride_a : p.stride_b, columns = turned ? p.m : p.n;
    TileProduct<T> product{};
    product.trans_b = turned ? !p.trans_a : p.trans_b, product.ldb = turned ? p.lda : p.ldb;
    auto* const panels = static_cast<S*>(target);
    auto* const exponents = reinterpret_cast<std::int32_t*>(panels + form.matrices * form.matrix);
    const int threads =
        context.machine().useful_threads(double(form.bytes(sizeof(S))) * 2.0 / context.machine().bandwidth(1));
    run_team(threads, [&](const Team& team) {
      for (std::int64_t i = team.begin(form.items()), end = team.end(form.items()); i < end; ++i) {
        const std::int64_t column = i % form.stretches * form.stretch;
        const std::int64_t l = i / form.stretches % form.blocks * form.block_k;
        const std::int64_t matrix = i / form.stretches / form.blocks, k = std::min(form.block_k, p.k - l);
        const std::int64_t count = form.pairs ? (k + 1) / 2 : k, before = form.pairs ? l / 2 : l;
        TileProduct<T> block = product;
        block.b = static_cast<const T*>(operand) + matrix * stride;
        S* const to = panels + matrix * form.matrix + form.columns * before + column * count;
        const std::int64_t width = std::min(form.stretch, columns - column);
        if constexpr (kHasDotProducts && std::is_same_v<T, bfloat16>)
          if (form.pairs) {
            exponents[i] = pack_pair_columns(block, l, column, width, k, to);
            continue;
          }
        pack_columns(block, l, column, width, k, to);
      }
    });
  });
}

constexpr plugin::Preparation<Context> kPreparation{false, forms, form_bytes, write_form};

const plugin::Register<Context, GemmProblem> kRegistered{
    {"packed",
     plugin::supports_all<GemmProblem, Machine>,
     offer,
     make,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true},
     &kPreparation},
    1};

}  // namespace
}  // namespace tessera::cpu
