// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps of a stencil on devices with halos that travel beside the inner points.
///
/// The inner points take their steps from the block alone, which leaves as many wrong points beside other ranks as the
/// steps read. Those are the edges, whose steps are made into memory of their own, three times as wide:
///
///     other rank | halo |            block             | halo | other rank
///                       |wrong|     inner points  |wrong|
///                |wrong |right|wrong|       |wrong|right|wrong |   edges
///
/// What is right of an edge goes into the block when the inner points are done, and from there to the neighbour.
///
/// It is for volumes on devices whose halos are long: heat of 512^3 a device ran at 0.963 of one device's speed with
/// edges, at 0.943 without, heat of 256^3 at 0.76 with them. docs/notes/distributed.md has what else was tried.

#include "plan.hpp"
#include "transport/driver.hpp"

#include <algorithm>

namespace tessera::distributed {

/// Edges that a block has room for along the first axis, at least: one makes at most 3/16 of the block's points.
constexpr std::int64_t kLeastRoom = 16;
/// Seconds of halos that are worth hiding: between those of heat of 512^3 with 4 steps (4 MiB), which took 36 us on two
/// H200 and won, and those of 256^3 (1 MiB), which lost.
constexpr double kLeastHalos = 30e-6;
/// Halos take so many times as long as the points that edges add, at least, or edges take up what they hide.
constexpr double kGain = 2.0;

/// Points that a block with edges computes over those that it has.
double DomainPlan::edge_share(std::int64_t steps) const {
  int edges = 0;
  for (int side = 0; side < 2; ++side) edges += !cut_->is_outer(comm_->rank(), 0, side);
  return 1.0 + 3.0 * double(edges * steps * stepper_->domain().low[0]) / double(place_.block.extents()[0]);
}

/// Whether several steps are cut into inner points and edges. Edges are small kernels, of which a sweep in 2D makes a
/// poor one.
bool DomainPlan::has_edges(std::int64_t steps, const tessera_plan_options& options) const {
  const Domain& domain = stepper_->domain();
  if (device_ == nullptr || messages_.empty() || stepper_->is_in_place() || steps < 2 || stepper_->axes() < 3 ||
      domain.low[0] != domain.high[0] || place_.block.extents()[0] < kLeastRoom * steps * domain.low[0])
    return false;
  const double halos = seconds_of_halos();
  return halos > kLeastHalos && halos > kGain * (edge_share(steps) - 1.0) *
                                            stepper_->seconds(context_.get(), place_, place_.block, steps, options);
}

void DomainPlan::add_edges(Stage& stage, const tessera_plan_options& options) const {
  const std::int64_t reach = stepper_->domain().low[0], width = stage.steps * reach;
  const std::int64_t plane = place_.array.strides()[0] * stepper_->fields().front().element;
  for (int side = 0; side < 2; ++side) {
    if (cut_->is_outer(comm_->rank(), 0, side)) continue;
    Box right = place_.block;
    (side == 0 ? right.high : right.low)[0] = side == 0 ? right.low[0] + width : right.high[0] - width;
    Box box = right;
    box.low[0] -= width, box.high[0] += width;
    Edge edge{stepper_->make_plan(copier_.get(), place_, box, stage.steps, options), 0, 0, 0};
    // The memory of an edge has planes as the array does.
    edge.plan.to = side * 3 * cut_->depth() * reach * plane + edge.plan.from % plane;
    edge.made = edge.plan.to + width * plane;
    edge.target = place_.array.offset(right.low) * stepper_->fields().front().element;
    edge.bytes = std::size_t(right.points() * stepper_->fields().front().element);
    stage.edges.push_back(std::move(edge));
  }
}

/// Behind the halos: the edges, and when the inner points are there, what is right of them into the array.
void DomainPlan::run_edges(const Stage& stage, const Operands& operands) const {
  if (stage.edges.empty()) return;
  void* const memory = tessera_buffer_data(edges_.get());
  const Arrays& levels = operands.fields.front();
  const Operands apart{std::vector<Arrays>{Arrays{levels[0], memory}}, {}, {}};
  for (const Edge& edge : stage.edges) stepper_->run(edge.plan, apart, 0);
  wait(copier_.get(), context_.get());
  void* const device = driver::device_of(copier_.get());
  void* const stream = stream_of(copier_.get());
  for (const Edge& edge : stage.edges)
    driver::copy(device, stream,
                 {at(memory, edge.made), at(levels[1], edge.target), edge.bytes, edge.bytes, 1, edge.bytes});
}

}  // namespace tessera::distributed
