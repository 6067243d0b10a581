// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The operands of one problem on one device, and what its result must be: shared by all that compete on it. Executions
/// of a system change its arrays: each goes on where the one before has stopped, whoever made that, as a simulation
/// does. A check begins anew.
#pragma once

#include "check.hpp"
#include "platform.hpp"

#include <optional>
#include <vector>

namespace tessera::perf {

class Fixture {
 public:
  Fixture(Device& device, const Problem& problem, std::uint64_t seed);
  ~Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  /// Bytes that it takes. One operand set where it is far larger than the cache, else as many as are.
  static double bytes(const Device& device, const Problem& problem);

  /// The i-th execution: on its own operands, or always on the first ones where they shall be hot.
  void execute(const Execute& function, std::int64_t i, bool hot) const;
  /// Poisons the output, executes, and compares. Also the time of that execution.
  Verdict check(const Execute& function, double& seconds, Rounding rounding = Rounding::once);
  /// Whether check() has something to compare with; else chain() makes it.
  bool has_reference() { return reference().complete(); }
  /// Checks an execution of the problem's part, and makes the reference of the whole from many of them in a row.
  Verdict chain(const Execute& part);

  /// What an execution on the first operands has left: the output, or the first array of a system.
  const void* result() const { return lists_[0][is_system() ? 0 : Reference::kOut]; }
  Device& device() const { return *device_; }
  std::int64_t sets() const { return sets_; }
  const Problem& problem() const { return problem_; }

 private:
  /// An array of an execution, for all sets.
  struct Operand {
    DType dtype;
    std::int64_t count;
    std::uint64_t seed;
    Range range;
    bool written;           ///< poisoned before a check
    bool restored;          ///< filled anew before a check
    std::int64_t distance;  ///< bytes between the sets
    char* memory = nullptr;
  };

  bool is_system() const { return problem_.op == Op::system; }
  static std::int64_t sets(const Device& device, const Problem& problem);
  void add(DType dtype, std::int64_t count, std::uint64_t seed, Range range, bool written, bool restored);
  void fill(const Operand& operand);
  void restore();
  Verdict chain_of_steps(const Execute& step);
  Reference& reference();  ///< made when first asked for: later passes do not ask

  Device* device_;
  Problem problem_;
  std::uint64_t seed_;
  std::int64_t sets_;
  std::vector<Operand> operands_;
  mutable std::vector<std::vector<void*>> lists_;  ///< of each set its arrays, in the order of the next execution
  std::optional<Reference> reference_;
};

}  // namespace tessera::perf
