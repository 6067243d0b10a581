// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "stepper.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <string>

namespace tessera::distributed {
namespace {

using core::indexed;
using core::invalid;

/// Rounds read one array and write another one: the first reads `in`, the last writes `out`, and those between take a
/// third one and `out` in turns.
class StencilStepper : public Stepper {
 public:
  /// Throws where the descriptor is not one of a whole domain.
  explicit StencilStepper(const tessera_stencil_desc& desc);

  void add_to(Signature& signature) const override;
  Reach reach(std::size_t field, std::size_t level, int depth) const override;
  bool is_in_place() const override { return false; }
  bool has_way(int depth, bool inner_first, bool travels) const override {
    return inner_first == (depth == 1 || !travels);
  }
  std::vector<int> depths() const override { return {1, 2, 4, 5, 8, 10, 16}; }
  std::vector<std::string> algorithms(tessera_context*, const tessera_plan_options&) const override { return {""}; }

  BoxPlan make_plan(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                    const tessera_plan_options& options) const override;
  double seconds(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                 const tessera_plan_options& options) const override;
  std::vector<std::vector<int>> places_after(const tessera_plan*) const override { return {{1, 2, 1}}; }
  void make_room(Comm& comm, tessera_context* context, const Place& place, const std::vector<Box>& boxes,
                 std::int64_t rounds) override;

  /// Those with the roles of `in` and `out`.
  Operands operands(const tessera_execution& execution) const override;
  void run(const BoxPlan& plan, const Operands& operands, std::int64_t first_step) const override;

 private:
  tessera_stencil_desc part(const Place& place, const Box& box, std::int64_t steps) const;

