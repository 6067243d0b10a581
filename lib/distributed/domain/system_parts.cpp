// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A rank's part of a system: the same fields and updates on its array, which is a domain of its own.

#include "system_description.hpp"

#include <algorithm>

namespace tessera::distributed {
namespace {

bool is_in(const Box& box, const Index& point) {
  for (std::size_t axis = 0; axis < kAxes; ++axis)
    if (point[axis] < box.low[axis] || point[axis] >= box.high[axis]) return false;
  return true;
}

Index plus(Index point, const Index& distance) {
  for (std::size_t axis = 0; axis < kAxes; ++axis) point[axis] += distance[axis];
  return point;
}

}  // namespace

/// An array that leaves a periodic domain sees the domain's points at these distances, too.
std::array<std::vector<std::int64_t>, kAxes> SystemDescription::images(const Box& array) const {
  std::array<std::vector<std::int64_t>, kAxes> distances;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const std::int64_t extent = domain_.extents[axis];
    for (const std::int64_t distance : {-extent, std::int64_t(0), extent})
      if (array.low[axis] < extent + distance && array.high[axis] > distance) distances[axis].push_back(distance);
  }
  return distances;
}

void SystemDescription::describe(LocalSystem& local, const Decomposition& cut, int rank, const Box& made,
                                 std::int64_t steps, const std::vector<Slot>& slots) const {
  const Box array = cut.array(rank);
  const Index extents = array.extents();
  local.fields = fields_;
  for (tessera_field& field : local.fields)
    for (int axis = 0; axis < desc_.rank; ++axis)
      for (int side = 0; side < 2; ++side)
        if (!cut.is_outer(rank, axis, side) ||
            (cut.ranks()[std::size_t(axis)] > 1 && field.boundary[axis][side] == TESSERA_BOUNDARY_PERIODIC))
          field.boundary[axis][side] = TESSERA_BOUNDARY_FIXED;
  add_updates(local, array);
  add_injections(local, array, made);
  add_recordings(local, array, slots);
  tessera_system_desc& d = local.desc;
  d = desc_;
  d.steps = steps;
  for (int axis = 0; axis < desc_.rank; ++axis) {
    d.extents[axis] = extents[axis];
    if (made.low == array.low && made.high == array.high) continue;
    d.low[axis] = made.low[axis] - array.low[axis], d.high[axis] = made.high[axis] - array.low[axis];
  }
  d.fields = local.fields.data();
  d.updates = local.updates.data(), d.update_count = std::int64_t(local.updates.size());
  d.injections = local.injections.data(), d.recordings = local.recordings.data();
}

void SystemDescription::add_updates(LocalSystem& local, const Box& array) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const std::size_t before = local.updates.size();
    std::int32_t stage = 0;
    for (const tessera_update& update : updates_)
      if (update.field == std::int32_t(f)) stage = update.stage, add_update(local, update, array);
    if (fields_[f].kind == TESSERA_FIELD_STATE && local.updates.size() == before)
      keep_values(local, std::int32_t(f), stage);
  }
}

/// The parts of an update's box that lie on the array.
void SystemDescription::add_update(LocalSystem& local, const tessera_update& update, const Box& array) const {
  const bool whole = std::all_of(update.high, update.high + desc_.rank, [](std::int64_t x) { return x == 0; });
  auto distances = images(array);
  Index low{}, high = domain_.extents;
  for (int axis = 0; axis < desc_.rank && !whole; ++axis) low[axis] = update.low[axis], high[axis] = update.high[axis];
  for (std::size_t axis = 0; axis < kAxes; ++axis)  // all of a ring is on all of its images
    if (low[axis] == 0 && high[axis] == domain_.extents[axis])
      low[axis] = array.low[axis], high[axis] = array.high[axis], distances[axis] = {0};
  for (const std::int64_t i : distances[0])
    for (const std::int64_t j : distances[1])
      for (const std::int64_t k : distances[2]) {
        Box box{plus(low, {i, j, k}), plus(high, {i, j, k})};
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
          box.low[axis] = std::max(box.low[axis], array.low[axis]);
          box.high[axis] = std::min(box.high[axis], array.high[axis]);
        }
        if (box.empty()) continue;
        tessera_update part = update;
        for (int axis = 0; axis < desc_.rank; ++axis)
          part.low[axis] = box.low[axis] - array.low[axis], part.high[axis] = box.high[axis] - array.low[axis];
        local.updates.push_back(part);
      }
}

