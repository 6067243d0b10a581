// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan.hpp"

#include "check.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {

using core::invalid;

DomainPlan::DomainPlan(std::shared_ptr<Comm> comm, tessera_context* context,
                       const std::function<std::unique_ptr<Stepper>()>& make, const tessera_decomposition& wanted,
                       const tessera_plan_options& options)
    : comm_(std::move(comm)) {
  Signature same;
  same.check(*comm_, outcome_of([&] {
    context_ = taken(context, options);
    stepper_ = make();
    same.add("backend", tessera_context_backend(context));
    stepper_->add_to(same);
    same.add_cut(wanted, comm_->size());
    same.add("algorithm", options.algorithm);
  }));
  together(*comm_, [&] {
    core::one_of("halos", wanted.halos, TESSERA_HALO_DEFAULT, TESSERA_HALO_NCCL, "automatic (0), host (1), nccl (2)");
    lay_out(wanted);
    look_at_context(options);
    host_ = Transport::by_host(comm_, context_.get(), copier_.get(), true);
  });
  join(wanted);
  choose(wanted, options);
  together(*comm_, [&] {
    find_places();
    describe();
  });
}

/// The blocks, and what travels between them.
void DomainPlan::lay_out(const tessera_decomposition& wanted) {
  cut_.emplace(stepper_->domain(), comm_->size(), wanted);
  for (int axis = 0; axis < kAxes; ++axis)
    if (stepper_->domain().whole[axis] && cut_->ranks()[axis] > 1)
      throw Error(
          TESSERA_UNSUPPORTED,
          "axis " + std::to_string(axis) +
              " cannot be cut: some fields that are read beside the point are periodic along it, others are not");
  place_ = {&*cut_, comm_->rank(), cut_->block(comm_->rank()), cut_->array(comm_->rank())};
  messages_ = {}, travelling_.clear();
  for (std::size_t f = 0; f < stepper_->fields().size(); ++f)
    for (std::size_t level = 0;
         stepper_->fields()[f].kind == TESSERA_FIELD_STATE && level < stepper_->fields()[f].levels; ++level) {
      if (stepper_->steps() > 0)
        add_messages(messages_, *cut_, comm_->rank(), travelling_.size(), stepper_->fields()[f].element,
                     stepper_->reach(f, level, cut_->depth()));
      travelling_.push_back(nullptr);
    }
}

/// Where the context computes.
void DomainPlan::look_at_context(const tessera_plan_options& options) {
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;  // a backend that computes on the host takes both
  on_device.algorithm = nullptr;
  const Box box = stepper_->is_in_place() ? place_.array : place_.block;
  const BoxPlan plan =
      stepper_->make_plan(context_.get(), place_, box, std::min<std::int64_t>(stepper_->steps(), 1), on_device);
  if (info_of(plan.plan.get()).host_memory != 0) return;
  if (options.operands == TESSERA_MEMORY_HOST)
    invalid("operands", "host", "must be device: the halos of blocks on a device travel from there");
  copier_ = beside(context_.get());
}

/// Collective: what carries halos. Throws where NCCL is wanted and cannot.
void DomainPlan::join(const tessera_decomposition& wanted) {
  if (wanted.halos == TESSERA_HALO_HOST || comm_->size() == 1) return;
  const bool nccl_alone = wanted.halos == TESSERA_HALO_NCCL;
  why_no_device_ = first_failure(*comm_, outcome_of([&] {
    if (copier_ == nullptr) throw Error(TESSERA_UNSUPPORTED, "the backend computes on the host");
    for (const auto* list : {&messages_.sent, &messages_.received})
      for (const Message& message : *list)
        if (!message.is_dense_from() || !message.is_dense_to())
          throw Error(TESSERA_UNSUPPORTED, "halos are not contiguous: cut the first axis alone");
  }));
  if (why_no_device_.empty())
    device_ = Transport::by_devices(comm_, context_.get(), copier_.get(), nccl_alone, why_no_device_);
  if (device_ == nullptr && nccl_alone) throw Error(TESSERA_UNSUPPORTED, "halos = nccl: " + why_no_device_);
}

/// The points of the block whose step reads no state of other ranks; empty where the rest would be no gain.
Box DomainPlan::inside() const {
  Box box = place_.block;
  const Reach& reach = stepper_->states();
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!cut_->is_outer(comm_->rank(), axis, 0)) box.low[axis] += reach.low[axis];
    if (!cut_->is_outer(comm_->rank(), axis, 1)) box.high[axis] -= reach.high[axis];
    if (box.high[axis] - box.low[axis] < stepper_->domain().least(axis, 1)) return {};
  }
  return box.empty() ? Box{} : box;
}

