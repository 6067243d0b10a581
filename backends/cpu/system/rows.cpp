// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every system, row by row.

#include "../context.hpp"
#include "steps_plan.hpp"
#include "system_row.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace tessera::cpu {
namespace {

template <class T>
class RowsPlan final : public SystemStepsPlan<T> {
 public:
  RowsPlan(const Machine& machine, const SystemProblem& problem) : SystemStepsPlan<T>(machine, problem) {
    const std::vector<SystemProblem::Update>& updates = this->problem().updates;
    for (auto first = updates.begin(); first != updates.end();) {
      const auto last = std::find_if(first, updates.end(), [&](const auto& u) { return u.stage != first->stage; });
      for (int share = 0; share < this->threads(); ++share) {
        rows_[first->stage].push_back(std::make_unique<SystemRow<T>>(
            this->problem(), std::span<const SystemProblem::Update>(first, last), this->levels()));
      }
      first = last;
    }
  }

 private:
  void make_rows(int stage, Team team, std::int64_t number) override {
    SystemRow<T>& row = *rows_.at(stage)[std::size_t(team.rank)];
    row.begin(number);
    this->for_each_row(team, [&](std::int64_t i, std::int64_t j) { row.step(i, j); });
  }

  std::map<int, std::vector<std::unique_ptr<SystemRow<T>>>> rows_;  ///< of each stage, for each share
};

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, rows_seconds(machine, p), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<RowsPlan<T>>(context.machine(), p);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{
    {"rows", plugin::supports_all<SystemProblem, Machine>, offer, make, {.narrow = true, .boxes = true}}, 2};

}  // namespace
}  // namespace tessera::cpu
