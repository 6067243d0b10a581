// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a plan on a cut domain steps: a stencil or a system of fields. It knows what a step reads, makes the plans of a
/// rank's boxes and runs them; what travels, and when, is no matter of it.
#pragma once

#include "decomposition.hpp"
#include "group/agreement.hpp"
#include "handles.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// A rank's part of the domain.
struct Place {
  const Decomposition* cut;
  int rank;
  Box block, array;
};

/// A field, whose levels have an array each. A stencil has one: what is read, what is written, and what is written
/// next.
struct FieldShape {
  tessera_field_kind kind;
  std::int64_t element;  ///< bytes
  std::size_t levels;
  int axis;  ///< of a profile
};

/// The arrays of each field, the newest level first, and series at the first step's row.
struct Operands {
  std::vector<Arrays> fields;
  Arrays injected, recorded;
};

/// The plan of a box, which one rank runs.
struct BoxPlan {
  PlanHandle plan;
  std::int64_t from = 0, to = 0;  ///< bytes to its first point in the arrays that are read and written, of a stencil
  std::size_t number = 0;         ///< among the boxes
};

class Stepper {
 public:
  /// Throws where the descriptor is not one of a whole domain, or its arrays have strides.
  static std::unique_ptr<Stepper> of(const tessera_stencil_desc& desc);
  static std::unique_ptr<Stepper> of(const tessera_system_desc& desc);
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  const Domain& domain() const { return domain_; }
  int axes() const { return axes_; }
  std::int64_t steps() const { return steps_; }
  const std::vector<FieldShape>& fields() const { return fields_; }
  /// How far one step reads what travels.
  const Reach& states() const { return states_; }

  virtual void add_to(Signature& signature) const = 0;
  /// How far around its block a rank needs a level (0, 1, ...: the newest first) of a field for so many steps.
  virtual Reach reach(std::size_t field, std::size_t level, int depth) const = 0;
  /// Whether a round writes the arrays that it reads.
  virtual bool is_in_place() const = 0;
  /// Whether so many steps from one exchange to the next can be taken with the inner points in a plan of their own, or
  /// without. `travels`: whether anything does.
  virtual bool has_way(int depth, bool inner_first, bool travels) const = 0;
  virtual std::vector<int> depths() const = 0;
  /// "" is what each rank chooses for itself; of others all ranks take one.
  virtual std::vector<std::string> algorithms(tessera_context* context, const tessera_plan_options& options) const = 0;

  /// Some steps of a box of the block, or of all of the array.
  virtual BoxPlan make_plan(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                            const tessera_plan_options& options) const = 0;
  /// Predicted; endless where there is no such plan.
  virtual double seconds(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                         const tessera_plan_options& options) const = 0;
  /// Of each field: where its levels are after a plan's steps.
  virtual std::vector<std::vector<int>> places_after(const tessera_plan* plan) const = 0;
  /// Collective: makes room for executions of so many rounds with plans of these boxes.
  virtual void make_room(Comm& comm, tessera_context* context, const Place& place, const std::vector<Box>& boxes,
                         std::int64_t rounds) = 0;

  /// Throws where they are not what a plan of one rank takes.
  virtual Operands operands(const tessera_execution& execution) const = 0;
  virtual void run(const BoxPlan& plan, const Operands& operands, std::int64_t first_step) const = 0;
  /// Whether an execution ends with what ranks bring together, and that: collective.
  virtual bool records() const { return false; }
  virtual void gather_records(Comm&, const Operands&) const {}

 protected:
  Stepper() = default;

  Domain domain_;
  int axes_ = 0;
  std::int64_t steps_ = 0;
  std::vector<FieldShape> fields_;
  Reach states_;
};

}  // namespace tessera::distributed