/// What plans of their own make: the inner points first where there are any, then the rest.
std::vector<Box> DomainPlan::boxes(bool inner_first) const {
  if (!inner_first) return {place_.array};
  const Box inner = messages_.empty() ? Box{} : inside();
  if (inner.empty()) return {place_.block};
  std::vector<Box> boxes = around(place_.block, inner);
  boxes.insert(boxes.begin(), inner);
  return boxes;
}

void DomainPlan::take(const Way& way, const tessera_decomposition& wanted, const tessera_plan_options& options) {
  tessera_decomposition cut = wanted;
  cut.depth = way.depth;
  lay_out(cut);
  host_->expect({messages_});
  if (device_ != nullptr) device_->expect({messages_});
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;
  if (way.algorithm[0] != '\0') each.algorithm = way.algorithm;
  const std::int64_t steps = stepper_->steps();
  const std::int64_t of_round = messages_.empty() ? steps : std::min<std::int64_t>(way.depth, steps);
  stages_.clear(), edges_.reset();
  rounds_ = 0;
  if (of_round == 0 && stepper_->is_in_place()) return;
  rounds_ = of_round == 0 ? 1 : (steps + of_round - 1) / of_round;
  stages_.push_back(make_stage(way, of_round, each));
  if (of_round > 0 && steps % of_round != 0) stages_.push_back(make_stage(way, steps % of_round, each));
  std::int64_t bytes = 0;
  for (const Stage& stage : stages_)
    for (const Edge& edge : stage.edges) bytes = std::max(bytes, edge.made + 2 * std::int64_t(edge.bytes));
  if (bytes > 0) edges_ = make_buffer(context_.get(), bytes);
}

DomainPlan::Stage DomainPlan::make_stage(const Way& way, std::int64_t steps,
                                         const tessera_plan_options& options) const {
  Stage stage{steps, {}, {}, {}, {}};
  const bool inner_first = is_inner_first(way, steps);
  if (!inner_first && has_edges(steps, options)) {
    stage.before.push_back(stepper_->make_plan(context_.get(), place_, place_.block, steps, options));
    add_edges(stage, options);
  } else {
    const std::vector<Box> list = boxes(inner_first);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool first = messages_.empty() || (list.size() > 1 && i == 0);
      // What follows halos that come on a stream is queued behind them.
      tessera_context* const context = first || device_ == nullptr ? context_.get() : copier_.get();
      BoxPlan plan = stepper_->make_plan(context, place_, list[i], steps, options);
      plan.number = i;
      (first ? stage.before : stage.after).push_back(std::move(plan));
    }
  }
  stage.places = stepper_->places_after((stage.before.empty() ? stage.after : stage.before).front().plan.get());
  return stage;
}

/// Where the levels of each field are after an execution.
void DomainPlan::find_places() {
  for (std::size_t f = 0; f < stepper_->fields().size(); ++f) {
    std::vector<int>& places = places_.emplace_back();
    for (std::size_t level = 0; level < stepper_->fields()[f].levels; ++level) places.push_back(int(level));
    for (std::int64_t round = 0; round < rounds_; ++round) {
      const std::vector<int> before = places;
      for (std::size_t level = 0; level < places.size(); ++level)
        places[level] = before[std::size_t(stage_of(round).places[f][level])];
    }
  }
}

void DomainPlan::describe() {
  const Stage* const first = stages_.empty() ? nullptr : &stages_.front();
  const auto& ranks = cut_->ranks();
  const int axes = stepper_->axes();
  if (first != nullptr)
    description_ = info_of((first->before.empty() ? first->after : first->before).front().plan.get()).description;
  description_ += " | block " + text_of(place_.block.extents(), axes) + " of " +
                  text_of(stepper_->domain().extents, axes) + ", rank " + std::to_string(comm_->rank()) + " of " +
                  text_of({ranks[0], ranks[1], ranks[2]}, axes) + ", steps between exchanges " +
                  std::to_string(first == nullptr ? way_.depth : first->steps);
  if (comm_->size() == 1) return;
  const bool beside = first != nullptr && !first->before.empty() && first->after.size() + first->edges.size() > 0;
  description_ += std::string(beside ? ", inner points beside halos " : ", halos ") +
                  (device_ != nullptr ? device_->name() : host_->name());
  if (device_ == nullptr && copier_ != nullptr && !why_no_device_.empty()) description_ += " (" + why_no_device_ + ")";
}

std::size_t DomainPlan::checked(std::int32_t field) const {
  const auto count = std::int64_t(stepper_->fields().size());
  if (field < 0 || field >= count) invalid("field", field, "must lie in [0, " + std::to_string(count) + ")");
  return std::size_t(field);
}

int DomainPlan::place_after(std::int32_t field, std::int32_t level) const {
  const std::size_t f = checked(field);
  const auto levels = std::int32_t(places_[f].size());
  if (level > 0 || level <= -levels)
    invalid("level", level, "must lie in [" + std::to_string(1 - levels) + ", 0], the levels of the field");
  return places_[f][std::size_t(-level)];
}

}  // namespace tessera::distributed
