// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stencil.hpp"

#include "alike.hpp"
#include "blocks.hpp"
#include "check.hpp"
#include "text.hpp"
#include "together.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace tessera::distributed {
namespace {

using core::invalid;

std::string at(const char* name, int axis) { return std::string(name) + "[" + std::to_string(axis) + "]"; }

}  // namespace

StencilPlan::StencilPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_stencil_desc& desc,
                         const tessera_decomposition& wishes, const tessera_plan_options& options)
    : comm_(std::move(comm)) {
  together(*comm_, [&] {
    context_ = taken(context, options);
    read(desc);
  });
  together(*comm_, [&] { check_alike(wishes, options.algorithm); });
  together(*comm_, [&] { check_backends(*comm_, context_.get()); });
  tessera_decomposition cut = wishes;
  together(*comm_, [&] {
    core::one_of("halos", wishes.halos, TESSERA_HALO_DEFAULT, TESSERA_HALO_NCCL, "automatic (0), host (1), nccl (2)");
    lay_out(cut);
    look_at_context(options);
  });
  carrier_.emplace(comm_, context_.get(), on_host_, wishes.halos, std::vector<Halos>{halos_});
  std::copy(cut_->ranks().begin(), cut_->ranks().end(), cut.ranks);
  if (wishes.depth == 0) {
    together(*comm_, [&] { cut.depth = choose_depth(cut, options); });
    comm_->broadcast(&cut.depth, sizeof cut.depth, 0);
  }
  together(*comm_, [&] {
    lay_out(cut);
    carrier_->take(desc_.steps > 0 ? std::vector<Halos>{halos_} : std::vector<Halos>{});
    make_stages(options);
    describe();
  });
}

/// The blocks, and what travels between them.
void StencilPlan::lay_out(const tessera_decomposition& wishes) {
  cut_.emplace(domain_, comm_->size(), wishes);
  own_ = array_of(*cut_, comm_->rank(), std::int64_t(size_of(DType(desc_.dtype))));
  Reach reach{domain_.low, domain_.high, cut_->depth() > 1};
  for (int axis = 0; axis < kAxes; ++axis) reach.low[axis] *= cut_->depth(), reach.high[axis] *= cut_->depth();
  for (const tessera_tap& tap : taps_)
    reach.corners = reach.corners || (tap.offset[0] != 0) + (tap.offset[1] != 0) + (tap.offset[2] != 0) > 1;
  halos_ = halos_of(*cut_, comm_->rank(), own_.element, reach);
  depth_ = exchanges() ? std::min<std::int64_t>(cut_->depth(), desc_.steps) : desc_.steps;
}

/// Where the context computes.
void StencilPlan::look_at_context(const tessera_plan_options& options) {
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;  // a backend that computes on the host takes both
  const Box block = cut_->block(comm_->rank());
  const std::int64_t steps = std::min<std::int64_t>(desc_.steps, 1);
  on_host_ = info_of(make_piece(context_.get(), block, steps, on_device).plan.get()).host_memory != 0;
  if (!on_host_ && options.operands == TESSERA_MEMORY_HOST)
    invalid("operands", "host", "must be device: the halos of blocks on a device travel from there");
}

void StencilPlan::read(const tessera_stencil_desc& desc) {
  desc_ = desc;
  if (desc.rank < 1 || desc.rank > kAxes) invalid("rank", desc.rank, "must be 1, 2 or 3");
  if (desc.tap_count < 1) invalid("tap_count", desc.tap_count, "must be at least 1");
  if (desc.taps == nullptr) invalid("taps", "null", "must point to " + std::to_string(desc.tap_count) + " taps");
  if (desc.tap_size != sizeof(tessera_tap)) invalid("tap_size", std::int64_t(desc.tap_size), "must be that of a tap");
  core::at_least("steps", desc.steps, 0);
  taps_.assign(desc.taps, desc.taps + desc.tap_count);
  desc_.taps = taps_.data();
  for (int axis = 0; axis < desc.rank; ++axis) {
    core::at_least(at("extents", axis), desc.extents[axis], 1, ": an empty domain cannot be cut");
    domain_.extents[axis] = desc.extents[axis];
    domain_.periodic[axis] = desc.boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC;
    if ((desc.boundary[axis][1] == TESSERA_BOUNDARY_PERIODIC) != domain_.periodic[axis])
      invalid(at("boundary", axis), "periodic on one side", "must be periodic on both sides or on none");
    for (const std::int64_t stride : {desc.in_strides[axis], desc.out_strides[axis]})
      if (stride != TESSERA_PACKED)
        invalid(at("strides", axis), stride, "must be packed: the plan lays out the blocks");
    for (const tessera_boundary mode : desc.boundary[axis]) {
      if (mode == TESSERA_BOUNDARY_HALO)
        invalid(at("boundary", axis), mode, "must not be halo: ranks get theirs from each other");
      if (mode == TESSERA_BOUNDARY_MIRROR) domain_.beyond[axis] = 1;
    }
    for (const tessera_tap& tap : taps_) {
      domain_.low[axis] = std::max(domain_.low[axis], -tap.offset[axis]);
      domain_.high[axis] = std::max(domain_.high[axis], std::int64_t(tap.offset[axis]));
    }
  }
}