  tessera_stencil_desc desc_;
  std::vector<tessera_tap> taps_;
  std::int64_t rounds_ = 1;
  BufferHandle scratch_;
};

StencilStepper::StencilStepper(const tessera_stencil_desc& desc) : desc_(desc) {
  if (desc.rank < 1 || desc.rank > kAxes) invalid("rank", desc.rank, "must be 1, 2 or 3");
  if (desc.tap_count < 1) invalid("tap_count", desc.tap_count, "must be at least 1");
  if (desc.taps == nullptr) invalid("taps", "null", "must point to " + std::to_string(desc.tap_count) + " taps");
  if (desc.tap_size != sizeof(tessera_tap)) invalid("tap_size", std::int64_t(desc.tap_size), "must be that of a tap");
  core::at_least("steps", desc.steps, 0);
  if (!is_known(DType(desc.dtype))) invalid("dtype", desc.dtype, "must be an element type");
  taps_.assign(desc.taps, desc.taps + desc.tap_count);
  desc_.taps = taps_.data();
  axes_ = desc.rank, steps_ = desc.steps;
  fields_ = {{TESSERA_FIELD_STATE, std::int64_t(size_of(DType(desc.dtype))), 3, 0}};
  for (int axis = 0; axis < desc.rank; ++axis) {
    core::at_least(indexed("extents", axis), desc.extents[axis], 1, ": an empty domain cannot be cut");
    domain_.extents[axis] = desc.extents[axis];
    domain_.periodic[axis] = desc.boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC;
    if ((desc.boundary[axis][1] == TESSERA_BOUNDARY_PERIODIC) != domain_.periodic[axis])
      invalid(indexed("boundary", axis), "periodic on one side", "must be periodic on both sides or on none");
    for (const std::int64_t stride : {desc.in_strides[axis], desc.out_strides[axis]})
      if (stride != TESSERA_PACKED)
        invalid(indexed("strides", axis), stride, "must be packed: the plan lays out the blocks");
    for (const tessera_boundary mode : desc.boundary[axis]) {
      if (mode == TESSERA_BOUNDARY_HALO)
        invalid(indexed("boundary", axis), mode, "must not be halo: ranks get theirs from each other");
      if (mode == TESSERA_BOUNDARY_MIRROR) domain_.beyond[axis] = 1;
    }
    for (const tessera_tap& tap : taps_) {
      domain_.low[axis] = std::max(domain_.low[axis], -tap.offset[axis]);
      domain_.high[axis] = std::max(domain_.high[axis], std::int64_t(tap.offset[axis]));
    }
  }
  states_ = {domain_.low, domain_.high, false};
  for (const tessera_tap& tap : taps_)
    states_.corners = states_.corners || (tap.offset[0] != 0) + (tap.offset[1] != 0) + (tap.offset[2] != 0) > 1;
}

void StencilStepper::add_to(Signature& signature) const {
  signature.add("dtype", desc_.dtype), signature.add("rank", desc_.rank);
  signature.add("steps", desc_.steps), signature.add("compute", desc_.compute);
  signature.add("sums", desc_.sums);
  for (int axis = 0; axis < desc_.rank; ++axis) {
    signature.add(indexed("extents", axis), desc_.extents[axis]);
    for (int side = 0; side < 2; ++side) {
      signature.add(indexed("boundary", axis), desc_.boundary[axis][side]);
      signature.add(indexed("boundary_value", axis), desc_.boundary_value[axis][side]);
    }
  }
  signature.add("tap_count", desc_.tap_count);
  for (const tessera_tap& tap : taps_) {
    for (int axis = 0; axis < desc_.rank; ++axis) signature.add("the offset of a tap", tap.offset[axis]);
    signature.add("the coefficient of a tap", tap.coefficient);
  }
}

/// What is written is nobody else's.
Reach StencilStepper::reach(std::size_t, std::size_t level, int depth) const {
  if (level > 0) return {};
  Reach reach = states_;
  for (int axis = 0; axis < kAxes; ++axis) reach.low[axis] *= depth, reach.high[axis] *= depth;
  reach.corners = reach.corners || depth > 1;
  return reach;
}

/// The descriptor of some steps of a box of the array. A side that is none of the domain's has its values in the array;
/// after several steps only those points are right that are as many times as far from it as a step reads.
tessera_stencil_desc StencilStepper::part(const Place& place, const Box& box, std::int64_t steps) const {
  tessera_stencil_desc desc = desc_;
  const Index extents = box.extents(), strides = place.array.strides();
  desc.steps = steps;
  for (int axis = 0; axis < desc.rank; ++axis) {
    desc.extents[axis] = extents[axis];
    desc.in_strides[axis] = desc.out_strides[axis] = strides[axis];
    const bool at_side[] = {box.low[axis] == place.block.low[axis], box.high[axis] == place.block.high[axis]};
    for (int side = 0; side < 2; ++side)
      if (!at_side[side] || !place.cut->is_outer(place.rank, axis, side))
        desc.boundary[axis][side] = steps == 1 ? TESSERA_BOUNDARY_HALO : TESSERA_BOUNDARY_FIXED;
  }
  return desc;
}

BoxPlan StencilStepper::make_plan(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                                  const tessera_plan_options& options) const {
  const tessera_stencil_desc desc = part(place, box, steps);
  const std::int64_t begin = place.array.offset(box.low) * fields_.front().element;
  return {distributed::make_plan(context, &desc, options), begin, begin};
}

double StencilStepper::seconds(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                               const tessera_plan_options& options) const {
  const tessera_stencil_desc desc = part(place, box, steps);
  return least_seconds(context, &desc, options);
}

void StencilStepper::make_room(Comm& comm, tessera_context* context, const Place& place, const std::vector<Box>&,
                               std::int64_t rounds) {
  rounds_ = rounds;
  together(comm, [&] {
    if (rounds > 1) scratch_ = make_buffer(context, place.array.points() * fields_.front().element);
  });
}

Operands StencilStepper::operands(const tessera_execution& execution) const {
  void *const in = execution.operands[0].data, *const out = execution.operands[1].data;
  if (in == nullptr) invalid("in", "null", "must be an array");
  if (out == nullptr) invalid("out", "null", "must be an array");
  if (in == out) invalid("out", "in", "must be another array: neighbours of a point are read after it");
  void* const other = scratch_ == nullptr ? out : tessera_buffer_data(scratch_.get());
  const bool odd = rounds_ % 2 != 0;  // then the first round writes `out`, as the last one does
  return {std::vector<Arrays>{Arrays{in, odd ? out : other, odd ? other : out}}, {}, {}};
}

void StencilStepper::run(const BoxPlan& plan, const Operands& operands, std::int64_t) const {
  const Arrays& levels = operands.fields.front();
  const tessera_operand given[] = {{at(levels[0], plan.from), desc_.dtype, TESSERA_ROLE_IN},
                                   {at(levels[1], plan.to), desc_.dtype, TESSERA_ROLE_OUT}};
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = given, execution.operand_size = sizeof *given, execution.operand_count = 2;
  execution.scalar_size = sizeof(tessera_scalar);
  call(tessera_plan_execute, plan.plan.get(), &execution);
}

}  // namespace

std::unique_ptr<Stepper> Stepper::of(const tessera_stencil_desc& desc) {
  return std::make_unique<StencilStepper>(desc);
}

}  // namespace tessera::distributed
