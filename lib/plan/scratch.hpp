// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Operands to time a problem on.
#pragma once

#include "plan/context.hpp"
#include "problem/problem.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::core {

/// Sets of operands of a problem in the memory of a context's device or in the host's, filled with random whole numbers
/// so small that sums of products are exact where the type can hold them: whatever computes a product, its bits are the
/// same.
/// Executions take one set after the other, which few caches hold all: programs do other things between two executions.
class Scratch {
 public:
  /// `problem` as the plugin sees it, and whoever calls a plan that was made for its descriptor. `context` null: the
  /// host's memory, for plans that take operands there. Throws out_of_memory.
  Scratch(const std::shared_ptr<Context>& context, const Problem& problem);

  /// An execution of alpha = 1 and beta = 0 on the next set. It points into this until the next call.
  tessera_execution next(void* workspace, std::uint64_t workspace_bytes);
  /// The next set is the first.
  void restart() { next_ = 0; }
  /// Some elements of the first set's output: the first, the last and those in the middle.
  std::vector<double> sample() const;
  /// Makes them NaN: what is found there later was written since.
  void spoil();
  /// Whether a value is none, or so large that another order of sums may overflow.
  bool beyond(double value) const;
  /// How much two ways to compute an element may differ, whose value is `value`.
  double tolerance(double value) const;

  ~Scratch();

 private:
  /// All sets of one operand.
  class Memory;
  /// Elements of a window, and where the windows begin.
  std::pair<std::int64_t, std::array<std::int64_t, 3>> windows() const;
  std::unique_ptr<Memory> filled(const std::shared_ptr<Context>& context, std::size_t operand) const;
  /// Of the operand that is prepared: of each set in its form.
  std::unique_ptr<Memory> prepared(const std::shared_ptr<Context>& context, const Memory& sets);

  const Problem& problem_;
  double most_ = 0.0;  ///< the largest number in them
  std::int64_t sets_ = 1, next_ = 0;
  std::vector<std::int64_t> distances_;  ///< bytes between an operand's sets
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<tessera_operand> operands_;
  tessera_scalar scalars_[2];
};

}  // namespace tessera::core
