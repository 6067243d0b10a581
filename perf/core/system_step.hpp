// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One step of a system at a point, by the reference of the tests, of the random values that a fixture has.
#pragma once

#include "system_evaluation.hpp"
#include "systems.hpp"
#include "wave.hpp"

#include <map>
#include <unordered_map>

namespace tessera::perf {

using test::Number;

class SystemStep {
 public:
  SystemStep(const Problem& problem, std::uint64_t seed);
  SystemStep(const SystemStep&) = delete;
  SystemStep& operator=(const SystemStep&) = delete;

  const tessera_system_desc& desc() const { return *description_.get(); }
  /// Before the step: `level` 0 or less.
  long double before(int field, int level, const Place& at) const;
  /// The new level, behind all stages.
  Number next(int field, const Place& at);
  /// What a recording's series gets.
  Number recorded(int recording, std::int64_t series);
  Place place_of(std::int64_t index) const;
  std::int64_t index_of(const Place& at) const;

 private:
  Place place(const tessera_points& points, std::int64_t entry) const;
  void inject(int field, const Place& at, Number& value) const;
  long double element(std::size_t operand, std::int64_t index) const;

  Problem problem_;
  std::uint64_t seed_;
  StencilSystem system_;
  StencilSystem::Description description_;
  Place extents_{1, 1, 1};
  long double unit_;                                     ///< roundoff of the system's type
  std::map<std::pair<int, int>, std::size_t> operands_;  ///< by field and level
  std::vector<std::size_t> injected_;
  std::vector<std::unordered_map<std::int64_t, Number>> known_;  ///< new values, by field and index
};

}  // namespace tessera::perf
