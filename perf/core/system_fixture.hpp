// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arrays of a system on one device. Executions change them: each goes on where the one before has stopped, whoever
/// made that, as a simulation does. A check begins anew.
#pragma once

#include "system_reference.hpp"

#include <optional>

namespace tessera::perf {

class SystemFixture {
 public:
  SystemFixture(Device& device, const Problem& problem, std::uint64_t seed, std::int64_t sets);
  ~SystemFixture();
  SystemFixture(const SystemFixture&) = delete;
  SystemFixture& operator=(const SystemFixture&) = delete;

  /// On the arrays of one set.
  void execute(const Execute& function, std::int64_t set) const;
  Verdict check(const Execute& function, double& seconds);
  bool has_reference() { return reference().complete(); }
  /// Checks a step, and makes the reference of the whole from many of them in a row.
  Verdict chain(const Execute& step);

 private:
  void fill(std::size_t operand);
  void restore();
  SystemReference& reference();

  Device* device_;
  Problem problem_;
  std::uint64_t seed_;
  std::int64_t sets_;
  std::vector<char*> memory_;                      ///< of each operand, for all sets
  std::vector<std::int64_t> distance_;             ///< bytes between the sets of each
  mutable std::vector<std::vector<void*>> lists_;  ///< of each set, in the order of the next execution
  std::optional<SystemReference> reference_;
};

}  // namespace tessera::perf
