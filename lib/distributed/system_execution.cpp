// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed system does with arrays: fields to and from a root, and steps.

#include "blocks.hpp"
#include "check.hpp"
#include "system.hpp"
#include "together.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tessera::distributed {

using core::invalid;

/// Collective: throws on all ranks unless they mean the same field, which is there.
std::size_t SystemPlan::agreed(std::int32_t field) {
  together(*comm_, [&] {
    Alike arguments;
    arguments.add("field", std::int64_t(field));
    arguments.check(*comm_);
  });
  together(*comm_, [&] { checked(field); });
  return std::size_t(field);
}

void SystemPlan::scatter(std::int32_t field, int root, const void* global, void* local) {
  const std::size_t f = agreed(field);
  if (system_->fields()[f].kind == TESSERA_FIELD_PROFILE) return scatter_profile(f, root, global, local);
  BlockMove(*comm_, *cut_, system_->domain().extents, system_->element(f))
      .scatter(root, global, local, carrier_->context());
  if (system_->fields()[f].kind == TESSERA_FIELD_ARRAY) exchange(field, local);
}

void SystemPlan::gather(std::int32_t field, int root, const void* local, void* global) {
  const std::size_t f = agreed(field);
  together(*comm_, [&] {
    if (system_->fields()[f].kind == TESSERA_FIELD_PROFILE)
      invalid("field", field, "must be a state or an array: of a profile each rank has what it was given");
  });
  BlockMove(*comm_, *cut_, system_->domain().extents, system_->element(f))
      .gather(root, local, global, context_.get(), carrier_->context());
}

/// The places along the profile's axis that the rank's array has; of a ring they go round.
void SystemPlan::scatter_profile(std::size_t field, int root, const void* global, void* local) {
  const auto axis = std::size_t(system_->fields()[field].axis);
  const std::int64_t element = system_->element(field), extent = system_->domain().extents[axis];
  check_move(*comm_, root, global, local);
  std::vector<unsigned char> whole(std::size_t(extent * element));
  if (comm_->rank() == root) std::memcpy(whole.data(), global, whole.size());
  comm_->broadcast(whole.data(), whole.size(), root);
  together(*comm_, [&] {
    std::vector<unsigned char> part;
    for (std::int64_t x = own_.box.low[axis]; x < own_.box.high[axis]; ++x) {
      const std::int64_t at = (x % extent + extent) % extent * element;
      part.insert(part.end(), whole.begin() + at, whole.begin() + at + element);
    }
    copy_bytes(carrier_->context(), local, part.data(), std::int64_t(part.size()), TESSERA_COPY_TO_DEVICE);
  });
}

/// Through host memory.
void SystemPlan::exchange(std::int32_t field, void* local) {
  const std::size_t f = agreed(field);
  Attempts attempts;
  attempts.run([&] {
    if (local == nullptr) invalid("local", "null", "must be an array");
    call(tessera_context_synchronize, context_.get());
  });
  Exchange once(comm_, {halos_of(*cut_, comm_->rank(), system_->element(f), system_->reach(f, 0, cut_->depth()))});
  attempts.always([&] { once.begin(carrier_->context(), {local}, attempts.failed()); });
  attempts.always([&] { once.finish(carrier_->context(), {local}, attempts.failed()); });
  agree(*comm_, attempts.outcome());
}

namespace {

[[noreturn]] void refuse(const std::string& what) { throw core::Error(TESSERA_INVALID_ARGUMENT, what); }

[[noreturn]] void refuse_missing(const std::string& name, tessera_role role) {
  refuse(name + " is missing: each field has an array, a state one for each of its levels (in C with role " +
         std::to_string(role) + ")");
}

}  // namespace

/// Reads the operands, whose roles are those of a plan of one rank.
SystemPlan::Arguments SystemPlan::arguments(const tessera_execution& e) const {
  Arguments given;
  std::vector<char> seen;
  core::at_least("first_step", e.first_step, 0);
  if (e.operand_count > 0 && e.operands == nullptr)
    invalid("operands", "null", "must point to " + std::to_string(e.operand_count) + " operands");
  if (e.operand_count > 0 && e.operand_size != sizeof(tessera_operand))
    invalid("operand_size", std::int64_t(e.operand_size), "must be " + std::to_string(sizeof(tessera_operand)));
  const auto find = [&](tessera_role role, tessera_dtype dtype, const std::string& name, bool some) -> void* {
    const auto* const end = e.operands + e.operand_count;
    const auto* const found =
        std::find_if(e.operands, end, [role](const tessera_operand& o) { return o.role == role; });
    if (found == end) refuse_missing(name, role);
    if (found->dtype != dtype)
      refuse(name + " is of type " + name_of(found->dtype) + ", the plan takes " + name_of(dtype));
    if (found->data == nullptr && some) invalid(name, "null", "must be this rank's array");
    return found->data;
  };
  const tessera_system_desc& d = system_->desc();
  for (std::size_t f = 0; f < system_->fields().size(); ++f) {
    const tessera_field& field = system_->fields()[f];
    std::vector<void*>& levels = given.arrays.emplace_back();
    for (std::size_t level = 0; level < system_->arrays(f); ++level)
      levels.push_back(find(TESSERA_ROLE_FIELD + 4 * std::int32_t(f) + std::int32_t(level), field.dtype,
                            field.name + (level == 0 ? "" : "[-" + std::to_string(level) + "]"), true));
  }
  const auto series = [&](const char* list, tessera_role role, const std::vector<PointSet>& sets) {
    std::vector<void*> rows;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::int64_t row = sets[s].series_count * std::int64_t(size_of(DType(d.dtype)));
      void* const data = find(role + std::int32_t(s), d.dtype, std::string(list) + "[" + std::to_string(s) + "]",
                              row > 0 && d.steps > 0);
      rows.push_back(data == nullptr ? nullptr : at(data, e.first_step * row));
    }
    return rows;
  };
  given.injected = series("injections", TESSERA_ROLE_INJECTED, system_->injections());
  given.recorded = series("recordings", TESSERA_ROLE_RECORDED, system_->recordings());
  return given;
}

