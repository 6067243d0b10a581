// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/canonical_system.hpp"

#include <algorithm>
#include <utility>

namespace tessera::core {

CanonicalSystem::CanonicalSystem(System system) : system_(std::move(system)) {
  for (const System::Field& field : system_.fields) describe(field);
  for (const System::Update& update : system_.updates) describe(update);
  for (const System::Points& points : system_.injections) {
    names_.push_back("injections[" + std::to_string(injections_.size()) + "]");
    injections_.push_back(described(points));
  }
  for (const System::Points& points : system_.recordings) {
    names_.push_back("recordings[" + std::to_string(recordings_.size()) + "]");
    recordings_.push_back(described(points));
  }
  desc_.struct_size = sizeof desc_;
  desc_.op = TESSERA_OP_SYSTEM;
  desc_.dtype = system_.dtype;
  desc_.rank = system_.rank;
  std::copy_n(system_.extents.begin(), system_.rank, desc_.extents);
  desc_.steps = system_.steps;
  desc_.fields = fields_.data(), desc_.field_size = sizeof(tessera_field);
  desc_.field_count = std::int64_t(fields_.size());
  desc_.updates = updates_.data(), desc_.update_size = sizeof(tessera_update);
  desc_.update_count = std::int64_t(updates_.size());
  desc_.injections = injections_.data(), desc_.injection_count = std::int64_t(injections_.size());
  desc_.recordings = recordings_.data(), desc_.recording_count = std::int64_t(recordings_.size());
  desc_.points_size = sizeof(tessera_points);
  if (system_.makes_all()) return;
  std::copy_n(system_.low.begin(), system_.rank, desc_.low);
  std::copy_n(system_.high.begin(), system_.rank, desc_.high);
}

void CanonicalSystem::describe(const System::Field& field) {
  tessera_field f{};
  f.name = field.name.c_str();
  f.kind = field.kind;
  f.dtype = field.dtype;
  f.levels = field.kind == TESSERA_FIELD_STATE ? field.levels : 0;
  f.axis = field.axis;
  f.next = field.next;
  std::copy_n(field.layout.strides, field.layout.rank, f.strides);
  for (std::size_t axis = 0; axis < std::size_t(system_.rank); ++axis)
    for (std::size_t side = 0; side < 2; ++side) {
      f.boundary[axis][side] = field.boundary[axis][side];
      f.boundary_value[axis][side] = field.boundary_value[axis][side];
    }
  fields_.push_back(f);
  for (int level = 0; level < field.levels; ++level)
    names_.push_back(level == 0 ? field.name : field.name + "[-" + std::to_string(level) + "]");
}

void CanonicalSystem::describe(const System::Update& update) {
  std::vector<tessera_group>& groups = groups_.emplace_back();
  for (const System::Group& group : update.groups) {
    tessera_group g{};
    g.factor_count = std::int64_t(group.factors.size());
    std::copy(group.factors.begin(), group.factors.end(), g.factors);
    g.terms = group.terms.data(), g.term_size = sizeof(tessera_term), g.term_count = std::int64_t(group.terms.size());
    groups.push_back(g);
  }
  tessera_update u{};
  u.field = update.field, u.stage = update.stage;
  std::copy_n(update.low.begin(), system_.rank, u.low);
  std::copy_n(update.high.begin(), system_.rank, u.high);
  u.groups = groups.data(), u.group_size = sizeof(tessera_group), u.group_count = std::int64_t(groups.size());
  updates_.push_back(u);
}

tessera_points CanonicalSystem::described(const System::Points& points) {
  std::vector<std::int64_t>& places = places_.emplace_back();
  for (const System::Place& place : points.places)
    places.insert(places.end(), place.begin(), place.begin() + system_.rank);
  return {points.field,       points.stage,          std::int64_t(points.weights.size()),
          places.data(),      points.weights.data(), points.series.data(),
          points.series_count};
}

int place_of_level(const System::Field& field, std::int64_t steps, int level) {
  const bool apart = field.next == TESSERA_NEXT_APART;
  const std::int64_t arrays = field.levels + (apart ? 1 : 0);
  const auto place = [&](int l) { return int(((l - steps) % arrays + arrays) % arrays); };
  return place(level) == field.levels ? place(field.levels) : place(level);
}

}  // namespace tessera::core
