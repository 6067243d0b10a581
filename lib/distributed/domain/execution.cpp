// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The steps of a plan on a cut domain.

#include "plan.hpp"

#include <algorithm>

namespace tessera::distributed {

/// The arrays of the messages, in their order; null where they could not be read.
const Arrays& DomainPlan::travelling(const Operands& operands) {
  std::size_t place = 0;
  for (std::size_t f = 0; f < stepper_->fields().size(); ++f)
    for (std::size_t level = 0;
         stepper_->fields()[f].kind == TESSERA_FIELD_STATE && level < stepper_->fields()[f].levels; ++level)
      travelling_[place++] = operands.fields.empty() ? nullptr : operands.fields[f][level];
  return travelling_;
}

void DomainPlan::run(const std::vector<BoxPlan>& plans, const Operands& operands, std::int64_t first_step) const {
  for (const BoxPlan& plan : plans) stepper_->run(plan, operands, first_step);
}

/// One collective tells whether all ranks go on, and whether their devices can read each other's arrays. Through the
/// host messages say whether their sender has failed.
void DomainPlan::execute(const tessera_execution& execution, Progress& progress) {
  Operands operands;
  progress.run([&] { operands = stepper_->operands(execution); });
  bool by_host = device_ == nullptr;
  if (device_ != nullptr) {
    const Arrays& arrays = travelling(operands);
    progress.always([&] { device_->open(arrays); });
    bool closed = false;
    progress.run([&] {
      for (const void* array : arrays) closed = closed || (array != nullptr && !device_->can_open(array));
    });
    try {
      by_host = agree(*comm_, progress.outcome(), closed);
    } catch (...) {  // where the group breaks others may have heard that all go on
      device_->fail();
      throw;
    }
  }
  run_rounds(by_host ? *host_ : *device_, operands, progress);
  if (!stepper_->records()) return progress.finish();
  progress.run([&] { call(tessera_context_synchronize, context_.get()); });
  agree(*comm_, progress.outcome());
  stepper_->gather_records(*comm_, operands);
}

void DomainPlan::run_rounds(Transport& transport, Operands& operands, Progress& progress) {
  if (device_ != nullptr) progress.run([&] { wait(copier_.get(), context_.get()); });
  for (std::int64_t round = 0; round < rounds_; ++round) run_round(round, transport, operands, progress);
  if (device_ != nullptr)
    progress.run([&] {
      wait(context_.get(), copier_.get());
      transport.close();
    });
  if (progress.failed()) transport.fail();
}

/// On devices inner points are queued on the context's stream, halos and what follows them on the copier's, which goes
/// first, and the host waits for nothing:
///
///     context   | inner points of round n | of round n + 1 ...
///     copier    | halos n | edges n | when the inner points are done: edges into the array | halos n + 1 | ...
///
/// Single steps write the edges in place, when the inner points of the round before, which read there, are done.
void DomainPlan::run_round(std::int64_t round, Transport& transport, Operands& operands, Progress& progress) {
  tessera_context *const inner = context_.get(), *const behind = copier_.get();
  const Stage& stage = stage_of(round);
  const std::int64_t first_step = round * stages_.front().steps;
  const Arrays& arrays = travelling(operands);
  progress.run([&] {
    // What is sent was made on the copier's stream, unless a halo is deeper than the edge that was made there.
    if (device_ != nullptr && round > 0) wait(inner, behind);
    if (device_ != nullptr && round > 0 && stepper_->states().low != stepper_->states().high) wait(behind, inner);
    transport.show(behind);
  });
  transport.begin(0, arrays, arrays, progress);
  if (device_ != nullptr)
    progress.run([&] {
      transport.done();
      // Inner points and another array are written: those who read what was sent before have to be done. Where steps
      // write the array that is sent, its readers have.
      transport.wait_for_readers(stepper_->is_in_place() && way_.inner_first == 0 ? 0 : 1);
      if (stage.edges.empty()) wait(behind, inner);
    });
  progress.run([&] { run(stage.before, operands, first_step); });
  transport.finish(0, arrays, progress);
  progress.run([&] {
    run(stage.after, operands, first_step);
    run_edges(stage, operands);
    for (std::size_t f = 0; f < operands.fields.size(); ++f) {
      const Arrays levels = operands.fields[f];
      for (std::size_t level = 0; level < levels.size(); ++level)
        operands.fields[f][level] = levels[std::size_t(stage.places[f][level])];
    }
  });
}

}  // namespace tessera::distributed
