// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// prepare(): B of matrix products, laid out once for plans of any number of rows.
#pragma once

#include <tessera/gemm.hpp>

#include <ranges>

namespace tessera {

namespace detail {
template <class B>
PreparedOperand prepare(const Context* context, const GemmDesc& desc, const B& b, PlanOptions options) {
  const DType wanted = desc.dtype_b.value_or(desc.dtype);
  if (kDType<element_of<B>> != wanted)
    throw Error(ErrorCode::invalid_argument, std::string("b is of type ") + name_of(kDType<element_of<B>>) +
                                                 ", the descriptor says " + name_of(wanted) +
                                                 ": set its dtype, or dtype_b where A is of another");
  options = options_for<B>(options);
  if constexpr (std::ranges::contiguous_range<B>) options.operands = Memory::host;
  const tessera_plan_options c = c_options(options);
  const auto translated = OneProduct::translated(desc);
  tessera_prepared* made = nullptr;
  call(tessera_prepare, context == nullptr ? nullptr : context->alive(), &translated.c, &c, OneProduct::data_of(b),
       OneProduct::size_of(b), &made);
  return PreparedOperand(made);
}
}  // namespace detail

/// Lays out B of products once, for plans of any m that read it: packed for the kernels of a processor, as the parts of
/// f32 that tensor cores multiply, or as rows at aligned places, whichever is predicted to be the fastest for desc.m
/// rows. `b` is what GemmPlan::execute takes, and may go then; its type is the descriptor's. The backend is the
/// environment's choice, else the best for this descriptor with host operands. A plan takes the result by
/// PlanOptions::prepared, gemm() in the place of B. See tessera_prepare.
template <detail::Operand B>
PreparedOperand prepare(const GemmDesc& desc, const B& b, const PlanOptions& options = {}) {
  return detail::prepare(nullptr, desc, b, options);
}
/// The same in a context. Device pointers need {.operands = Memory::device}.
template <detail::Operand B>
PreparedOperand prepare(const Context& context, const GemmDesc& desc, const B& b, const PlanOptions& options = {}) {
  return detail::prepare(&context, desc, b, options);
}

/// A product in one call with a prepared B, in its context. The type of B is the descriptor's.
template <detail::Operand A, detail::Operand C, detail::GemmOperand... More>
void gemm(const GemmDesc& desc, Scalar<detail::element_of<C>> alpha, const A& a, const PreparedOperand& b,
          Scalar<detail::element_of<C>> beta, C&& c, More&&... more) {
  detail::OneProduct::prepared(desc, alpha, a, b, beta, c, more...);
}

}  // namespace tessera
