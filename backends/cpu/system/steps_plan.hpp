// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The course of an execution of a system, whoever makes the rows: the threads meet behind the rows, the injections and
/// the recordings of each stage.
#pragma once

#include "../thread_pool.hpp"
#include "model.hpp"
#include "sparse_points.hpp"

#include <tessera/plugin/plugin.hpp>
#include <tessera/plugin/system_levels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tessera::cpu {

using plugin::SystemProblem;

template <class T>
class SystemStepsPlan : public plugin::Plan {
 public:
  SystemStepsPlan(const Machine& machine, const SystemProblem& problem)
      : problem_(problem), levels_(problem_), threads_(system_threads(machine, problem)) {
    constexpr std::int64_t kUnits = 4;  // of each thread, at least
    const std::int64_t shared = problem.extents[0] * problem.extents[1] / (kUnits * threads_);
    block_rows_ = std::max<std::int64_t>(std::min({block_rows(machine, problem), problem.extents[1], shared}), 1);
    for (const int stage : problem_.stages) add(stage);
    for (const auto& recording : problem_.recordings) series_.push_back(plugin::lists_of_series(recording));
  }

  std::uint64_t workspace_bytes() const override { return levels_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    levels_.take(execution);
    const auto phases = std::int64_t(phases_.size());
    run_steps(threads_, problem_.steps * phases, [&](Team team, std::int64_t step) {
      const Phase& phase = phases_[std::size_t(step % phases)];
      const std::int64_t number = step / phases;
      switch (phase.work) {
        case Work::rows:
          return make_rows(phase.stage, team, number);
        case Work::injections:
          return inject_all(execution, phase.stage, team, number);
        case Work::recordings:
          return record_all(execution, phase.stage, team, number);
      }
    });
    for (std::size_t f = 0; f < problem_.fields.size(); ++f) {
      const plugin::SystemLevels::Leftover left = levels_.leftover(int(f), problem_.steps);
      if (left.source != nullptr) bring_back(problem_.fields[f], left);
    }
  }

 protected:
  /// Makes a share of the rows of a stage, in a step of that number.
  virtual void make_rows(int stage, Team team, std::int64_t number) = 0;

  const SystemProblem& problem() const { return problem_; }
  const plugin::SystemLevels& levels() const { return levels_; }
  int threads() const { return threads_; }

  /// Calls row(i, j) for a share of the rows, in blocks along the middle axis, each along the first.
  template <class Row>
  void for_each_row(Team team, Row&& row) const {
    const plugin::Index3 &low = problem_.low, &high = problem_.high;
    const std::int64_t planes = high[0] - low[0];
    const std::int64_t units = (high[1] - low[1] + block_rows_ - 1) / block_rows_ * planes;
    for (std::int64_t unit = team.begin(units); unit < team.end(units); ++unit) {
      const std::int64_t first = low[1] + unit / planes * block_rows_, i = low[0] + unit % planes;
      const std::int64_t last = std::min(first + block_rows_, high[1]);
      for (std::int64_t j = first; j < last; ++j) row(i, j);
    }
  }

 private:
  enum class Work { rows, injections, recordings };
  /// What is done between two meetings of the threads.
  struct Phase {
    Work work;
    int stage;
  };

  void add(int stage) {
    const auto in_stage = [stage](const auto& item) { return item.stage == stage; };
    const auto any = [&](const auto& list) { return std::any_of(list.begin(), list.end(), in_stage); };
    if (any(problem_.updates)) phases_.push_back({Work::rows, stage});
    if (any(problem_.injections)) phases_.push_back({Work::injections, stage});
    if (any(problem_.recordings)) phases_.push_back({Work::recordings, stage});
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
        row[i] = recorded<T>(problem_, points.field, series_[r], i, level);
    }
  }

  void bring_back(const SystemProblem::Field& field, const plugin::SystemLevels::Leftover& left) const {
    const std::size_t size = plugin::size_of(field.dtype);
    const plugin::Index3& s = field.strides;
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
  plugin::SystemLevels levels_;
  int threads_;
  std::int64_t block_rows_;
  std::vector<Phase> phases_;
  std::vector<plugin::PointLists> series_;  ///< of each recording
};

}  // namespace tessera::cpu
