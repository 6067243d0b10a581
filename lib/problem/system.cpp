// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/system.hpp"

#include "check.hpp"
#include "problem/problem.hpp"

#include <tessera/boundary.hpp>
#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace tessera::core {
namespace {

/// Elements of a caller's array of structs of `size` bytes each. `where` is the beginning of a message.
template <class T>
std::vector<T> read_list(const std::string& where, const std::string& name, const T* list, std::uint64_t size,
                         std::int64_t count, std::int64_t most = 1 << 20) {
  at_least(where + name + "_count", count, 0);
  if (count > most) invalid(where + name + "s", count, "must be at most " + std::to_string(most));
  if (count == 0) return {};
  if (list == nullptr) invalid(where + name + "s", "null", "must point to " + std::to_string(count));
  plugin::check_size(size, sizeof(T), sizeof(T), ("the " + name + "s").c_str(), (name + "_size").c_str());
  std::vector<T> items(static_cast<std::size_t>(count));
  const auto* bytes = reinterpret_cast<const unsigned char*>(list);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(&items[std::size_t(i)], bytes + std::uint64_t(i) * size, sizeof(T));
    plugin::refuse_tail(bytes + std::uint64_t(i) * size, sizeof(T), size, ("a " + name).c_str());
  }
  return items;
}

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& why) {
  throw Error(TESSERA_INVALID_ARGUMENT, what + " in " + where + ": " + why);
}

/// What is being validated, with the names of its fields for messages: "u.levels", "updates[0] of 'u': stage".
class Reader {
 public:
  explicit Reader(System& system) : s_(system) {}

  void read(const tessera_system_desc& d);

 private:
  void read_made_box(const tessera_system_desc& d);
  void read_updates(const tessera_system_desc& d);
  void read_all_points(const tessera_system_desc& d);
  void read_field(const tessera_field& f, const std::string& place);
  Layout layout_of(const tessera_field& f, const System::Field& field, const std::string& where) const;
  void read_boundary(const tessera_field& f, System::Field& field, const std::string& where) const;
  void read_update(const tessera_update& u, const std::string& where);
  void read_box(const tessera_update& u, System::Update& update, const std::string& where) const;
  void check_range(const std::string& prefix, int axis, std::int64_t low, std::int64_t high) const;
  void check_factors(const tessera_factor* factors, std::int64_t count, bool pointwise, int stage,
                     const std::string& where) const;
  void check_factor(const tessera_factor& f, bool pointwise, int stage, const std::string& where) const;
  void check_level(const tessera_factor& f, int stage, const std::string& where) const;
  System::Group read_group(const tessera_group& g, int stage, const std::string& where) const;
  System::Points read_points(const tessera_points& p, const std::string& set) const;
  int field_of(std::int32_t index, const std::string& where) const {
    if (index < 0 || std::size_t(index) >= s_.fields.size())
      invalid(where + ".field", index,
              "must lie in [0, " + std::to_string(s_.fields.size()) + "), the fields of this system");
    return index;
  }
  /// "updates[0] of 'u': ".
  std::string of(const std::string& what, int field) const { return what + " of " + quoted(field) + ": "; }
  std::string quoted(int field) const { return "'" + s_.fields[std::size_t(field)].name + "'"; }

  System& s_;
};

void Reader::read(const tessera_system_desc& d) {
  validate_dtype("dtype", d.dtype);
  if (scalar_dtype(d.dtype) != d.dtype)
    invalid("dtype", name_of(d.dtype), "must be f32 or f64: 16 bits are for fields, which store them");
  one_of("rank", d.rank, 1, TESSERA_MAX_RANK, "1, 2, 3");
  if (d.reserved != 0) invalid("reserved", d.reserved, "must be 0");
  at_least("steps", d.steps, 0);
  s_.dtype = d.dtype, s_.rank = d.rank, s_.steps = d.steps;
  s_.extents = {1, 1, 1};
  for (int axis = 0; axis < d.rank; ++axis) {
    at_least(indexed("extents", axis), d.extents[axis], 1);
    s_.extents[std::size_t(axis)] = d.extents[axis];
  }
  read_made_box(d);
  const auto fields = read_list("", "field", d.fields, d.field_size, d.field_count, TESSERA_MAX_FIELDS);
  if (fields.empty()) invalid("fields", "none", "a system has a state and its update");
  for (std::size_t i = 0; i < fields.size(); ++i) read_field(fields[i], indexed("fields", std::int64_t(i)));
  read_updates(d);
  read_all_points(d);
}

