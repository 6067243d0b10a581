// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the arrays of a system must hold after an execution, at sampled points. One step is interpreted point by point
/// in higher precision. Of many steps it is what as many executions of one step, checked so, leave.
#pragma once

#include "check.hpp"

#include <map>
#include <string>
#include <vector>

namespace tessera::perf {

/// Seed of an operand of a system.
inline std::uint64_t operand_seed(std::uint64_t seed, std::size_t operand) {
  return input_seed(seed, 16 + int(operand));
}

class SystemStep;

class SystemReference {
 public:
  SystemReference(const Problem& problem, std::uint64_t seed);
  /// False where there are many steps and adopt() was not called.
  bool complete() const { return complete_; }
  /// Takes what executions of one step in a row have left in `arrays` for right within the rounding errors of as many.
  void adopt(Device& device, void* const* arrays);
  Verdict check(Device& device, void* const* arrays) const;

 private:
  Samples sampled(std::size_t operand, SystemStep& step) const;
  void widen();
  std::string name_of(std::size_t operand) const;

  Problem problem_;
  bool complete_;
  std::vector<std::string> fields_;
  std::vector<std::int64_t> points_;        ///< at which states are sampled
  std::map<std::size_t, Samples> samples_;  ///< by operand
};

}  // namespace tessera::perf
