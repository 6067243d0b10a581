// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Distributed stencils on devices: halos travel beside the inner points, and the host waits for nothing.

#include "stencil.hpp"

namespace tessera::distributed {

/// The inner points take their steps from the block alone, which leaves as many wrong points beside other ranks as the
/// steps read. Those are the rims, whose steps are made into memory of their own, three times as wide:
///
///     other rank | halo |            block             | halo | other rank
///                       |wrong|     inner points  |wrong|
///                |wrong |right|wrong|       |wrong|right|wrong |   rims
///
/// What is right of a rim goes into the block when the inner points are done, and from there to the neighbour.
StencilPlan::Stage StencilPlan::make_rims(std::int64_t steps, const tessera_plan_options& options) const {
  Stage stage;
  const int rank = comm_->rank();
  const Box block = cut_->block(rank);
  stage.before.push_back(make_piece(context_.get(), block, steps, options));
  const std::int64_t width = steps * domain_.low[0], plane = own_.strides()[0] * own_.element;
  for (int side = 0; side < 2; ++side) {
    if (cut_->is_outer(rank, 0, side)) continue;
    Box right = block, box = block;
    (side == 0 ? right.high : right.low)[0] = side == 0 ? block.low[0] + width : block.high[0] - width;
    box.low[0] = right.low[0] - width, box.high[0] = right.high[0] + width;
    Piece piece = make_piece(carrier_->context(), box, steps, options);
    const std::int64_t begin = side * 3 * depth_ * domain_.low[0] * plane, row = piece.offset % plane;
    const std::int64_t target = own_.offset(right.low) * own_.element;
    stage.rims.push_back({std::move(piece), begin + row, begin + width * plane + row, target,
                          std::size_t(right.points() * own_.element)});
  }
  return stage;
}

/// Behind the halos: the rims, and when the inner points are there, what is right of them into the array.
void StencilPlan::run_rims(const Stage& stage, const void* from, void* to) {
  void* const memory = tessera_buffer_data(rims_.get());
  for (const Rim& rim : stage.rims) run_piece(rim.piece, at(from, rim.piece.offset), at(memory, rim.made));
  call(tessera_context_wait_for, carrier_->context(), context_.get());
  for (const Rim& rim : stage.rims) carrier_->copy(at(to, rim.target), at(memory, rim.right), rim.bytes);
}

/// The inner points are queued on the context's stream, halos and what follows them on the carrier's, which goes first:
///
///     context   | inner points of round n | of round n + 1 ...
///     carrier   | halos n | rims n | when the inner points are done: rims into the array | halos n + 1 | ...
///
/// Single steps write the rims in place, when the inner points of the round before, which read there, are done.
void StencilPlan::queue_round(std::int64_t round, void* from, void* to) {
  tessera_context *const inner = context_.get(), *const behind = carrier_->context();
  const Stage& stage = stage_of(round);
  // What is sent was made on the carrier's stream, unless a halo is deeper than the rim that was made there.
  if (round > 0) call(tessera_context_wait_for, inner, behind);
  if (round > 0 && domain_.low != domain_.high) call(tessera_context_wait_for, behind, inner);
  carrier_->queue({from});
  if (round > 0) carrier_->wait_for_readers(1);  // of the array that is written now
  if (stage.rims.empty()) call(tessera_context_wait_for, behind, inner);
  run(stage.before, from, to);
  run(stage.after, from, to);
  if (!stage.rims.empty()) run_rims(stage, from, to);
}

void StencilPlan::execute_on_device(void* in, void* out) {
  try {
    call(tessera_context_wait_for, carrier_->context(), context_.get());
    void* from = in;
    for (std::int64_t round = 0; round < rounds_; ++round) {
      void* const to = target_of(round, out);
      queue_round(round, from, to);
      from = to;
    }
    call(tessera_context_wait_for, context_.get(), carrier_->context());
    carrier_->close();
  } catch (...) {
    carrier_->fail();
    throw;
  }
}

}  // namespace tessera::distributed