void Reader::read_made_box(const tessera_system_desc& d) {
  s_.low = {0, 0, 0}, s_.high = s_.extents;
  if (std::all_of(d.high, d.high + d.rank, [](std::int64_t x) { return x == 0; })) {
    if (std::any_of(d.low, d.low + d.rank, [](std::int64_t x) { return x != 0; }))
      invalid("high", 0, "must be behind low, or both be 0 for the whole domain");
    return;
  }
  for (int axis = 0; axis < d.rank; ++axis) {
    check_range("", axis, d.low[axis], d.high[axis]);
    s_.low[std::size_t(axis)] = d.low[axis], s_.high[std::size_t(axis)] = d.high[axis];
  }
  if (d.steps > 1) invalid("steps", d.steps, "must be at most 1 where a box is made: the next step reads around it");
}

/// Throws unless [low, high) is a part of the axis with a point.
void Reader::check_range(const std::string& prefix, int axis, std::int64_t low, std::int64_t high) const {
  const std::int64_t extent = s_.extents[std::size_t(axis)];
  if (low >= 0 && low < high && high <= extent) return;
  invalid(indexed(prefix + "low", axis) + ", high", std::to_string(low) + ", " + std::to_string(high),
          "must be a range of [0, " + std::to_string(extent) + ") with a point");
}

void Reader::read_updates(const tessera_system_desc& d) {
  constexpr std::int64_t kMost = 4096;  // each is compared with the others
  const auto updates = read_list("", "update", d.updates, d.update_size, d.update_count, kMost);
  for (std::size_t i = 0; i < updates.size(); ++i) {  // which stage makes which field, before who reads it
    const std::string update = indexed("updates", std::int64_t(i));
    System::Field& field = s_.fields[std::size_t(field_of(updates[i].field, update))];
    const std::string where = of(update, updates[i].field);
    if (updates[i].stage < 0 || updates[i].stage >= TESSERA_MAX_STAGES)
      invalid(where + "stage", updates[i].stage, "must lie in [0, " + std::to_string(TESSERA_MAX_STAGES) + ")");
    if (field.kind != TESSERA_FIELD_STATE)
      invalid(update, "an update of '" + field.name + "'", "it is only read: a state is updated");
    if (field.stage >= 0 && field.stage != updates[i].stage)
      invalid(where + "stage", updates[i].stage,
              "'" + field.name + "' is updated in stage " + std::to_string(field.stage) + " as well: must be in one");
    field.stage = updates[i].stage;
  }
  for (const System::Field& field : s_.fields)
    if (field.kind == TESSERA_FIELD_STATE && field.stage < 0)
      throw Error(TESSERA_INVALID_ARGUMENT,
                  "'" + field.name + "' has no update: a state has one; make it an array if it never changes");
  if (updates.empty()) invalid("updates", "none", "a system has a state and its update");
  for (std::size_t i = 0; i < updates.size(); ++i)
    read_update(updates[i], of(indexed("updates", std::int64_t(i)), updates[i].field));
  std::stable_sort(s_.updates.begin(), s_.updates.end(),
                   [](const System::Update& a, const System::Update& b) { return a.stage < b.stage; });
}

void Reader::read_all_points(const tessera_system_desc& d) {
  constexpr std::int64_t kMost = TESSERA_MAX_POINT_SETS;
  const auto injections = read_list("", "injection", d.injections, d.points_size, d.injection_count, kMost);
  for (std::size_t i = 0; i < injections.size(); ++i)
    s_.injections.push_back(read_points(injections[i], indexed("injections", std::int64_t(i))));
  const auto recordings = read_list("", "recording", d.recordings, d.points_size, d.recording_count, kMost);
  for (std::size_t i = 0; i < recordings.size(); ++i)
    s_.recordings.push_back(read_points(recordings[i], indexed("recordings", std::int64_t(i))));
}

