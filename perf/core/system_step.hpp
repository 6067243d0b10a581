// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One step of a system at a point, from its description, which knows nothing of how backends run it.
#pragma once

#include "systems.hpp"
#include "wave.hpp"

#include <map>
#include <optional>
#include <unordered_map>

namespace tessera::perf {

/// A value, and how far what is computed in the system's type may be from it.
struct Bounded {
  long double value = 0, bound = 0;
};

class SystemStep {
 public:
  SystemStep(const Problem& problem, std::uint64_t seed);
  SystemStep(const SystemStep&) = delete;
  SystemStep& operator=(const SystemStep&) = delete;

  const tessera_system_desc& desc() const { return *description_.get(); }
  /// Before the step: `level` 0 or less.
  long double before(int field, int level, const Place& at) const;
  /// The new level, behind all stages.
  Bounded next(int field, const Place& at);
  /// What a recording's series gets.
  Bounded recorded(int recording, std::int64_t series);
  Place place_of(std::int64_t index) const;
  std::int64_t index_of(const Place& at) const;

 private:
  std::optional<Bounded> read(const tessera_factor& factor, const Place& at);
  std::optional<Bounded> product(const tessera_factor* factors, std::int64_t count, const Place& at,
                                 double coefficient);
  std::optional<Bounded> sum(const tessera_update& update, const Place& at);
  Place place(const tessera_points& points, std::int64_t entry) const;
  void inject(int field, const Place& at, Bounded& value) const;
  long double element(std::size_t operand, std::int64_t index) const;

  Problem problem_;
  std::uint64_t seed_;
  StencilSystem system_;
  StencilSystem::Description description_;
  Place extents_{1, 1, 1};
  long double unit_;                                     ///< roundoff of the system's type
  std::map<std::pair<int, int>, std::size_t> operands_;  ///< by field and level
  std::vector<std::size_t> injected_;
  std::vector<std::unordered_map<std::int64_t, Bounded>> known_;  ///< new values, by field and index
};

}  // namespace tessera::perf
