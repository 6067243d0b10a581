// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every system, row by row: the threads share the rows of each stage, in blocks whose planes stay in a cache.

#include "../context.hpp"
#include "../parallel.hpp"
#include "model.hpp"
#include "sparse_points.hpp"
#include "system_row.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace tessera::cpu {
namespace {

using plugin::SystemLevels;

template <class T>
class RowsPlan final : public plugin::Plan {
 public:
  RowsPlan(const Machine& machine, const SystemProblem& problem)
      : problem_(problem),
        levels_(problem_),
        threads_(system_threads(machine, problem)),
        blocks_(block_rows(machine, problem), problem) {
    for (const int stage : problem_.stages) add(stage);
    for (const auto& recording : problem_.recordings) series_.push_back(by_series(recording));
  }

  std::uint64_t workspace_bytes() const override { return levels_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    levels_.take(execution);
    const auto phases = std::int64_t(phases_.size());
    run_steps(threads_, problem_.steps * phases, [&](Team team, std::int64_t step) {
      const Phase& phase = phases_[std::size_t(step % phases)];
      const std::int64_t number = step / phases;
      if (!phase.rows.empty())
        run_rows(phase.rows, team, number);
      else if (phase.injects)
        inject_all(execution, phase.stage, team, number);
      else
        record_all(execution, phase.stage, team, number);
    });
    for (std::size_t f = 0; f < problem_.fields.size(); ++f) {
      const SystemLevels::Leftover left = levels_.leftover(int(f), problem_.steps);
      if (left.source != nullptr) bring_back(problem_.fields[f], left);
    }
  }

 private:
  /// What is done between two meetings of the threads: rows, injections, or recordings.
  struct Phase {
    std::vector<std::unique_ptr<SystemRow<T>>> rows;  ///< of each share
    int stage;
    bool injects;
  };
  /// Rows of the domain in the order in which they are made: blocks along the middle axis, each along the first.
  struct Blocks {
    std::int64_t rows, extent, planes;
    Blocks(std::int64_t block, const SystemProblem& p)
        : rows(std::min(block, p.extents[1])), extent(p.extents[1]), planes(p.extents[0]) {}
    std::int64_t count() const { return (extent + rows - 1) / rows; }
  };

  void add(int stage) {
    const auto first =
        std::find_if(problem_.updates.begin(), problem_.updates.end(), [&](const auto& u) { return u.stage == stage; });
    const auto last = std::find_if(first, problem_.updates.end(), [&](const auto& u) { return u.stage != stage; });
    if (first != last) {
      Phase phase{{}, stage, false};
      for (int t = 0; t < threads_; ++t) {
        phase.rows.push_back(
            std::make_unique<SystemRow<T>>(problem_, std::span<const SystemProblem::Update>(first, last), levels_));
        phase.rows.back()->warm();
      }
      phases_.push_back(std::move(phase));
    }
    const auto in_stage = [stage](const SystemProblem::Points& points) { return points.stage == stage; };
    if (std::any_of(problem_.injections.begin(), problem_.injections.end(), in_stage))
      phases_.push_back({{}, stage, true});
    if (std::any_of(problem_.recordings.begin(), problem_.recordings.end(), in_stage))
      phases_.push_back({{}, stage, false});
  }

  void run_rows(const std::vector<std::unique_ptr<SystemRow<T>>>& rows, Team team, std::int64_t number) const {
    SystemRow<T>& row = *rows[std::size_t(team.rank)];
    const std::int64_t units = blocks_.count() * blocks_.planes;
    for (std::int64_t unit = team.begin(units); unit < team.end(units); ++unit) {
      const std::int64_t first = unit / blocks_.planes * blocks_.rows, i = unit % blocks_.planes;
      const std::int64_t last = std::min(first + blocks_.rows, blocks_.extent);
      for (std::int64_t j = first; j < last; ++j) row.step(i, j, number);
    }
  }

  void inject_all(const plugin::Execution& e, int stage, Team team, std::int64_t number) const {
    if (team.rank != 0) return;
    for (const SystemProblem::Points& points : problem_.injections)
      if (points.stage == stage)
        inject<T>(problem_, points, e.operand<const T>(points.operand) + number * points.series_count,
                  levels_.at(points.field, 1, number));
  }

  void record_all(const plugin::Execution& e, int stage, Team team, std::int64_t number) const {
    for (std::size_t r = 0; r < series_.size(); ++r) {
      const SystemProblem::Points& points = problem_.recordings[r];
      if (points.stage != stage) continue;
      T* const row = e.operand<T>(points.operand) + number * points.series_count;
      const void* const level = levels_.at(points.field, 1, number);
      for (std::int64_t i = team.begin(points.series_count); i < team.end(points.series_count); ++i)
        row[i] = recorded<T>(problem_, points.field, series_[r][std::size_t(i)], level);
    }
  }

  void bring_back(const SystemProblem::Field& field, const SystemLevels::Leftover& left) const {
    const std::size_t size = plugin::size_of(field.dtype);
    const Index3& s = field.strides;
    run_team(threads_, [&](Team team) {
      const std::int64_t rows = problem_.extents[0] * problem_.extents[1];
      for (std::int64_t r = team.begin(rows); r < team.end(rows); ++r) {
        const std::int64_t first = r / problem_.extents[1] * s[0] + r % problem_.extents[1] * s[1];
        const std::int64_t together = s[2] == 1 ? problem_.extents[2] : 1;
        for (std::int64_t k = 0; k < problem_.extents[2]; k += together)
          std::memcpy(static_cast<std::byte*>(left.target) + std::size_t(first + k * s[2]) * size,
                      static_cast<const std::byte*>(left.source) + std::size_t(first + k * s[2]) * size,
                      std::size_t(together) * size);
      }
    });
  }

  SystemProblem problem_;
  SystemLevels levels_;
  int threads_;
  Blocks blocks_;
  std::vector<Phase> phases_;
  std::vector<std::vector<std::vector<SystemProblem::Points::Entry>>> series_;  ///< of each recording
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
    {"rows", plugin::supports_all<SystemProblem, Machine>, offer, make, {.narrow = true}}, 1};

}  // namespace
}  // namespace tessera::cpu
