// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_description.hpp"

#include "check.hpp"
#include "handles.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <set>

namespace tessera::distributed {
namespace {

using core::indexed;
using core::invalid;

template <class T>
void require_size(const char* name, std::uint64_t size, std::int64_t count) {
  if (count > 0 && size != sizeof(T)) invalid(name, std::int64_t(size), "must be " + std::to_string(sizeof(T)));
}

std::vector<PointSet> copies(const tessera_points* sets, std::int64_t count, int rank) {
  std::vector<PointSet> copied;
  for (std::int64_t s = 0; s < count; ++s) {
    const tessera_points& p = sets[s];
    PointSet set{p.field, p.stage, p.series_count, {}, {}, {}};
    set.weights.assign(p.weights, p.weights + p.count), set.series.assign(p.series, p.series + p.count);
    for (std::int64_t e = 0; e < p.count; ++e) {
      Index place{};
      std::copy_n(p.points + e * rank, rank, place.begin());
      set.places.push_back(place);
    }
    copied.push_back(std::move(set));
  }
  return copied;
}

}  // namespace

SystemDescription::SystemDescription(const tessera_system_desc& desc) : desc_(desc) {
  require_size<tessera_field>("field_size", desc.field_size, desc.field_count);
  require_size<tessera_update>("update_size", desc.update_size, desc.update_count);
  require_size<tessera_points>("points_size", desc.points_size, desc.injection_count + desc.recording_count);
  tessera_next_level next = TESSERA_NEXT_DEFAULT;
  for (std::int32_t f = 0; f == 0 || f < desc.field_count; ++f)  // a system has a state, and is checked as a whole
    if (desc.fields == nullptr || desc.field_count < 1 || desc.fields[f].kind == TESSERA_FIELD_STATE)
      call(tessera_system_next_level, &desc, f, &next);
  if (std::any_of(desc.high, desc.high + kAxes, [](std::int64_t x) { return x != 0; }))
    invalid("high", desc.high[0], "must be 0: the whole domain is cut");
  copy_fields(desc);
  copy_updates(desc);
  injections_ = copies(desc.injections, desc.injection_count, desc.rank);
  recordings_ = copies(desc.recordings, desc.recording_count, desc.rank);
  std::copy_n(desc.extents, desc.rank, domain_.extents.begin());
  find_reach();
  find_periodic_axes();
  desc_.fields = fields_.data(), desc_.updates = updates_.data();
}

void SystemDescription::copy_fields(const tessera_system_desc& desc) {
  for (std::int32_t f = 0; f < desc.field_count; ++f) {
    tessera_field field = desc.fields[f];
    for (int axis = 0; axis < (field.kind == TESSERA_FIELD_PROFILE ? 1 : desc.rank); ++axis)
      if (field.strides[axis] != TESSERA_PACKED)
        invalid(std::string(field.name) + ".strides", field.strides[axis],
                "must be packed: the plan lays out the blocks");
    field.name = names_.emplace_back(field.name).c_str();
    if (field.dtype == 0) field.dtype = desc.dtype;
    if (field.kind == TESSERA_FIELD_STATE) call(tessera_system_next_level, &desc, f, &field.next);
    has_parts_ = has_parts_ && field.next != TESSERA_NEXT_APART;
    fields_.push_back(field);
  }
}

void SystemDescription::copy_updates(const tessera_system_desc& desc) {
  std::set<std::int32_t> stages;
  for (const tessera_points* points : {desc.injections, desc.recordings})
    for (std::int64_t i = 0; i < (points == desc.injections ? desc.injection_count : desc.recording_count); ++i)
      stages.insert(points[i].stage);
  for (std::int64_t u = 0; u < desc.update_count; ++u) {
    tessera_update update = desc.updates[u];
    require_size<tessera_group>("group_size", update.group_size, update.group_count);
    std::vector<tessera_group>& groups = groups_.emplace_back(update.groups, update.groups + update.group_count);
    for (tessera_group& group : groups) {
      require_size<tessera_term>("term_size", group.term_size, group.term_count);
      group.terms = terms_.emplace_back(group.terms, group.terms + group.term_count).data();
    }
    update.groups = groups.data();
    stages.insert(update.stage);
    updates_.push_back(update);
  }
  has_parts_ = has_parts_ && stages.size() == 1;
}

std::int64_t SystemDescription::element(std::size_t field) const {
  return std::int64_t(size_of(DType(fields_[field].dtype)));
}

std::size_t SystemDescription::arrays(std::size_t field) const {
  return fields_[field].kind == TESSERA_FIELD_STATE ? std::size_t(fields_[field].levels) : 1;
}

template <class Visit>
void SystemDescription::for_each_factor(const tessera_update& update, Visit&& visit) const {
  for (std::int64_t g = 0; g < update.group_count; ++g) {
    const tessera_group& group = update.groups[g];
    for (std::int64_t i = 0; i < group.factor_count; ++i) visit(group.factors[i]);
    for (std::int64_t t = 0; t < group.term_count; ++t)
      for (std::int64_t i = 0; i < group.terms[t].factor_count; ++i) visit(group.terms[t].factors[i]);
  }
}

/// What is needed at an offset from points around a block is needed around the block.
void SystemDescription::Margins::widen(const Margins& around, const std::int64_t (&offset)[kAxes]) {
  for (int axis = 0; axis < kAxes; ++axis) {
    low[axis] = std::max(low[axis], around.low[axis] - offset[axis]);
    high[axis] = std::max(high[axis], around.high[axis] + offset[axis]);
  }
}

/// From the last stage to the first: what a stage reads of levels that earlier ones have made widens those.
void SystemDescription::find_reach() {
  needs_.resize(fields_.size());
  std::vector<Margins> made(fields_.size());
  std::set<std::int32_t, std::greater<>> stages;
  for (const tessera_update& update : updates_) stages.insert(update.stage);
  for (const std::int32_t stage : stages)
    for (const tessera_update& update : updates_) {
      if (update.stage != stage) continue;
      const Margins around = made[std::size_t(update.field)];
      needs_[std::size_t(update.field)][0].widen(around, {0, 0, 0});  // of points that keep their values
      for_each_factor(update, [&](const tessera_factor& f) {
        const auto field = std::size_t(f.field);
        (f.level == 1 ? made[field] : needs_[field][std::size_t(-f.level)]).widen(around, f.offset);
        corners_ = corners_ || (f.offset[0] != 0) + (f.offset[1] != 0) + (f.offset[2] != 0) > 1;
      });
    }
  corners_ = corners_ || stages.size() > 1;
  for (std::size_t f = 0; f < fields_.size(); ++f)
    for (const Margins& need : needs_[f])
      for (int axis = 0; axis < kAxes; ++axis) {
        domain_.low[axis] = std::max(domain_.low[axis], need.low[axis]);
        domain_.high[axis] = std::max(domain_.high[axis], need.high[axis]);
        if (fields_[f].kind != TESSERA_FIELD_STATE) continue;
        states_.low[axis] = std::max(states_.low[axis], need.low[axis]);
        states_.high[axis] = std::max(states_.high[axis], need.high[axis]);
      }
}

/// Fields that are read beside the point along an axis decide whether it is a ring; where they do not agree it stays
/// whole.
void SystemDescription::find_periodic_axes() {
  for (std::size_t f = 0; f < fields_.size(); ++f)
    for (int axis = 0; axis < desc_.rank; ++axis)
      for (const tessera_boundary mode : fields_[f].boundary[axis])
        if (mode == TESSERA_BOUNDARY_MIRROR) domain_.beyond[axis] = 1;
  std::array<bool, kAxes> some{}, others{};
  for (const tessera_update& update : updates_)
    for_each_factor(update, [&](const tessera_factor& f) {
      for (int axis = 0; axis < desc_.rank; ++axis)
        if (f.offset[axis] != 0)
          (fields_[std::size_t(f.field)].boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC ? some : others)[axis] = true;
    });
  for (int axis = 0; axis < kAxes; ++axis) {
    domain_.periodic[axis] = some[axis];
    domain_.whole[axis] = some[axis] && others[axis];
  }
}

Reach SystemDescription::reach(std::size_t field, std::size_t level, int depth) const {
  const Margins& need = needs_[field][level];
  Reach reach{need.low, need.high, corners_ || depth > 1};
  if (fields_[field].kind == TESSERA_FIELD_PROFILE) return {};
  const bool state = fields_[field].kind == TESSERA_FIELD_STATE;
  for (int axis = 0; axis < kAxes; ++axis) {  // an array may be read wherever a step is made
    reach.low[axis] = state ? need.low[axis] + (depth - 1) * domain_.low[axis] : depth * domain_.low[axis];
    reach.high[axis] = state ? need.high[axis] + (depth - 1) * domain_.high[axis] : depth * domain_.high[axis];
  }
  reach.corners = reach.corners || !state;
  return reach;
}

void SystemDescription::add_to(Signature& signature) const {
  const tessera_system_desc& d = desc_;
  std::string of;
  const auto add = [&](const char* name, auto value) { signature.add(of + name, value); };
  add("dtype", d.dtype), add("rank", d.rank), add("steps", d.steps);
  for (int axis = 0; axis < d.rank; ++axis) signature.add(indexed("extents", axis), d.extents[axis]);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const tessera_field& field = fields_[f];
    of = indexed("fields", std::int64_t(f));
    add(".name", field.name), add(".kind", field.kind), add(".dtype", field.dtype), add(".levels", field.levels);
    add(".axis", field.axis), add(".next", field.next);
    for (int axis = 0; axis < d.rank; ++axis)
      for (int side = 0; side < 2; ++side)
        add(".boundary", field.boundary[axis][side]), add(".boundary_value", field.boundary_value[axis][side]);
  }
  for (std::size_t u = 0; u < updates_.size(); ++u) {
    const tessera_update& update = updates_[u];
    of = indexed("updates", std::int64_t(u));
    add(".field", update.field), add(".stage", update.stage);
    for (int axis = 0; axis < d.rank; ++axis) add(".low", update.low[axis]), add(".high", update.high[axis]);
    for (const tessera_group& group : groups_[u])
      for (std::int64_t t = 0; t < group.term_count; ++t) {
        add(": a coefficient", group.terms[t].coefficient);
        add(": factors", group.factor_count * TESSERA_MAX_FACTORS + group.terms[t].factor_count);
      }
    for_each_factor(update, [&](const tessera_factor& f) {
      add(": a factor", (std::int64_t(f.field) * 8 + f.level + 4) * 8 + f.map);
      for (int axis = 0; axis < d.rank; ++axis) add(": an offset", f.offset[axis]);
    });
  }
  add_points_to(signature, "injections", injections_), add_points_to(signature, "recordings", recordings_);
}

void SystemDescription::add_points_to(Signature& signature, const char* list, const std::vector<PointSet>& sets) {
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const PointSet& set = sets[s];
    const std::string name = indexed(list, std::int64_t(s));
    const auto add_all = [&](const char* what, const auto& values) {
      signature.add(name + what, hash_of(values.data(), values.size() * sizeof values[0]));
    };
    signature.add(name + ".field", set.field), signature.add(name + ".stage", set.stage);
    signature.add(name + ".count", set.series.size()), signature.add(name + ".series_count", set.series_count);
    add_all(".points", set.places), add_all(".weights", set.weights), add_all(".series", set.series);
  }
}

}  // namespace tessera::distributed
