// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencil systems: several fields that are stepped together, by expressions.
#pragma once

#include <tessera/system.h>
#include <tessera/expression.hpp>
#include <tessera/stencil.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Where the next level of a state goes.
enum class NextLevel : tessera_next_level {
  automatic = TESSERA_NEXT_DEFAULT,  ///< in place where nothing reads the oldest level any more, else apart
  in_place = TESSERA_NEXT_IN_PLACE,  ///< over the oldest level, or the plan is refused with the term at fault
  apart = TESSERA_NEXT_APART         ///< into an array of the plan's workspace, which takes its turn among the levels
};

/// How a field of a system is stored and what reads of it find outside the domain.
struct FieldOptions {
  int levels = 1;                         ///< levels of time of a state, 1 to 3; others ignore it
  Boundaries boundary = Boundary::fixed;  ///< what is read outside the domain; not halo
  std::optional<DType> dtype = {};        ///< type of storage: the system's (empty), or a narrower one
  Integers strides = {};                  ///< elements from one point to the next along each axis; empty: packed
  NextLevel next = NextLevel::automatic;  ///< where the next level of a state goes
};

/// Where and when an update is made.
struct UpdateOptions {
  int stage = 0;       ///< stage of the step, 0 to 63; stages run in order
  Integers low = {};   ///< first point of the box that is updated; empty: that of the domain
  Integers high = {};  ///< behind the last point of the box; empty: the domain's extents
};

/// Points where series go in or come out: entry e is at points[e], has weights[e], and belongs to series[e]. Sources
/// and receivers that are points, each with a series of its own, need `points` alone.
struct SeriesPoints {
  std::vector<std::array<std::int64_t, TESSERA_MAX_RANK>> points = {};  ///< place of each entry, inside the domain
  std::vector<double> weights = {};       ///< weight of each entry, finite; empty: 1 for each
  std::vector<std::int64_t> series = {};  ///< series of each entry, in [0, series_count); empty: 0, 1, 2...
  std::int64_t series_count = 0;          ///< series, the columns of their matrix; 0: one more than the largest
};

/// Fields on one grid, stepped together:
///     StencilSystem wave({nz, ny, nx});
///     const auto u = wave.state("u", {.levels = 2});
///     const auto c2 = wave.array("c2");
///     wave.update(u) = 2 * u - u[-1] + c2 * u.under(taps::laplacian(3, 8));
/// A copy has the fields, updates and points of the original, and goes its own way from then on: fields that either has
/// so far are fields of both, fields that one of them adds are its own alone. A call that throws changes nothing, and
/// what it can see of its arguments is checked there: how updates go together is found when a plan is made.
class StencilSystem {
 public:
  /// An empty system on a grid of 1 to 3 axes, computed in f32 or f64. Throws invalid_argument for other numbers of
  /// axes, for axes without a point and for other types.
  explicit StencilSystem(Integers extents, DType dtype = DType::f32) : extents_(std::move(extents)), dtype_(dtype) {
    if (extents_.empty() || extents_.size() > TESSERA_MAX_RANK)
      throw Error(ErrorCode::invalid_argument,
                  "extents of " + std::to_string(extents_.size()) + " axes: must be of 1, 2 or 3");
    check([](StencilSystem&) {});
  }

  /// Adds a field that each step makes anew. Names differ from each other; messages have them.
  SystemField state(std::string name, const FieldOptions& options = {}) {
    return add(std::move(name), TESSERA_FIELD_STATE, options.levels, 0, options);
  }
  /// Adds a field of values at the points, which are only read.
  SystemField array(std::string name, const FieldOptions& options = {}) {
    return add(std::move(name), TESSERA_FIELD_ARRAY, 0, 0, options);
  }
  /// Adds a field of values along one axis, which are only read.
  SystemField profile(std::string name, int axis, const FieldOptions& options = {}) {
    return add(std::move(name), TESSERA_FIELD_PROFILE, 0, axis, options);
  }

  /// The type in which everything is computed.
  DType dtype() const { return dtype_; }
  /// Points of the grid along each axis.
  const Integers& extents() const { return extents_; }
  /// The field of that name. Throws invalid_argument where there is none.
  SystemField field(std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (*fields_[i].name == name) return {std::int32_t(i), int(extents_.size()), fields_[i].name};
    throw Error(ErrorCode::invalid_argument,
                "there is no field '" + std::string(name) + "'; there are: " + own().names());
  }

  /// What an update sets the next level of a state to, by =.
  class Assignment {
   public:
    void operator=(const Expression& value) { system_.set(field_, options_, value); }
    void operator=(const SystemField& value) { system_.set(field_, options_, value); }