void SystemPlan::run(const std::vector<Piece>& pieces, const Arguments& given, std::int64_t first_step) const {
  const tessera_dtype dtype = system_->desc().dtype;
  for (const Piece& piece : pieces) {
    std::vector<tessera_operand> operands;
    for (std::size_t f = 0; f < given.arrays.size(); ++f)
      for (std::size_t level = 0; level < given.arrays[f].size(); ++level)
        operands.push_back({given.arrays[f][level], system_->fields()[f].dtype,
                            TESSERA_ROLE_FIELD + 4 * std::int32_t(f) + std::int32_t(level)});
    for (std::size_t s = 0; s < given.injected.size(); ++s)
      operands.push_back({given.injected[s], dtype, TESSERA_ROLE_INJECTED + std::int32_t(s)});
    for (std::size_t s = 0; s < given.recorded.size(); ++s)
      operands.push_back({recordings_->array(piece.recorded, s), dtype, TESSERA_ROLE_RECORDED + std::int32_t(s)});
    tessera_execution execution{};
    execution.struct_size = sizeof execution;
    execution.operands = operands.data(), execution.operand_size = sizeof(tessera_operand);
    execution.operand_count = operands.size();
    execution.scalar_size = sizeof(tessera_scalar);
    execution.first_step = first_step;
    call(tessera_plan_execute, piece.plan.get(), &execution);
  }
}

/// The arrays after a stage, the newest level first.
void SystemPlan::turn(const Stage& stage, Arrays& arrays) {
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    const std::vector<void*> before = arrays[f];
    for (std::size_t level = 0; level < before.size(); ++level)
      arrays[f][level] = before[std::size_t(stage.places[f][level])];
  }
}

void SystemPlan::execute(const tessera_execution& execution, Attempts& attempts) {
  Arguments given;
  attempts.run([&] { given = arguments(execution); });
  if (carrier_->on_streams()) agree(*comm_, attempts.outcome());
  if (carrier_->on_streams() && carrier_->open(travelling(given.arrays))) {
    execute_on_device(given);
  } else {
    execute_by_host(given, attempts);
    if (recordings_->empty()) return attempts.finish();
    agree(*comm_, attempts.outcome());
  }
  if (recordings_->empty()) return;
  together(*comm_, [&] { call(tessera_context_synchronize, context_.get()); });
  recordings_->gather(*comm_, given.recorded);
}

void SystemPlan::execute_by_host(Arguments& given, Attempts& attempts) {
  const std::vector<void*> nothing(carrier_->arrays(), nullptr);  // of a rank that has failed, whose messages go on
  for (std::int64_t round = 0; round < rounds_; ++round) {
    const Stage& stage = stage_of(round);
    const std::vector<void*> list = attempts.failed() ? nothing : travelling(given.arrays);
    const std::int64_t first_step = round * stages_.front().steps;
    carrier_->begin(context_.get(), list, attempts);
    attempts.run([&] { run(stage.before, given, first_step); });
    carrier_->finish(list, attempts);
    attempts.run([&] { run(stage.after, given, first_step), turn(stage, given.arrays); });
  }
}

/// As of a stencil: inner points are queued on the context's stream, halos and what follows them on the carrier's.
void SystemPlan::execute_on_device(Arguments& given) {
  tessera_context *const inner = context_.get(), *const behind = carrier_->context();
  try {
    call(tessera_context_wait_for, behind, inner);
    for (std::int64_t round = 0; round < rounds_; ++round) {
      const Stage& stage = stage_of(round);
      // What is sent was made on the carrier's stream, unless a halo is deeper than what was made there.
      if (round > 0) call(tessera_context_wait_for, inner, behind);
      if (round > 0 && system_->states().low != system_->states().high) call(tessera_context_wait_for, behind, inner);
      carrier_->queue(travelling(given.arrays));
      // Parts of a step write arrays that were sent before, several steps also those that are sent now.
      if (way_.parts == 0 || round > 0) carrier_->wait_for_readers(way_.parts != 0 ? 1 : 0);
      call(tessera_context_wait_for, behind, inner);
      run(stage.before, given, round * stages_.front().steps);
      run(stage.after, given, round * stages_.front().steps);
      turn(stage, given.arrays);
    }
    call(tessera_context_wait_for, inner, behind);
    carrier_->close();
  } catch (...) {
    carrier_->fail();
    throw;
  }
}

}  // namespace tessera::distributed
