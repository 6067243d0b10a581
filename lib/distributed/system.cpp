// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system.hpp"

#include "blocks.hpp"
#include "check.hpp"
#include "text.hpp"
#include "together.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {

using core::invalid;

SystemPlan::SystemPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_system_desc& desc,
                       const tessera_decomposition& wishes, const tessera_plan_options& options)
    : comm_(std::move(comm)) {
  together(*comm_, [&] {
    context_ = taken(context, options);
    system_ = std::make_unique<SystemDescription>(desc);
  });
  together(*comm_, [&] {
    Alike alike;
    system_->add_to(alike);
    add_cut(alike, wishes, comm_->size());
    alike.add("algorithm", options.algorithm);
    alike.check(*comm_);
  });
  together(*comm_, [&] { check_backends(*comm_, context_.get()); });
  together(*comm_, [&] {
    core::one_of("halos", wishes.halos, TESSERA_HALO_DEFAULT, TESSERA_HALO_NCCL, "automatic (0), host (1), nccl (2)");
    lay_out(wishes);
    look_at_context(options);
  });
  carrier_.emplace(comm_, context_.get(), on_host_, wishes.halos, halos());
  choose(wishes, options);
  together(*comm_, [&] {
    find_places();
    describe();
  });
}

/// Where the levels of each field are after an execution.
void SystemPlan::find_places() {
  for (std::size_t f = 0; f < system_->fields().size(); ++f) {
    std::vector<int>& places = places_.emplace_back();
    for (std::size_t level = 0; level < system_->arrays(f); ++level) places.push_back(int(level));
    for (std::int64_t round = 0; round < rounds_; ++round) {
      const std::vector<int> before = places;
      for (std::size_t level = 0; level < places.size(); ++level)
        places[level] = before[std::size_t(stage_of(round).places[f][level])];
    }
  }
}

/// The blocks.
void SystemPlan::lay_out(const tessera_decomposition& wishes) {
  cut_.emplace(system_->domain(), comm_->size(), wishes);
  for (int axis = 0; axis < kAxes; ++axis)
    if (system_->domain().whole[axis] && cut_->ranks()[axis] > 1)
      throw Error(
          TESSERA_UNSUPPORTED,
          "axis " + std::to_string(axis) +
              " cannot be cut: some fields that are read beside the point are periodic along it, others are not");
  own_ = array_of(*cut_, comm_->rank(), 1);
}

/// What travels before the steps of a round: of each level of each state what is read around the block.
std::vector<Halos> SystemPlan::halos() const {
  std::vector<Halos> halos;
  for (std::size_t f = 0; f < system_->fields().size() && system_->desc().steps > 0; ++f)
    for (std::size_t level = 0; system_->fields()[f].kind == TESSERA_FIELD_STATE && level < system_->arrays(f); ++level)
      halos.push_back(halos_of(*cut_, comm_->rank(), system_->element(f), system_->reach(f, level, cut_->depth())));
  return halos;
}

/// The arrays of halos(), in their order.
std::vector<void*> SystemPlan::travelling(const Arrays& arrays) const {
  std::vector<void*> list;
  for (std::size_t f = 0; f < arrays.size() && system_->desc().steps > 0; ++f)
    if (system_->fields()[f].kind == TESSERA_FIELD_STATE) list.insert(list.end(), arrays[f].begin(), arrays[f].end());
  return list;
}

/// Where the context computes.
void SystemPlan::look_at_context(const tessera_plan_options& options) {
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;  // a backend that computes on the host takes both
  on_device.algorithm = nullptr;
  LocalSystem local;
  system_->describe(local, *cut_, comm_->rank(), own_.box, std::min<std::int64_t>(system_->desc().steps, 1), {});
  on_host_ = info_of(make_plan(context_.get(), &local.desc, on_device).get()).host_memory != 0;
  if (!on_host_ && options.operands == TESSERA_MEMORY_HOST)
    invalid("operands", "host", "must be device: the halos of blocks on a device travel from there");
}

/// The points of the block whose step reads no state of other ranks; empty where there are none.
Box SystemPlan::inside() const {
  Box box = cut_->block(comm_->rank());
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!cut_->is_outer(comm_->rank(), axis, 0)) box.low[axis] += system_->states().low[axis];
    if (!cut_->is_outer(comm_->rank(), axis, 1)) box.high[axis] -= system_->states().high[axis];
  }
  return box.empty() ? Box{} : box;
}