   private:
    friend class StencilSystem;
    Assignment(StencilSystem& system, const SystemField& field, const UpdateOptions& options)
        : system_(system), field_(field), options_(options) {}
    StencilSystem& system_;
    SystemField field_;
    UpdateOptions options_;
  };
  /// By = sets the next level of a state, in a box, to an expression. The boxes of one state must not overlap. Throws
  /// invalid_argument, which names the field, where one that is updated or read is not this system's.
  Assignment update(const SystemField& field, const UpdateOptions& options = {}) { return {*this, field, options}; }
  /// Adds series to the next level of a state, behind a stage. The stage is that of the state's updates or a later one.
  /// Throws invalid_argument, which names the entry, where a point is outside the grid, or a weight or a series is
  /// none.
  void inject(const SystemField& field, SeriesPoints points, int stage = 0) {
    add_points("injections", &StencilSystem::injections_, field, std::move(points), stage);
  }
  /// Reads series from the new level of a state, behind a stage. The stage is that of the state's updates or a later
  /// one. Throws as inject().
  void record(const SystemField& field, SeriesPoints points, int stage = 0) {
    add_points("recordings", &StencilSystem::recordings_, field, std::move(points), stage);
  }
  /// Limits steps to the points of a box. The array of the next level stays as it is elsewhere: for parts of a step,
  /// each a plan of its own. At most 1 step; all states go on in place. Throws invalid_argument where a corner has not
  /// as many axes as the system, and where the box is not a part of the grid with a point.
  void within(Integers low, Integers high) {
    if (low.size() != extents_.size() || high.size() != extents_.size())
      throw Error(ErrorCode::invalid_argument, "corners of " + std::to_string(low.size()) + " and " +
                                                   std::to_string(high.size()) + " axes: the system has " +
                                                   std::to_string(extents_.size()));
    check([&](StencilSystem& trial) { trial.low_ = low, trial.high_ = high; });
    low_ = std::move(low), high_ = std::move(high);
  }

 private:
  struct Update {
    std::int32_t field;
    UpdateOptions options;
    Expression value;
  };
  struct Named {
    detail::FieldIdentity name;
    tessera_field field;
  };
  struct Sparse {
    std::int32_t field;
    int stage;
    SeriesPoints points;
  };

 public:
  /// The C structs, which point into each other and into the system: it must stay as it is while they are used.
  class Description {
   public:
    Description(const StencilSystem& system, std::int64_t steps);
    Description(StencilSystem&&, std::int64_t) = delete;
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    const tessera_system_desc* get() const { return &desc_; }
    const detail::OwnFields& fields() const { return own_; }

   private:
    void add(const StencilSystem& system, const Update& update);
    tessera_points described(const StencilSystem& system, const Sparse& sparse);

    detail::OwnFields own_;
    std::vector<tessera_field> fields_;
    std::deque<std::vector<tessera_group>> groups_;
    std::vector<tessera_update> updates_;
    std::deque<std::vector<std::int64_t>> places_;
    std::vector<tessera_points> injections_, recordings_;
    tessera_system_desc desc_{};
  };

