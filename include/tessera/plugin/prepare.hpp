// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Operands of products that are prepared once: in which form, and how that is written.
#pragma once

#include <tessera/plugin/operands.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace tessera::plugin {

/// The algorithm whose form it is; null: none's.
template <class Context>
const Algorithm<Context, GemmProblem>* owner_of(const Form& form) {
  for (const auto& algorithm : Register<Context, GemmProblem>::all())
    if (algorithm.preparation != nullptr && form.name == algorithm.name) return &algorithm;
  if (form.name == Form::kMatrix) return nullptr;
  throw Error(TESSERA_INTERNAL, "form '" + form.text() + "' is not known to this backend");
}

/// The operand as a matrix in a form.
inline OperandCopy matrix_of(const GemmProblem& problem, const Form& form) {
  return {problem, form.operand, form.operand == 0 ? problem.dtype : problem.dtype_b};
}

/// The problem with an operand that was prepared.
template <class Context>
GemmProblem with_form(GemmProblem problem, Form form) {
  const auto* const owner = owner_of<Context>(form);
  form.matrix = owner == nullptr || owner->preparation->matrix;
  if (form.matrix) problem = matrix_of(problem, form).copied(problem);
  problem.form = std::make_shared<const Form>(std::move(form));
  return problem;
}

/// The form in which operand `operand` is read fastest: the matrix, or one of the algorithm `wanted`, or for null of
/// all that need not be forced. `seconds(form)`: of the problem then.
template <class Context, class Machine, class Seconds>
Form best_form(const GemmProblem& problem, const Machine& machine, const char* wanted, int operand, Seconds&& seconds) {
  Form best(operand, true, Form::kMatrix);
  double least = seconds(best);
  for (const auto& algorithm : Register<Context, GemmProblem>::all()) {
    const bool asked = wanted != nullptr ? std::string_view(wanted) == algorithm.name : !algorithm.features.forced_only;
    if (algorithm.preparation == nullptr || !asked || !why_not(algorithm, problem, machine).empty()) continue;
    const GemmProblem seen = SeenProduct(algorithm, problem).problem;
    for (const Parameters& parameters : algorithm.preparation->forms(seen, machine, operand)) {
      Form form(operand, algorithm.preparation->matrix, algorithm.name, parameters);
      if (const double time = seconds(form); time < least) least = time, best = std::move(form);
    }
  }
  return best;
}

/// Of its memory.
template <class Context, class Machine>
std::uint64_t form_bytes(const GemmProblem& problem, const Machine& machine, const Form& form) {
  const GemmProblem formed = with_form<Context>(problem, form);
  const auto* const owner = owner_of<Context>(form);
  const std::uint64_t own =
      owner == nullptr ? 0 : owner->preparation->bytes(SeenProduct(*owner, formed).problem, machine);
  return matrix_bytes(formed) + own;
}

/// Writes the operand, which lies at `source` as the problem says. Queues the work, or does it.
template <class Context>
void write_form(Context& context, const GemmProblem& problem, const Form& form, const void* source, void* target) {
  const GemmProblem formed = with_form<Context>(problem, form);
  const OperandCopy matrix = matrix_of(problem, form);
  if (formed.form->matrix) context.copying(matrix)(source, target);
  const auto* const owner = owner_of<Context>(form);
  if (owner == nullptr) return;
  const SeenProduct seen(*owner, formed);
  auto* const own = static_cast<std::byte*>(target) + matrix_bytes(formed);
  const tessera_dtype type = form.operand == 0 ? seen.problem.dtype : seen.problem.dtype_b;
  if (type == matrix.from)
    return owner->preparation->write(context, seen.problem, formed.form->matrix ? target : source, own);
  const OperandCopy wide(problem, form.operand, type);
  const auto free = [&](void* data) { context.free(data); };
  const std::unique_ptr<void, decltype(free)> copy(context.allocate(wide.bytes()), free);
  context.copying(wide)(source, copy.get());
  owner->preparation->write(context, wide.copied(seen.problem), copy.get(), own);
  context.synchronize();
}

}  // namespace tessera::plugin