void StencilPlan::check_alike(const tessera_decomposition& wishes, const char* algorithm) {
  Alike alike;
  alike.add("dtype", std::int64_t(desc_.dtype)), alike.add("rank", std::int64_t(desc_.rank));
  alike.add("steps", desc_.steps), alike.add("compute", std::int64_t(desc_.compute));
  alike.add("sums", std::int64_t(desc_.sums));
  for (int axis = 0; axis < desc_.rank; ++axis) {
    alike.add(at("extents", axis), desc_.extents[axis]);
    for (int side = 0; side < 2; ++side) {
      alike.add(at("boundary", axis), std::int64_t(desc_.boundary[axis][side]));
      alike.add(at("boundary_value", axis), desc_.boundary_value[axis][side]);
    }
  }
  add_cut(alike, wishes, comm_->size());
  alike.add("tap_count", desc_.tap_count);
  for (const tessera_tap& tap : taps_) {
    for (int axis = 0; axis < desc_.rank; ++axis) alike.add("the offset of a tap", std::int64_t(tap.offset[axis]));
    alike.add("the coefficient of a tap", tap.coefficient);
  }
  alike.add("algorithm", algorithm);
  alike.check(*comm_);
}

/// The points of the block whose step reads nothing of other ranks; empty where the rest would be no gain.
Box StencilPlan::inside() const {
  Box box = cut_->block(comm_->rank());
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!cut_->is_outer(comm_->rank(), axis, 0)) box.low[axis] += domain_.low[axis];
    if (!cut_->is_outer(comm_->rank(), axis, 1)) box.high[axis] -= domain_.high[axis];
    if (box.high[axis] - box.low[axis] < domain_.least(axis, 1)) return {};
  }
  return box;
}

/// The descriptor of some steps of a box of the array. A side that is none of the domain's has its values in the array;
/// after several steps only those points are right that are as many times as far from it as a step reads.
tessera_stencil_desc StencilPlan::part(const Box& box, std::int64_t steps) const {
  tessera_stencil_desc desc = desc_;
  const Index extents = box.extents(), strides = own_.strides();
  const Box block = cut_->block(comm_->rank());
  desc.steps = steps;
  for (int axis = 0; axis < desc.rank; ++axis) {
    desc.extents[axis] = extents[axis];
    desc.in_strides[axis] = desc.out_strides[axis] = strides[axis];
    const bool at_side[] = {box.low[axis] == block.low[axis], box.high[axis] == block.high[axis]};
    for (int side = 0; side < 2; ++side)
      if (!at_side[side] || !cut_->is_outer(comm_->rank(), axis, side))
        desc.boundary[axis][side] = steps == 1 ? TESSERA_BOUNDARY_HALO : TESSERA_BOUNDARY_FIXED;
  }
  return desc;
}

StencilPlan::Piece StencilPlan::make_piece(tessera_context* context, const Box& box, std::int64_t steps,
                                           const tessera_plan_options& options) const {
  const tessera_stencil_desc desc = part(box, steps);
  return {own_.offset(box.low) * own_.element, make_plan(context, &desc, options)};
}

StencilPlan::Stage StencilPlan::make_stage(std::int64_t steps, const tessera_plan_options& options) const {
  if (has_rims(steps, options)) return make_rims(steps, options);
  Stage stage;
  // What follows halos that NCCL brings is queued behind them.
  tessera_context* const behind = carrier_->on_streams() ? carrier_->context() : context_.get();
  const Box inner = exchanges() && steps == 1 ? inside() : Box{}, block = cut_->block(comm_->rank());
  if (!exchanges()) {
    stage.before.push_back(make_piece(context_.get(), block, steps, options));
  } else if (inner.empty()) {
    stage.after.push_back(make_piece(behind, steps == 1 ? block : own_.box, steps, options));
  } else {
    stage.before.push_back(make_piece(context_.get(), inner, steps, options));
    for (const Box& slab : around(block, inner)) stage.after.push_back(make_piece(behind, slab, steps, options));
  }
  return stage;
}

void StencilPlan::make_stages(const tessera_plan_options& options) {
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;  // a backend that computes on the host takes both
  stages_.push_back(make_stage(depth_, each));
  rounds_ = depth_ == 0 ? 1 : (desc_.steps + depth_ - 1) / depth_;
  if (depth_ > 0 && desc_.steps % depth_ != 0) stages_.push_back(make_stage(desc_.steps % depth_, each));
  if (rounds_ > 1) scratch_ = make_buffer(context_.get(), own_.bytes());
  std::int64_t bytes = 0;
  for (const Stage& stage : stages_)
    for (const Rim& rim : stage.rims) bytes = std::max(bytes, rim.right + 2 * std::int64_t(rim.bytes));
  if (bytes > 0) rims_ = make_buffer(context_.get(), bytes);
}

void StencilPlan::describe() {
  const Stage& first = stages_.front();
  const Index block = cut_->block(comm_->rank()).extents();
  const auto& ranks = cut_->ranks();
  description_ = info_of((first.before.empty() ? first.after : first.before).front().plan.get()).description;
  description_ += " | block " + text_of(block, desc_.rank) + " of " + text_of(domain_.extents, desc_.rank) + ", rank " +
                  std::to_string(comm_->rank()) + " of " + text_of({ranks[0], ranks[1], ranks[2]}, desc_.rank) +
                  ", steps between exchanges " + std::to_string(depth_);
  if (comm_->size() > 1) description_ += ", halos " + carrier_->description();
}

tessera_block StencilPlan::block(int rank) const { return block_of(*cut_, rank); }

}  // namespace tessera::distributed