void Reader::read_field(const tessera_field& f, const std::string& place) {
  constexpr std::size_t kMostName = 64;
  if (f.name == nullptr || f.name[0] == '\0') invalid(place + ".name", "none", "must be given, for messages");
  System::Field field;
  field.name = f.name;
  if (field.name.size() > kMostName)
    invalid(place + ".name", "of " + std::to_string(field.name.size()) + " bytes",
            "must have at most " + std::to_string(kMostName));
  for (const System::Field& other : s_.fields)
    if (other.name == field.name) invalid(place + ".name", "'" + field.name + "'", "is another field's: must differ");
  const std::string& where = field.name;
  one_of(where + ".kind", f.kind, TESSERA_FIELD_STATE, TESSERA_FIELD_PROFILE, "state (0), array (1), profile (2)");
  field.kind = f.kind;
  field.dtype = f.dtype == 0 ? s_.dtype : f.dtype;
  validate_dtype(where + ".dtype", field.dtype);
  if (element_size(field.dtype) > element_size(s_.dtype))
    invalid(where + ".dtype", name_of(field.dtype),
            std::string("must be ") + name_of(s_.dtype) + ", in which the system is computed, or narrower");
  const bool state = f.kind == TESSERA_FIELD_STATE;
  one_of(where + ".levels", f.levels, state ? 1 : 0, state ? TESSERA_MAX_LEVELS : 1,
         state ? "1, 2, 3" : "0: what is only read has no levels");
  field.levels = state ? f.levels : 1;
  const bool profile = f.kind == TESSERA_FIELD_PROFILE;
  one_of(where + ".axis", f.axis, 0, profile ? s_.rank - 1 : 0, profile ? "the axes" : "0: no profile");
  field.axis = f.axis;
  one_of(where + ".next", f.next, TESSERA_NEXT_DEFAULT, state ? TESSERA_NEXT_APART : TESSERA_NEXT_DEFAULT,
         state ? "default (0), in place (1), apart (2)" : "0: no state");
  field.next = f.next;
  if (f.reserved != 0) invalid(where + ".reserved", f.reserved, "must be 0");
  read_boundary(f, field, where);
  field.layout = layout_of(f, field, where);
  s_.fields.push_back(std::move(field));
}

void Reader::read_boundary(const tessera_field& f, System::Field& field, const std::string& where) const {
  for (int axis = 0; axis < s_.rank; ++axis) {
    const std::string at = indexed(where + ".boundary", axis);
    for (int side = 0; side < 2; ++side) {
      if (f.boundary[axis][side] == TESSERA_BOUNDARY_HALO)
        invalid(indexed(at, side), "halo", "must be another mode: a field has no points outside the domain");
      one_of(indexed(at, side), f.boundary[axis][side], TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_MIRROR,
             "fixed (0), constant (1), periodic (2), nearest (3), reflect (4), mirror (5)");
      const double value = f.boundary_value[axis][side];
      const bool constant = f.boundary[axis][side] == TESSERA_BOUNDARY_CONSTANT;
      if (constant && std::isfinite(value) && !finite_in(field.dtype, value))
        invalid(indexed(indexed(where + ".boundary_value", axis), side), text_of(value),
                std::string("must be finite when rounded to ") + name_of(field.dtype));
      field.boundary[std::size_t(axis)][std::size_t(side)] = f.boundary[axis][side];
      field.boundary_value[std::size_t(axis)][std::size_t(side)] = constant ? value : 0.0;
    }
    if ((f.boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC) != (f.boundary[axis][1] == TESSERA_BOUNDARY_PERIODIC))
      invalid(at, "periodic on one side alone", "an axis is periodic on both sides or on none");
  }
}

Layout Reader::layout_of(const tessera_field& f, const System::Field& field, const std::string& where) const {
  const bool profile = field.kind == TESSERA_FIELD_PROFILE;
  const int rank = profile ? 1 : s_.rank;
  Layout layout;
  for (int axis = 0; axis < rank; ++axis)
    layout.add_axis(s_.extents[std::size_t(profile ? field.axis : axis)], f.strides[axis]);
  const auto packed = std::count(f.strides, f.strides + rank, TESSERA_PACKED);
  if (packed != 0 && packed != rank)
    invalid(where + ".strides",
            "TESSERA_PACKED (kPacked) for " + std::to_string(packed) + " of " + std::to_string(rank) + " axes",
            "must be packed for all axes or for none");
  if (packed != 0) {
    std::fill(layout.strides, layout.strides + rank, 1);
    if (addressable(layout, element_size(field.dtype))) layout = layout.packed();
  }
  for (int axis = 0; axis < rank; ++axis)
    at_least(indexed(where + ".strides", axis), layout.strides[axis], 1, ", or TESSERA_PACKED for all axes");
  const std::string strides =
      (packed != 0 ? "TESSERA_PACKED" : join(layout.strides, rank)) + " with extents " + join(layout.extents, rank);
  if (!addressable(layout, element_size(field.dtype)))
    invalid(where + ".strides", strides, "the array must stay below 2^63 bytes");
  if (!nested(layout))
    invalid(where + ".strides", strides,
            "points overlap; each stride must be larger than the reach of all smaller ones together");
  layout.tidy();
  return layout;
}

