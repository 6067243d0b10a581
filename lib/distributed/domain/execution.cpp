// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The steps of a plan on a cut domain. A round is: send halos, step the interior, receive halos, step what read them.
/// There are two schedules of it: on one stream with halos through the host, and on two streams of a device.

#include "plan.hpp"

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

void DomainPlan::step(const std::vector<BoxPlan>& plans, const Operands& operands, std::int64_t first_step) const {
  for (const BoxPlan& plan : plans) stepper_->run(plan, operands, first_step);
}

/// The next round finds the levels of each field where this one has left them.
void DomainPlan::move_levels(const Stage& stage, Operands& operands) {
  for (std::size_t f = 0; f < operands.fields.size(); ++f) {
    const Arrays levels = operands.fields[f];
    for (std::size_t level = 0; level < levels.size(); ++level)
      operands.fields[f][level] = levels[std::size_t(stage.places[f][level])];
  }
}

/// Where all halos go through the host, whose messages say whether their sender has failed.
void DomainPlan::run_on_one_stream(Operands& operands, Progress& progress) {
  for (std::int64_t round = 0; round < rounds_; ++round) {
    const Stage& stage = stage_of(round);
    const std::int64_t first_step = round * stages_.front().steps;
    const Arrays& arrays = travelling(operands);
    progress.run([&] { host_->show(context_.get()); });
    host_->begin(0, arrays, arrays, progress);
    progress.run([&] { step(stage.before, operands, first_step); });
    host_->finish(0, arrays, progress);
    progress.run([&] {
      step(stage.after, operands, first_step);
      move_levels(stage, operands);
    });
  }
}

/// Where halos travel between devices, or for this execution's arrays through the host. The interior is queued on the
/// context's stream, halos and what reads them on the copier's, which goes first. The host waits for nothing:
///
///     context   | interior of round n | of round n + 1 ...
///     copier    | halos n | edges n | when the interior is done: edges into the array | halos n + 1 | ...
///
/// Single steps write the edges in place, when the interior of the round before, which read there, is done.
void DomainPlan::run_on_two_streams(Transport& transport, Operands& operands, Progress& progress) {
  progress.run([&] { wait(copier_.get(), context_.get()); });
  for (std::int64_t round = 0; round < rounds_; ++round) {
    const Stage& stage = stage_of(round);
    const std::int64_t first_step = round * stages_.front().steps;
    const Arrays& arrays = travelling(operands);
    progress.run([&] { show_halos(transport, round); });
    transport.begin(0, arrays, arrays, progress);
    progress.run([&] {
      protect_readers(transport, stage);
      step(stage.before, operands, first_step);
    });
    transport.finish(0, arrays, progress);
    progress.run([&] {
      step(stage.after, operands, first_step);
      run_edges(stage, operands);
      move_levels(stage, operands);
    });
  }
  progress.run([&] {
    wait(context_.get(), copier_.get());
    transport.close();
  });
  if (progress.failed()) transport.fail();
}

/// Other ranks may read the halos that they need once the round before is done. What is sent was made on the copier's
/// stream, unless a halo is deeper than the edge that was made there.
void DomainPlan::show_halos(Transport& transport, std::int64_t round) const {
  if (round > 0) wait(context_.get(), copier_.get());
  if (round > 0 && stepper_->states().low != stepper_->states().high) wait(copier_.get(), context_.get());
  transport.show(copier_.get());
}

/// The interior and another array are written next: those who read what was sent before have to be done. Where steps
/// write the array that is sent, its readers have.
void DomainPlan::protect_readers(Transport& transport, const Stage& stage) const {
  transport.done();
  transport.wait_for_readers(stepper_->is_in_place() && way_.inner_first == 0 ? 0 : 1);
  if (stage.edges.empty()) wait(copier_.get(), context_.get());
}

/// Collective: whether all ranks go on, and by what the halos of these arrays travel.
Transport& DomainPlan::open(const Operands& operands, Progress& progress) {
  const Arrays& arrays = travelling(operands);
  progress.always([&] { device_->open(arrays); });
  bool closed = false;
  progress.run([&] {
    for (const void* array : arrays) closed = closed || (array != nullptr && !device_->can_open(array));
  });
  try {
    return agree(*comm_, progress.outcome(), closed) ? *host_ : *device_;
  } catch (...) {  // where the group breaks others may have heard that all go on
    device_->fail();
    throw;
  }
}

void DomainPlan::execute(const tessera_execution& execution, Progress& progress) {
  Operands operands;
  progress.run([&] { operands = stepper_->operands(execution); });
  if (device_ == nullptr)
    run_on_one_stream(operands, progress);
  else
    run_on_two_streams(open(operands, progress), operands, progress);
  if (!stepper_->records()) return progress.finish();
  progress.run([&] { call(tessera_context_synchronize, context_.get()); });
  agree(*comm_, progress.outcome());
  stepper_->gather_records(*comm_, operands);
}

}  // namespace tessera::distributed
