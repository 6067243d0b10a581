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
#include <regex>

namespace tessera::perf {

class Suite {
 public:
  Suite(const Options& options, Places& places, Recorder& recorder);

  /// Registers everything that was asked for; throws UsageError where that is nothing.
  void enroll();
  const std::vector<std::string>& names() const { return names_; }

  /// Set by a signal: what is left is skipped.
  static std::atomic<bool> interrupted;

 private:
  struct Seat {
    Place* place;
    Ceilings ceilings;
    std::string dead;  ///< why nothing can run there any more
    bool warm = false;
  };

  bool wanted(const std::string& name) const;
  void enroll_row(const std::string& name, std::function<void(benchmark::State&)> body, Seat& seat);
  void enroll_ceilings(Seat& seat);
  void enroll_cases(Seat& seat, const std::vector<Case>& cases);
  void enroll_problem(Seat& seat, const Problem& problem, bool hot);
  void enroll_overheads(Seat& seat);
  void run_row(benchmark::State& state, Seat& seat, Contest& contest, std::size_t subject);
  void run_enqueue(benchmark::State& state, Seat& seat, const Problem& problem, Subject& subject);
  void report(benchmark::State& state, const Statistics& s) const;
  Workbench& bench_for(const Place& place, const Problem& problem);
  void progress(const std::string& name);
  void warm_up(Seat& seat);

  const Options* options_;
  Recorder* recorder_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::unique_ptr<Workbench> bench_;
  std::string bench_key_;
  Speeds speeds_;
  std::vector<std::string> names_;
  std::unique_ptr<std::regex> filter_;
  std::uint64_t seed_;
  std::size_t started_ = 0;
  double begin_ = 0.0;
};

/// Skips the row without calling it a failure.
void leave_out(benchmark::State& state, const std::string& reason);

}  // namespace tessera::perf
