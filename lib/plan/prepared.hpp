// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// B of products, laid out once for the plans that read it.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"
#include "problem/problem.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::core {

/// What is prepared: a pointer, and how many elements there are at least.
struct GivenOperand {
  const void* data;
  std::uint64_t elements;
};

/// An operand in the form that a backend likes best, in memory of its context, for products of any number of rows.
class Prepared {
 public:
  /// `b` is where the options say that operands are. It is read before this returns.
  Prepared(std::shared_ptr<Context> context, Problem problem, const PlanOptions& options, const GivenOperand& b);

  const std::shared_ptr<Context>& context() const { return context_; }
  const std::string& form() const { return place_.form; }
  std::uint64_t bytes() const { return std::uint64_t(memory_->bytes()); }
  const std::string& description() const { return description_; }
  /// The problem of a plan that takes it in the place of B, whose leading dimension and stride are not looked at.
  /// Throws invalid_argument where it was prepared for another.
  Problem problem_of(const tessera_desc* desc) const;
  /// The context of such a plan: the given one, or its own for null. Throws invalid_argument where that is of another
  /// backend or device.
  std::shared_ptr<Context> context_of_plan(const std::shared_ptr<Context>& given) const;

 private:
  void lay_out(const PlanOptions& options, const void* b);
  void require_same(const Problem& problem) const;
  std::shared_ptr<Context> context_;
  Problem problem_;  ///< that it was prepared for
  PreparedPlace place_;
  std::shared_ptr<DeviceMemory> memory_;
  std::string description_;
};

/// `context` may be null for host operands: the backend is then chosen for the descriptor.
std::shared_ptr<const Prepared> prepare(std::shared_ptr<Context> context, const tessera_desc* desc,
                                        const PlanOptions& options, const GivenOperand& b);

/// The problem of a plan: validated, and with the operand that the options bring.
Problem problem_of_plan(const tessera_desc* desc, const PlanOptions& options);

}  // namespace tessera::core
