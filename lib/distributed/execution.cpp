// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed stencil does with arrays: blocks to and from a root, and steps.

#include "blocks.hpp"
#include "check.hpp"
#include "stencil.hpp"
#include "together.hpp"

namespace tessera::distributed {

void StencilPlan::scatter(int root, const void* global, void* local) {
  BlockMove(*comm_, *cut_, domain_.extents, own_.element).scatter(root, global, local, carrier_->context());
}

void StencilPlan::gather(int root, const void* local, void* global) {
  BlockMove(*comm_, *cut_, domain_.extents, own_.element)
      .gather(root, local, global, context_.get(), carrier_->context());
}

void StencilPlan::run_piece(const Piece& piece, const void* in, void* out) const {
  const tessera_operand operands[] = {{const_cast<void*>(in), desc_.dtype, TESSERA_ROLE_IN},
                                      {out, desc_.dtype, TESSERA_ROLE_OUT}};
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = operands, execution.operand_size = sizeof *operands, execution.operand_count = 2;
  execution.scalar_size = sizeof(tessera_scalar);
  call(tessera_plan_execute, piece.plan.get(), &execution);
}

void StencilPlan::run(const std::vector<Piece>& pieces, const void* in, void* out) const {
  for (const Piece& piece : pieces) run_piece(piece, at(in, piece.offset), at(out, piece.offset));
}

void StencilPlan::step(const Stage& stage, void* in, void* out, Attempts& attempts) {
  carrier_->begin(context_.get(), {in}, attempts);
  attempts.run([&] { run(stage.before, in, out); });
  carrier_->finish({in}, attempts);
  attempts.run([&] { run(stage.after, in, out); });
}

void StencilPlan::execute(void* in, void* out) {
  const auto check = [&] {
    if (in == nullptr) core::invalid("in", "null", "must be an array");
    if (out == nullptr) core::invalid("out", "null", "must be an array");
    if (in == out) core::invalid("out", "in", "must be another array: neighbours of a point are read after it");
  };
  if (carrier_->on_streams()) {
    together(*comm_, check);
    if (carrier_->open({in, out, scratch_ == nullptr ? out : tessera_buffer_data(scratch_.get())}))
      return execute_on_device(in, out);
  }
  Attempts attempts;
  attempts.run(check);
  void* from = in;
  for (std::int64_t round = 0; round < rounds_; ++round) {
    void* const to = target_of(round, out);
    step(stage_of(round), from, to, attempts);
    from = to;
  }
  attempts.finish();
}

}  // namespace tessera::distributed