 private:
  StencilSystem(const Integers& extents, DType dtype, const std::vector<Named>& fields)
      : extents_(extents), dtype_(dtype), fields_(fields) {}
  SystemField add(std::string name, tessera_field_kind kind, int levels, int axis, const FieldOptions& options) {
    const std::size_t rank = extents_.size(), strides = kind == TESSERA_FIELD_PROFILE ? 1 : rank;
    tessera_field f{};
    f.kind = kind, f.levels = levels, f.axis = axis, f.next = tessera_next_level(options.next);
    f.dtype = options.dtype ? tessera_dtype(*options.dtype) : 0;
    if (!options.strides.empty() && options.strides.size() != strides)
      throw Error(ErrorCode::invalid_argument, "strides of '" + name + "' of " +
                                                   std::to_string(options.strides.size()) + " axes: must be of " +
                                                   std::to_string(strides));
    std::fill(f.strides, f.strides + TESSERA_MAX_RANK, TESSERA_PACKED);
    std::copy(options.strides.begin(), options.strides.end(), f.strides);
    if (options.boundary.size() != 1 && options.boundary.size() != rank)
      throw Error(ErrorCode::invalid_argument, "boundary of '" + name + "' of " +
                                                   std::to_string(options.boundary.size()) +
                                                   " axes: give one for each or one for all");
    for (std::size_t axis_of = 0; axis_of < rank; ++axis_of)
      for (int side = 0; side < 2; ++side) {
        const BoundarySide& s = side == 0 ? options.boundary[axis_of].low : options.boundary[axis_of].high;
        f.boundary[axis_of][side] = tessera_boundary(s.mode);
        f.boundary_value[axis_of][side] = s.value;
      }
    const Named made{std::make_shared<const std::string>(std::move(name)), f};
    check([&](StencilSystem& trial) { trial.fields_.push_back(made); });
    fields_.push_back(made);
    return {std::int32_t(fields_.size() - 1), int(rank), fields_.back().name};
  }
  static void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }
  detail::OwnFields own() const {
    detail::OwnFields fields;
    for (const Named& named : fields_) fields.add(named.name);
    return fields;
  }
  /// Throws what the library finds wrong with the fields and with what `add` adds to a system of them. States have
  /// updates there whatever they have here: those of `add`, or ones without change.
  template <class Add>
  void check(const Add& add) const;

  void add_points(const char* list, std::vector<Sparse> StencilSystem::*to, const SystemField& field,
                  SeriesPoints points, int stage) {
    const std::size_t place = (this->*to).size();
    const std::string where = std::string(list) + "[" + std::to_string(place) + "]";
    own().require(field.known(), [&] { return where + ": field = "; });
    complete(points, [&] { return where + " of '" + field.name() + "': "; });
    const Sparse made{field.index(), stage, std::move(points)};
    check([&](StencilSystem& trial) {
      const Sparse none{first_state(), TESSERA_MAX_STAGES - 1, {}};
      (trial.*to).assign(place, none);  // for the number in messages
      (trial.*to).push_back(made);
    });
    (this->*to).push_back(made);
  }
  /// What was left out. Throws where a list has not an entry for each point.
  template <class Where>
  static void complete(SeriesPoints& p, const Where& where) {
    const std::size_t count = p.points.size();
    const auto check_count = [&](std::size_t given, const char* of, const char* otherwise) {
      if (given == count) return;
      refuse(where() + std::to_string(given) + " " + of + " for " + std::to_string(count) +
             " points: give one for each, or none: " + otherwise);
    };
    if (p.weights.empty()) p.weights.assign(count, 1.0);
    check_count(p.weights.size(), "weights", "then each is 1");
    const std::size_t missing = p.series.empty() ? count : 0;
    for (std::size_t i = 0; i < missing; ++i) p.series.push_back(std::int64_t(i));
    check_count(p.series.size(), "series", "then each point has its own");
    if (p.series_count != 0) return;
    for (const std::int64_t s : p.series) p.series_count = (std::max)(p.series_count, s == INT64_MAX ? s : s + 1);
  }
  void set(const SystemField& field, const UpdateOptions& options, const Expression& value) {
    const std::size_t rank = extents_.size();
    const detail::OwnFields fields = own();
    fields.require(field.known(), [] { return std::string("update: field = "); });
    const std::string where = "update of '" + fields.name(std::size_t(field.index())) + "': ";
    for (const detail::KnownField& read : value.fields()) fields.require(read, [&] { return where + "value reads "; });
    for (const auto& [name, corner] : {std::pair("low", &options.low), std::pair("high", &options.high)})
      if (!corner->empty() && corner->size() != rank)
        refuse(where + name + " has " + std::to_string(corner->size()) + " axes, the system has " +
               std::to_string(rank));
    for (std::size_t axis = 0; axis < rank && !(options.low.empty() && options.high.empty()); ++axis) {
      const std::int64_t low = options.low.empty() ? 0 : options.low[axis];
      const std::int64_t high = options.high.empty() ? extents_[axis] : options.high[axis];
      if (low >= high)
        refuse(where + "low, high of axis " + std::to_string(axis) + " = " + std::to_string(low) + ", " +
               std::to_string(high) + ": a box has a point; leave an empty one out");
    }
    const Update made{field.index(), options, value};
    check([&](StencilSystem& trial) {
      for (const Update& u : updates_) trial.updates_.push_back({u.field, u.options, 0.0});  // for numbers and boxes
      trial.updates_.push_back(made);
    });
    updates_.push_back(made);
  }
  std::int32_t first_state() const {
    std::int32_t at = 0;
    while (std::size_t(at) < fields_.size() && fields_[std::size_t(at)].field.kind != TESSERA_FIELD_STATE) ++at;
    return at;
  }

  Integers extents_;
  Integers low_ = {}, high_ = {};  ///< of the box that is made; empty: the domain
  DType dtype_;
  std::vector<Named> fields_;
  std::vector<Update> updates_;
  std::vector<Sparse> injections_, recordings_;
};

