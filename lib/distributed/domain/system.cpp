// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "recordings.hpp"
#include "stepper.hpp"
#include "system_description.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace tessera::distributed {
namespace {

using core::invalid;

[[noreturn]] void refuse(const std::string& what) { throw core::Error(TESSERA_INVALID_ARGUMENT, what); }

/// The operands of an execution, by their roles.
class Given {
 public:
  explicit Given(const tessera_execution& e) : begin_(e.operands), end_(e.operands + e.operand_count) {
    core::at_least("first_step", e.first_step, 0);
    if (e.operand_count > 0 && e.operands == nullptr)
      invalid("operands", "null", "must point to " + std::to_string(e.operand_count) + " operands");
    if (e.operand_count > 0 && e.operand_size != sizeof(tessera_operand))
      invalid("operand_size", std::int64_t(e.operand_size), "must be " + std::to_string(sizeof(tessera_operand)));
  }
  /// `some`: whether it has elements.
  void* find(tessera_role role, tessera_dtype dtype, const std::string& name, bool some) const {
    const auto* const found = std::find_if(begin_, end_, [role](const tessera_operand& o) { return o.role == role; });
    if (found == end_)
      refuse(name + " is missing: each field has an array, a state one for each of its levels (in C with role " +
             std::to_string(role) + ")");
    if (found->dtype != dtype)
      refuse(name + " is of type " + name_of(found->dtype) + ", the plan takes " + name_of(dtype));
    if (found->data == nullptr && some) invalid(name, "null", "must be this rank's array");
    return found->data;
  }

 private:
  const tessera_operand *begin_, *end_;
};

class SystemStepper : public Stepper {
 public:
  /// Throws where the descriptor is not valid or its fields have strides.
  explicit SystemStepper(const tessera_system_desc& desc);

  void add_to(Signature& signature) const override { system_.add_to(signature); }
  Reach reach(std::size_t field, std::size_t level, int depth) const override {
    return system_.reach(field, level, depth);
  }
  bool is_in_place() const override { return true; }
  bool has_way(int depth, bool inner_first, bool travels) const override {
    return !inner_first || (depth == 1 && travels && system_.has_parts());
  }
  std::vector<int> depths() const override { return {1, 2, 3, 4, 6, 8}; }
  std::vector<std::string> algorithms(tessera_context* context, const tessera_plan_options& options) const override;

  BoxPlan make_plan(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                    const tessera_plan_options& options) const override;
  double seconds(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                 const tessera_plan_options& options) const override;
  std::vector<std::vector<int>> places_after(const tessera_plan* plan) const override;
  void make_room(Comm& comm, tessera_context* context, const Place&, const std::vector<Box>& boxes,
                 std::int64_t) override {
    recordings_ = std::make_unique<Recordings>(comm, context, system_, boxes);
  }

  Operands operands(const tessera_execution& execution) const override;
  void run(const BoxPlan& plan, const Operands& operands, std::int64_t first_step) const override;
  bool records() const override { return !system_.recordings().empty(); }
  void gather_records(Comm& comm, const Operands& operands) const override {
    recordings_->gather(comm, operands.recorded);
  }