void Reader::read_box(const tessera_update& u, System::Update& update, const std::string& where) const {
  const bool whole = std::all_of(u.low, u.low + s_.rank, [](auto x) { return x == 0; }) &&
                     std::all_of(u.high, u.high + s_.rank, [](auto x) { return x == 0; });
  update.low = {0, 0, 0}, update.high = s_.extents;
  for (int axis = 0; axis < s_.rank && !whole; ++axis) {
    check_range(where, axis, u.low[axis], u.high[axis]);
    update.low[std::size_t(axis)] = u.low[axis], update.high[std::size_t(axis)] = u.high[axis];
  }
  for (const System::Update& other : s_.updates) {
    bool overlap = other.field == update.field;
    for (std::size_t axis = 0; axis < std::size_t(s_.rank); ++axis)
      overlap &= update.low[axis] < other.high[axis] && other.low[axis] < update.high[axis];
    if (overlap) throw Error(TESSERA_INVALID_ARGUMENT, where + "its box overlaps another: low to high must be apart");
  }
}

void Reader::read_update(const tessera_update& u, const std::string& where) {
  System::Update update{u.field, u.stage, {}, {}, {}};
  read_box(u, update, where);
  at_least(where + "group_count", u.group_count, 1);
  const auto groups = read_list(where, "group", u.groups, u.group_size, u.group_count);
  for (std::size_t i = 0; i < groups.size(); ++i)
    update.groups.push_back(read_group(groups[i], u.stage, where + indexed("groups", std::int64_t(i)) + "."));
  s_.updates.push_back(std::move(update));
}

System::Group Reader::read_group(const tessera_group& g, int stage, const std::string& where) const {
  check_factors(g.factors, g.factor_count, true, stage, where);
  at_least(where + "term_count", g.term_count, 1);
  System::Group group{{g.factors, g.factors + g.factor_count},
                      read_list(where, "term", g.terms, g.term_size, g.term_count)};
  for (std::size_t i = 0; i < group.terms.size(); ++i) {
    const tessera_term& term = group.terms[i];
    const std::string at = where + indexed("terms", std::int64_t(i)) + ".";
    if (!finite_in(s_.dtype, term.coefficient))
      invalid(at + "coefficient", text_of(term.coefficient),
              std::string("must be finite when rounded to ") + name_of(s_.dtype));
    check_factors(term.factors, term.factor_count, false, stage, at);
  }
  return group;
}

void Reader::check_factors(const tessera_factor* factors, std::int64_t count, bool pointwise, int stage,
                           const std::string& where) const {
  one_of(where + "factor_count", count, 0, pointwise ? TESSERA_MAX_GROUP_FACTORS : TESSERA_MAX_FACTORS,
         pointwise ? "0 to 4" : "0 to 3");
  for (std::int64_t i = 0; i < count; ++i) check_factor(factors[i], pointwise, stage, where + indexed("factors", i));
}

void Reader::check_factor(const tessera_factor& f, bool pointwise, int stage, const std::string& where) const {
  const System::Field& field = s_.fields[std::size_t(field_of(f.field, where))];
  one_of(where + ".map", f.map, TESSERA_MAP_IDENTITY, TESSERA_MAP_RECIPROCAL,
         "identity (0), abs (1), positive part (2), negative part (3), reciprocal (4)");
  if (f.reserved != 0) invalid(where + ".reserved", f.reserved, "must be 0");
  for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis) {
    const bool along = axis < s_.rank && (field.kind != TESSERA_FIELD_PROFILE || axis == field.axis);
    const std::int64_t bound = along && !pointwise ? TESSERA_MAX_RADIUS : 0;
    if (f.offset[axis] < -bound || f.offset[axis] > bound)
      refuse(field.name + " at " + indexed("offset", axis) + " = " + std::to_string(f.offset[axis]), where,
             bound > 0        ? "must lie in [-" + std::to_string(bound) + ", " + std::to_string(bound) + "]"
             : pointwise      ? "must be 0: the factors of a group are read at the point itself"
             : axis < s_.rank ? "must be 0: '" + field.name + "' is a profile along another axis"
                              : "must be 0 at and beyond the rank, " + std::to_string(s_.rank));
  }
  check_level(f, stage, where);
}

void Reader::check_level(const tessera_factor& f, int stage, const std::string& where) const {
  const System::Field& field = s_.fields[std::size_t(f.field)];
  const std::string level = indexed(field.name, f.level), named = "'" + field.name + "'";
  if (field.kind != TESSERA_FIELD_STATE) {
    if (f.level != 0) refuse(level, where, "must be level 0: " + named + " is only read and has one level");
    return;
  }
  if (f.level < field.oldest() || f.level > 1)
    refuse(level, where,
           named + " has the levels " + std::to_string(field.oldest()) + " to 0, and 1 when it is updated");
  if (f.level == 1 && field.stage >= stage)
    refuse(level, where,
           "stage " + std::to_string(field.stage) + " makes it, and this is stage " + std::to_string(stage) +
               ": it is there in later stages alone, and stages that wait for each other have no order");
}