inline void StencilSystem::Description::add(const StencilSystem& system, const Update& update) {
  std::vector<tessera_group>& groups = groups_.emplace_back();
  for (const Expression::Group& group : update.value.groups()) {
    tessera_group g{};
    g.factor_count = std::int64_t(group.factors.size());
    std::copy(group.factors.begin(), group.factors.end(), g.factors);
    g.terms = group.terms.data(), g.term_size = sizeof(tessera_term), g.term_count = std::int64_t(group.terms.size());
    groups.push_back(g);
  }
  tessera_update u{};
  u.field = update.field, u.stage = update.options.stage;
  u.groups = groups.data(), u.group_size = sizeof(tessera_group), u.group_count = std::int64_t(groups.size());
  const UpdateOptions& box = update.options;
  for (std::size_t axis = 0; axis < system.extents_.size() && !(box.low.empty() && box.high.empty()); ++axis) {
    u.low[axis] = box.low.empty() ? 0 : box.low[axis];
    u.high[axis] = box.high.empty() ? system.extents_[axis] : box.high[axis];
  }
  updates_.push_back(u);
}

inline tessera_points StencilSystem::Description::described(const StencilSystem& system, const Sparse& sparse) {
  const SeriesPoints& p = sparse.points;
  std::vector<std::int64_t>& places = places_.emplace_back();
  for (const auto& point : p.points)
    places.insert(places.end(), point.begin(), point.begin() + std::ptrdiff_t(system.extents_.size()));
  return {sparse.field,    sparse.stage,  std::int64_t(p.points.size()), places.data(), p.weights.data(),
          p.series.data(), p.series_count};
}

inline StencilSystem::Description::Description(const StencilSystem& system, std::int64_t steps) {
  for (const Named& named : system.fields_) {
    own_.add(named.name);
    fields_.push_back(named.field);
    fields_.back().name = named.name->c_str();
  }
  for (const Update& update : system.updates_) add(system, update);
  for (const Sparse& sparse : system.injections_) injections_.push_back(described(system, sparse));
  for (const Sparse& sparse : system.recordings_) recordings_.push_back(described(system, sparse));
  desc_.struct_size = sizeof desc_;
  desc_.op = TESSERA_OP_SYSTEM;
  desc_.dtype = tessera_dtype(system.dtype_);
  desc_.rank = std::int32_t(system.extents_.size());
  std::copy(system.extents_.begin(), system.extents_.end(), desc_.extents);
  desc_.steps = steps;
  std::copy(system.low_.begin(), system.low_.end(), desc_.low);
  std::copy(system.high_.begin(), system.high_.end(), desc_.high);
  desc_.fields = fields_.data(), desc_.field_size = sizeof(tessera_field);
  desc_.field_count = std::int64_t(fields_.size());
  desc_.updates = updates_.data(), desc_.update_size = sizeof(tessera_update);
  desc_.update_count = std::int64_t(updates_.size());
  desc_.injections = injections_.data(), desc_.injection_count = std::int64_t(injections_.size());
  desc_.recordings = recordings_.data(), desc_.recording_count = std::int64_t(recordings_.size());
  desc_.points_size = sizeof(tessera_points);
}

template <class Add>
void StencilSystem::check(const Add& add) const {
  StencilSystem trial(extents_, dtype_, fields_);
  add(trial);
  tessera_field own{};  // so that there is a state
  std::fill(own.strides, own.strides + TESSERA_MAX_RANK, TESSERA_PACKED);
  own.levels = 1;
  if (trial.first_state() == std::int32_t(trial.fields_.size()))
    trial.fields_.push_back({std::make_shared<const std::string>("(none)"), own});
  for (std::int32_t f = 0; std::size_t(f) < trial.fields_.size(); ++f) {
    tessera_field& field = trial.fields_[std::size_t(f)].field;
    if (field.next == TESSERA_NEXT_IN_PLACE) field.next = TESSERA_NEXT_DEFAULT;  // all updates together tell
    const auto is_of = [f](const Update& u) { return u.field == f; };
    if (field.kind != TESSERA_FIELD_STATE || std::any_of(trial.updates_.begin(), trial.updates_.end(), is_of)) continue;
    const auto real = std::find_if(updates_.begin(), updates_.end(), is_of);
    UpdateOptions options;
    options.stage = real == updates_.end() ? 0 : real->options.stage;
    trial.updates_.push_back({f, options, 0.0});
  }
  const Description description(trial, 1);
  tessera_next_level next = 0;
  detail::call(tessera_system_next_level, description.get(), trial.first_state(), &next);
}

}  // namespace tessera