 private:
  SystemDescription system_;
  std::unique_ptr<Recordings> recordings_;
};

SystemStepper::SystemStepper(const tessera_system_desc& desc) : system_(desc) {
  domain_ = system_.domain(), states_ = system_.states();
  axes_ = desc.rank, steps_ = desc.steps;
  for (std::size_t f = 0; f < system_.fields().size(); ++f) {
    const tessera_field& field = system_.fields()[f];
    const bool state = field.kind == TESSERA_FIELD_STATE;
    fields_.push_back({field.kind, std::int64_t(size_of(DType(field.dtype))), state ? std::size_t(field.levels) : 1,
                       int(field.axis)});
  }
}

/// The one that is asked for, or all that there are for the whole domain.
std::vector<std::string> SystemStepper::algorithms(tessera_context* context,
                                                   const tessera_plan_options& options) const {
  std::vector<std::string> names;
  if (options.algorithm != nullptr) return {options.algorithm};
  const auto visit = [](void* data, const tessera_offer* offer) {
    auto& known = *static_cast<std::vector<std::string>*>(data);
    const std::string name(offer->algorithm, std::strcspn(offer->algorithm, ":"));
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  tessera_plan_options on_device = options;
  on_device.operands = TESSERA_MEMORY_DEVICE;
  call(tessera_visit_offers, context, reinterpret_cast<const tessera_desc*>(&system_.desc()), &on_device,
       static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&names));
  return names;
}

BoxPlan SystemStepper::make_plan(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                                 const tessera_plan_options& options) const {
  LocalSystem local;
  system_.describe(local, *place.cut, place.rank, box, steps, system_.slots(box == place.array ? place.block : box));
  return {distributed::make_plan(context, &local.desc, options)};
}

double SystemStepper::seconds(tessera_context* context, const Place& place, const Box& box, std::int64_t steps,
                              const tessera_plan_options& options) const {
  LocalSystem local;
  system_.describe(local, *place.cut, place.rank, box, steps, {});
  double least = std::numeric_limits<double>::infinity();
  const Outcome outcome = outcome_of([&] { least = least_seconds(context, &local.desc, options); });
  if (outcome.failed() && outcome.status != TESSERA_UNSUPPORTED) throw Error(outcome.status, outcome.message);
  return least;
}

std::vector<std::vector<int>> SystemStepper::places_after(const tessera_plan* plan) const {
  std::vector<std::vector<int>> all;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    std::vector<int>& places = all.emplace_back(fields_[f].levels, 0);
    for (std::size_t level = 0; fields_[f].kind == TESSERA_FIELD_STATE && level < places.size(); ++level) {
      tessera_role role = 0;
      call(tessera_plan_level_after, plan, std::int32_t(f), -std::int32_t(level), &role);
      places[level] = int(role - TESSERA_ROLE_FIELD) % 4;
    }
  }
  return all;
}

/// Their roles are those of a plan of one rank.
Operands SystemStepper::operands(const tessera_execution& e) const {
  Operands operands;
  const Given given(e);
  const tessera_system_desc& d = system_.desc();
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const tessera_field& field = system_.fields()[f];
    Arrays& levels = operands.fields.emplace_back();
    for (std::size_t level = 0; level < fields_[f].levels; ++level)
      levels.push_back(given.find(TESSERA_ROLE_FIELD + 4 * std::int32_t(f) + std::int32_t(level), field.dtype,
                                  field.name + (level == 0 ? "" : "[-" + std::to_string(level) + "]"), true));
  }
  const auto series = [&](const char* list, tessera_role role, const std::vector<PointSet>& sets, Arrays& rows) {
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::int64_t row = sets[s].series_count * std::int64_t(size_of(DType(d.dtype)));
      void* const data =
          given.find(role + std::int32_t(s), d.dtype, core::indexed(list, std::int64_t(s)), row > 0 && d.steps > 0);
      rows.push_back(data == nullptr ? nullptr : at(data, e.first_step * row));
    }
  };
  series("injections", TESSERA_ROLE_INJECTED, system_.injections(), operands.injected);
  series("recordings", TESSERA_ROLE_RECORDED, system_.recordings(), operands.recorded);
  return operands;
}

void SystemStepper::run(const BoxPlan& plan, const Operands& operands, std::int64_t first_step) const {
  const tessera_dtype dtype = system_.desc().dtype;
  std::vector<tessera_operand> given;
  for (std::size_t f = 0; f < operands.fields.size(); ++f)
    for (std::size_t level = 0; level < operands.fields[f].size(); ++level)
      given.push_back({operands.fields[f][level], system_.fields()[f].dtype,
                       TESSERA_ROLE_FIELD + 4 * std::int32_t(f) + std::int32_t(level)});
  for (std::size_t s = 0; s < operands.injected.size(); ++s)
    given.push_back({operands.injected[s], dtype, TESSERA_ROLE_INJECTED + std::int32_t(s)});
  for (std::size_t s = 0; s < operands.recorded.size(); ++s)
    given.push_back({recordings_->array(plan.number, s), dtype, TESSERA_ROLE_RECORDED + std::int32_t(s)});
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = given.data(), execution.operand_size = sizeof(tessera_operand);
  execution.operand_count = given.size();
  execution.scalar_size = sizeof(tessera_scalar);
  execution.first_step = first_step;
  call(tessera_plan_execute, plan.plan.get(), &execution);
}

}  // namespace

std::unique_ptr<Stepper> Stepper::of(const tessera_system_desc& desc) { return std::make_unique<SystemStepper>(desc); }

}  // namespace tessera::distributed