/// What plans of their own make: the inner points first where there are any, then the rest.
std::vector<Box> SystemPlan::boxes(const Way& way) const {
  if (way.parts == 0) return {own_.box};
  const Box block = cut_->block(comm_->rank()), inner = inside();
  if (inner.empty()) return {block};
  std::vector<Box> boxes = around(block, inner);
  boxes.insert(boxes.begin(), inner);
  return boxes;
}

void SystemPlan::take(const Way& way, const tessera_decomposition& wishes, const tessera_plan_options& options) {
  tessera_decomposition cut = wishes;
  cut.depth = way.depth;
  lay_out(cut);
  carrier_->take(halos());
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;
  if (way.algorithm[0] != '\0') each.algorithm = way.algorithm;
  const std::int64_t steps = system_->desc().steps;
  const std::int64_t of_round =
      carrier_->empty() && comm_->size() == 1 ? steps : std::min<std::int64_t>(way.depth, steps);
  stages_.clear();
  rounds_ = of_round == 0 ? 0 : (steps + of_round - 1) / of_round;
  if (of_round == 0) return;
  stages_.push_back(make_stage(way, of_round, each));
  if (steps % of_round != 0) stages_.push_back(make_stage(way, steps % of_round, each));
}

SystemPlan::Stage SystemPlan::make_stage(const Way& way, std::int64_t steps, const tessera_plan_options& options) {
  Stage stage{steps, {}, {}, {}};
  const std::vector<Box> list = boxes(way);
  const Box block = cut_->block(comm_->rank());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool first = comm_->size() == 1 || (list.size() > 1 && i == 0);
    LocalSystem local;
    system_->describe(local, *cut_, comm_->rank(), list[i], steps, system_->slots(way.parts == 0 ? block : list[i]));
    tessera_context* const context = first || !carrier_->on_streams() ? context_.get() : carrier_->context();
    (first ? stage.before : stage.after).push_back({make_plan(context, &local.desc, options), i});
  }
  const tessera_plan* const plan = (stage.before.empty() ? stage.after : stage.before).front().plan.get();
  for (std::size_t f = 0; f < system_->fields().size(); ++f) {
    std::vector<int>& places = stage.places.emplace_back(1, 0);
    for (std::size_t level = 0; system_->fields()[f].kind == TESSERA_FIELD_STATE && level < system_->arrays(f);
         ++level) {
      tessera_role role = 0;
      call(tessera_plan_level_after, plan, std::int32_t(f), -std::int32_t(level), &role);
      places.resize(level + 1);
      places[level] = int(role - TESSERA_ROLE_FIELD) % 4;
    }
  }
  return stage;
}

void SystemPlan::describe() {
  const Stage* const first = stages_.empty() ? nullptr : &stages_.front();
  const auto& ranks = cut_->ranks();
  const int rank = system_->desc().rank;
  if (first != nullptr)
    text_ = info_of((first->before.empty() ? first->after : first->before).front().plan.get()).description;
  text_ += " | block " + text_of(cut_->block(comm_->rank()).extents(), rank) + " of " +
           text_of(system_->domain().extents, rank) + ", rank " + std::to_string(comm_->rank()) + " of " +
           text_of({ranks[0], ranks[1], ranks[2]}, rank) + ", steps between exchanges " + std::to_string(way_.depth);
  if (comm_->size() > 1)
    text_ += std::string(way_.parts != 0 ? ", inner points beside halos " : ", halos ") + carrier_->description();
}

tessera_block SystemPlan::block(int rank) const { return block_of(*cut_, rank); }

std::size_t SystemPlan::checked(std::int32_t field) const {
  const auto count = std::int64_t(system_->fields().size());
  if (field < 0 || field >= count) invalid("field", field, "must lie in [0, " + std::to_string(count) + ")");
  return std::size_t(field);
}

int SystemPlan::place_after(std::int32_t field, std::int32_t level) const {
  const std::size_t f = checked(field);
  const auto levels = std::int32_t(places_[f].size());
  if (level > 0 || level <= -levels)
    invalid("level", level, "must lie in [" + std::to_string(1 - levels) + ", 0], the levels of the field");
  return places_[f][std::size_t(-level)];
}

}  // namespace tessera::distributed