System::Points Reader::read_points(const tessera_points& p, const std::string& set) const {
  System::Points points{field_of(p.field, set), p.stage, {}, {}, {}, p.series_count};
  const System::Field& field = s_.fields[std::size_t(p.field)];
  const std::string where = of(set, p.field);
  if (field.kind != TESSERA_FIELD_STATE) throw Error(TESSERA_INVALID_ARGUMENT, where + "must be of a state");
  if (p.stage < field.stage || p.stage >= TESSERA_MAX_STAGES)
    invalid(where + "stage", p.stage,
            "must be " + std::to_string(field.stage) + ", which updates '" + field.name + "', or later");
  at_least(where + "count", p.count, 0);
  at_least(where + "series_count", p.series_count, 0);
  Layout rows;
  rows.add_axis(s_.steps, std::max<std::int64_t>(p.series_count, 1));
  rows.add_axis(p.series_count, 1);
  if (!addressable(rows, element_size(s_.dtype)))
    invalid(where + "series_count", p.series_count, "a row a step of it must stay below 2^63 bytes");
  for (const auto& [list, missing] :
       {std::pair("points", p.points == nullptr), std::pair("weights", p.weights == nullptr),
        std::pair("series", p.series == nullptr)})
    if (p.count > 0 && missing) invalid(where + list, "null", "must point to " + std::to_string(p.count) + " entries");
  for (std::int64_t i = 0; i < p.count; ++i) {
    System::Place place{0, 0, 0};
    for (int axis = 0; axis < s_.rank; ++axis) {
      const std::int64_t x = place[std::size_t(axis)] = p.points[i * s_.rank + axis];
      const std::int64_t low = s_.low[std::size_t(axis)], high = s_.high[std::size_t(axis)];
      if (x < low || x >= high)
        invalid(indexed(where + "points", i) + ", axis " + std::to_string(axis), x,
                "must lie in [" + std::to_string(low) + ", " + std::to_string(high) + ")");
    }
    if (!finite_in(s_.dtype, p.weights[i]))
      invalid(indexed(where + "weights", i), text_of(p.weights[i]), "must be finite");
    if (p.series[i] < 0 || p.series[i] >= p.series_count)
      invalid(indexed(where + "series", i), p.series[i],
              "must lie in [0, " + std::to_string(p.series_count) + "), the series");
    points.places.push_back(place);
    points.weights.push_back(p.weights[i]);
    points.series.push_back(p.series[i]);
  }
  return points;
}

std::string describe(const System& s) {
  std::string extents;
  for (int axis = 0; axis < s.rank; ++axis)
    extents += (axis == 0 ? "" : "x") + std::to_string(s.extents[std::size_t(axis)]);
  std::string box;
  for (int axis = 0; axis < s.rank && !s.makes_all(); ++axis)
    box += (axis == 0 ? " box=" : "x") + std::to_string(s.low[std::size_t(axis)]) + ".." +
           std::to_string(s.high[std::size_t(axis)]);
  return std::string("system ") + name_of(s.dtype) + " " + extents + box +
         " fields=" + std::to_string(s.fields.size()) + " updates=" + std::to_string(s.updates.size()) +
         " steps=" + std::to_string(s.steps);
}

}  // namespace

System validate_system(const tessera_system_desc* desc) {
  const auto d = plugin::read_struct<tessera_system_desc>(desc, "the system descriptor");
  System system;
  Reader(system).read(d);
  for (std::size_t i = 0; i < system.fields.size(); ++i) {
    System::Field& field = system.fields[i];
    if (field.kind != TESSERA_FIELD_STATE || field.next == TESSERA_NEXT_APART) continue;
    const std::string why = why_not_in_place(system, int(i));
    if (!why.empty() && field.next == TESSERA_NEXT_IN_PLACE)
      invalid(field.name + ".next", "in place",
              why + "; choose automatic or apart, or give '" + field.name + "' one level more");
    field.next = why.empty() ? TESSERA_NEXT_IN_PLACE : TESSERA_NEXT_APART;
  }
  for (std::size_t i = 0; i < system.fields.size() && !system.makes_all(); ++i)
    if (system.fields[i].next == TESSERA_NEXT_APART)
      invalid(system.fields[i].name + ".next", "apart",
              "must be in place where a box is made: else it would change its array behind it");
  system.text = describe(system);
  return system;
}

}  // namespace tessera::core
