// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields over ranks, beside the plans of one rank that it is made of.

#include "scaled.hpp"
#include "systems.hpp"

namespace tessera::perf {

namespace {

/// "cpu-v3/star" of what a plan says of itself.
std::string algorithm_of(const std::string& description) {
  const std::size_t begin = description.find(" | ") + 3;
  return description.substr(begin, description.find_first_of(": ", begin) - begin);
}

/// Waves, whose fields are the state's two levels and perhaps an array.
class ScaledSystem : public ScaledDomain {
 public:
  using ScaledDomain::ScaledDomain;

 private:
  void make() override;
  void execute() override;
  double checked() override;
  std::string describe() const override { return plan_->describe(); }
  /// Several steps need the level before, too.
  std::vector<std::pair<std::string, double>> counters() const override {
    return halo_counters(double(whole_.system.order / 2), double(whole_.system.steps), 2.0);
  }
  Block block_of(int rank) const override { return plan_->block(rank); }

  std::unique_ptr<DistributedSystemPlan> plan_;
  std::vector<std::shared_ptr<void>> memory_;  ///< of the operands
  std::vector<void*> list_;                    ///< the same, in the order that the next execution takes
};

void ScaledSystem::make() {
  const StencilSystem system = system_of(whole_.system, whole_.kind.dtype);
  together(s_.group, [&] {
    plan_ = std::make_unique<DistributedSystemPlan>(s_.group.comm(), *s_.context, system, whole_.system.steps,
                                                    s_.cut(extents_.size()), PlanOptions{.operands = s_.memory()});
  });
  for (std::size_t i = 0; i < whole_.operands.size(); ++i) {
    const SystemOperand& operand = whole_.operands[i];
    together(s_.group, [&] {
      memory_.push_back(filled_block(operand_seed(kScaledSeed, i), operand.range));
      list_.push_back(memory_.back().get());
    });
    if (operand.use == SystemOperand::Use::constant)
      together(s_.group, [&] { plan_->exchange(SystemField(operand.index, whole_.system.rank), list_.back()); });
  }
}

void ScaledSystem::execute() {
  std::vector<FieldArrays> fields;
  std::vector<void*> after(list_);
  for (std::size_t i = 0; i < whole_.operands.size();) {
    const SystemField field(whole_.operands[i].index, whole_.system.rank);
    const std::size_t first = i;
    std::vector<SystemArray> levels;
    for (; i < whole_.operands.size() && whole_.operands[i].index == whole_.operands[first].index; ++i) {
      levels.emplace_back(static_cast<float*>(list_[i]));
      if (whole_.operands[i].use == SystemOperand::Use::state)
        after[i] = list_[first + std::size_t(plan_->place_after(field, -whole_.operands[i].level))];
    }
    fields.emplace_back(field, std::move(levels));
  }
  plan_->execute(fields);
  list_ = std::move(after);
}

/// The bits are those of a plan of one rank with the same algorithm.
double ScaledSystem::checked() {
  find_reference(algorithm_of(plan_->describe()),
                 double(whole_.operands.size()) * double(whole_.operands[0].count) * sizeof(float), 0.0);
  return compared(list_[0], own_block());
}

}  // namespace

std::unique_ptr<ScaledCase> scaled_system(const Station& station, const ScalingCase& c) {
  return std::make_unique<ScaledSystem>(station, c);
}

}  // namespace tessera::perf
