// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields that is cut: what a step reads around a block, and the system that a rank steps.
#pragma once

#include "decomposition.hpp"
#include "group/agreement.hpp"

#include <tessera/system.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace tessera::distributed {

/// Injections or recordings.
struct PointSet {
  std::int32_t field, stage;
  std::int64_t series_count;
  std::vector<Index> places;
  std::vector<double> weights;
  std::vector<std::int64_t> series;
};

/// What a rank records in a box: a whole series, or the value at an entry's point, for a sum with those of others.
struct Slot {
  std::int64_t set, whole, id;  ///< the series or the entry
};

/// A rank's part of a system as the C structs, which refer to that system.
struct LocalSystem {
  std::vector<tessera_field> fields;
  std::vector<tessera_update> updates;
  /// Of states that have no update on the rank's array, and keep their values.
  std::deque<tessera_term> kept_terms;
  std::deque<tessera_group> kept_groups;
  std::deque<PointSet> sets;
  std::deque<std::vector<std::int64_t>> places;
  std::vector<tessera_points> injections, recordings;
  tessera_system_desc desc{};

  LocalSystem() = default;
  LocalSystem(const LocalSystem&) = delete;
  LocalSystem& operator=(const LocalSystem&) = delete;
};

class SystemDescription {
 public:
  /// Copies it. Throws where it is not valid or its fields have strides.
  explicit SystemDescription(const tessera_system_desc& desc);
  SystemDescription(const SystemDescription&) = delete;
  SystemDescription& operator=(const SystemDescription&) = delete;

  const tessera_system_desc& desc() const { return desc_; }
  const std::vector<tessera_field>& fields() const { return fields_; }
  const std::vector<PointSet>& recordings() const { return recordings_; }
  const std::vector<PointSet>& injections() const { return injections_; }
  std::int64_t element(std::size_t field) const;  ///< bytes
  std::size_t arrays(std::size_t field) const;    ///< that an execution takes: one a level
  void add_to(Signature& signature) const;

  /// The domain, and how far a step reads.
  const Domain& domain() const { return domain_; }
  /// How far around its block a rank needs a level (0, 1, ...: the newest first) of a field for so many steps.
  Reach reach(std::size_t field, std::size_t level, int depth) const;
  /// How far one step reads the states.
  const Reach& states() const { return states_; }
  /// Whether parts of a step can be plans of their own: it has one stage, and all states go on in place.
  bool has_parts() const { return has_parts_; }

  /// The system of some steps on the array of a rank, of which `made` is made; a side that is none of the domain's
  /// keeps its values. `slots` are what it records.
  void describe(LocalSystem& local, const Decomposition& cut, int rank, const Box& made, std::int64_t steps,
                const std::vector<Slot>& slots) const;
  /// What a rank records of the points of a box.
  std::vector<Slot> slots(const Box& box) const;

 private:
  struct Margins {
    Index low{}, high{};
    void widen(const Margins& around, const std::int64_t (&offset)[kAxes]);
  };
  void copy_updates(const tessera_system_desc& desc);
  void copy_fields(const tessera_system_desc& desc);
  static void add_points_to(Signature& signature, const char* list, const std::vector<PointSet>& sets);
  void find_reach();
  void find_periodic_axes();
  std::array<std::vector<std::int64_t>, kAxes> images(const Box& array) const;
  template <class Visit>
  void for_each_factor(const tessera_update& update, Visit&& visit) const;
  void add_updates(LocalSystem& local, const Box& array) const;
  void add_update(LocalSystem& local, const tessera_update& update, const Box& array) const;
  void keep_values(LocalSystem& local, std::int32_t field, std::int32_t stage) const;
  void add_injections(LocalSystem& local, const Box& array, const Box& made) const;
  void add_recordings(LocalSystem& local, const Box& array, const std::vector<Slot>& slots) const;
  tessera_points described(LocalSystem& local, PointSet set) const;

  tessera_system_desc desc_{};
  std::deque<std::string> names_;
  std::vector<tessera_field> fields_;
  std::vector<tessera_update> updates_;
  std::deque<std::vector<tessera_group>> groups_;
  std::deque<std::vector<tessera_term>> terms_;
  std::vector<PointSet> injections_, recordings_;
  Domain domain_;
  std::vector<std::array<Margins, TESSERA_MAX_LEVELS>> needs_;  ///< of one step, of each field
  Reach states_;
  bool corners_ = false, has_parts_ = true;
};

}  // namespace tessera::distributed
