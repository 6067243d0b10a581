// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where the levels of a system's fields are in each step of an execution.
#pragma once

#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::plugin {

/// The arrays of each field, which take turns. Made with the plan; an execution fills in the pointers.
class SystemLevels {
 public:
  explicit SystemLevels(const SystemProblem& problem) : offsets_(problem.workspace_offsets()) {
    for (const SystemProblem::Field& f : problem.fields)
      fields_.push_back({f.first_operand, f.levels, f.apart, f.state(), {}});
  }

  std::uint64_t workspace_bytes() const { return offsets_.back(); }

  void take(const Execution& execution) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      Arrays& arrays = fields_[f];
      for (int level = 0; level < arrays.levels; ++level)
        arrays.data[std::size_t(level)] = execution.operand<void>(arrays.operand + level);
      if (arrays.apart) arrays.data[std::size_t(arrays.levels)] = execution.workspace<std::byte>() + offsets_[f];
    }
  }

  /// The array of a field's level (1: the one that is made) in the step of that number, from 0 on.
  void* at(int field, int level, std::int64_t step) const {
    const Arrays& arrays = fields_[std::size_t(field)];
    if (!arrays.state) return arrays.data[0];
    const int count = arrays.levels + (arrays.apart ? 1 : 0);
    return arrays.data[std::size_t(((-level - step) % count + count) % count)];
  }

  /// The array whose values are in the workspace after so many steps, and the operand that is free for them; nulls
  /// where there is none.
  struct Leftover {
    const void* source;
    void* target;
  };
  Leftover leftover(int field, std::int64_t steps) const {
    const Arrays& arrays = fields_[std::size_t(field)];
    if (!arrays.apart) return {nullptr, nullptr};
    void* const free = at(field, 1, steps);
    void* const own = arrays.data[std::size_t(arrays.levels)];
    return free == own ? Leftover{nullptr, nullptr} : Leftover{own, free};
  }

 private:
  struct Arrays {
    int operand, levels;
    bool apart, state;
    std::array<void*, TESSERA_MAX_LEVELS + 1> data;
  };
  std::vector<Arrays> fields_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace tessera::plugin