/// An update to what the state is.
void SystemDescription::keep_values(LocalSystem& local, std::int32_t field, std::int32_t stage) const {
  tessera_term& term = local.kept_terms.emplace_back();
  term.coefficient = 1.0, term.factor_count = 1, term.factors[0].field = field;
  tessera_group& group = local.kept_groups.emplace_back();
  group.terms = &term, group.term_size = sizeof term, group.term_count = 1;
  tessera_update update{};
  update.field = field, update.stage = stage;
  update.groups = &group, update.group_size = sizeof group, update.group_count = 1;
  local.updates.push_back(update);
}

tessera_points SystemDescription::described(LocalSystem& local, PointSet set) const {
  const PointSet& kept = local.sets.emplace_back(std::move(set));
  std::vector<std::int64_t>& places = local.places.emplace_back();
  for (const Index& place : kept.places) places.insert(places.end(), place.begin(), place.begin() + desc_.rank);
  return {kept.field,         kept.stage,       std::int64_t(kept.weights.size()), places.data(), kept.weights.data(),
          kept.series.data(), kept.series_count};
}

void SystemDescription::add_injections(LocalSystem& local, const Box& array, const Box& made) const {
  const auto distances = images(array);
  for (const PointSet& set : injections_) {
    PointSet part{set.field, set.stage, set.series_count, {}, {}, {}};
    for (std::size_t e = 0; e < set.places.size(); ++e)
      for (const std::int64_t i : distances[0])
        for (const std::int64_t j : distances[1])
          for (const std::int64_t k : distances[2]) {
            const Index place = plus(set.places[e], {i, j, k});
            if (!is_in(made, place)) continue;
            part.places.push_back(plus(place, {-array.low[0], -array.low[1], -array.low[2]}));
            part.weights.push_back(set.weights[e]), part.series.push_back(set.series[e]);
          }
    local.injections.push_back(described(local, std::move(part)));
  }
}

void SystemDescription::add_recordings(LocalSystem& local, const Box& array, const std::vector<Slot>& slots) const {
  for (std::size_t s = 0; s < recordings_.size(); ++s) {
    const PointSet& set = recordings_[s];
    std::vector<std::vector<std::size_t>> entries(std::size_t(set.series_count));
    for (std::size_t e = 0; e < set.series.size(); ++e) entries[std::size_t(set.series[e])].push_back(e);
    PointSet part{set.field, set.stage, 0, {}, {}, {}};
    for (const Slot& slot : slots) {
      if (slot.set != std::int64_t(s)) continue;
      const std::vector<std::size_t> one{std::size_t(slot.id)};
      for (const std::size_t e : slot.whole != 0 ? entries[std::size_t(slot.id)] : one) {
        part.places.push_back(plus(set.places[e], {-array.low[0], -array.low[1], -array.low[2]}));
        part.weights.push_back(slot.whole != 0 ? set.weights[e] : 1.0);
        part.series.push_back(part.series_count);
      }
      ++part.series_count;
    }
    local.recordings.push_back(described(local, std::move(part)));
  }
}

std::vector<Slot> SystemDescription::slots(const Box& box) const {
  std::vector<Slot> slots;
  for (std::size_t s = 0; s < recordings_.size(); ++s) {
    const PointSet& set = recordings_[s];
    std::vector<char> seen(std::size_t(set.series_count), 0), leaves = seen;
    for (std::size_t e = 0; e < set.places.size(); ++e)
      (is_in(box, set.places[e]) ? seen : leaves)[std::size_t(set.series[e])] = 1;
    for (std::int64_t i = 0; i < set.series_count; ++i)
      if (seen[std::size_t(i)] != 0 && leaves[std::size_t(i)] == 0) slots.push_back({std::int64_t(s), 1, i});
    for (std::size_t e = 0; e < set.places.size(); ++e)
      if (leaves[std::size_t(set.series[e])] != 0 && is_in(box, set.places[e]))
        slots.push_back({std::int64_t(s), 0, std::int64_t(e)});
  }
  return slots;
}

}  // namespace tessera::distributed
