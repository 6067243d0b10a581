// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What competes on what, registered with Google Benchmark and run within a budget.
#pragma once

#include "cases.hpp"
#include "contest.hpp"
#include "options.hpp"
#include "recorder.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <deque>
#include <regex>
#include <set>

namespace tessera::perf {

class Suite {
 public:
  Suite(const Options& options, Platforms& platforms, Recorder& recorder);

  /// Registers everything that was asked for; throws UsageError where that is nothing.
  void add_rows();
  std::vector<std::string> names() const;

  /// Set by a signal: what is left is skipped.
  static std::atomic<bool> interrupted;

 private:
  /// A platform in this run.
  struct Target {
    Platform* platform;
    Ceilings ceilings;
    double plan_bytes;  ///< bytes that plans may still keep from pass to pass
    std::string lost;   ///< why nothing can run there any more
    bool warm = false;
  };

  /// One visit to a row; each pass over the suite visits every row once.
  struct Visit {
    benchmark::State& state;
    const std::string& name;
    std::int64_t pass;  ///< counted from 0
  };
  using Body = std::function<void(const Visit&)>;
  struct Row {
    std::string name;
    Body body;
    Target* target;
  };

  bool wanted(const std::string& name) const;
  std::int64_t passes(const Target& target) const;
  void add_row(const std::string& name, Body body, Target& target);
  void register_rows();
  void visit_row(const Row& row, const Visit& visit);
  void add_ceiling_rows(Target& target);
  void require_memory(const Problem& problem) const;
  void add_case_rows(Target& target, const std::vector<Case>& cases, bool asked);
  void add_problem_rows(Target& target, const Problem& problem, bool hot);
  void add_overhead_rows(Target& target);
  void add_contention_rows(Target& target);
  void add_contention_row(Target& target, const std::string& title, const std::string& subject,
                          std::function<std::function<void()>()> make);
  void run_row(const Visit& visit, Target& target, Contest& contest, std::size_t competitor);
  void add_enqueue_rows(Target& target, const Problem& problem, int calls);
  void run_enqueue(const Visit& visit, Target& target, const Problem& problem, int calls, Competitor& competitor,
                   Passes& samples);
  void report(const Visit& visit, const Statistics& time, const Statistics& share = {}) const;
  Fixture& fixture_for(const Platform& platform, const Problem& problem);
  void progress(const Visit& visit, const Target& target);
  void warm_up(Target& target);

  const Options* options_;
  Recorder* recorder_;
  std::set<std::string> asked_;  ///< labels of the problems of the command line
  std::vector<std::unique_ptr<Target>> targets_;
  std::unique_ptr<Fixture> fixture_;
  std::string fixture_key_;
  Speeds speeds_;
  std::deque<Row> rows_;
  std::unique_ptr<std::regex> filter_;
  std::uint64_t seed_;
  std::size_t started_ = 0, visits_ = 0;
  double begin_ = 0.0;
};

/// Skips the row without calling it a failure.
void leave_out(benchmark::State& state, const std::string& reason);

}  // namespace tessera::perf
