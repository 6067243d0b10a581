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

namespace tessera::perf {

class Suite {
 public:
  Suite(const Options& options, Places& places, Recorder& recorder);

  /// Registers everything that was asked for; throws UsageError where that is nothing.
  void enroll();
  std::vector<std::string> names() const;

  /// Set by a signal: what is left is skipped.
  static std::atomic<bool> interrupted;

 private:
  struct Seat {
    Place* place;
    Ceilings ceilings;
    double room;       ///< bytes that plans may keep from pass to pass
    std::string dead;  ///< why nothing can run there any more
    bool warm = false;
  };

  /// A row's turn in a pass, counted from 0.
  struct Turn {
    benchmark::State& state;
    const std::string& name;
    std::int64_t pass;
  };
  using Body = std::function<void(const Turn&)>;
  struct Row {
    std::string name;
    Body body;
    Seat* seat;
  };

  bool wanted(const std::string& name) const;
  std::int64_t passes(const Seat& seat) const;
  void enroll_row(const std::string& name, Body body, Seat& seat);
  void register_rows();
  void take_turn(const Row& row, const Turn& turn);
  void enroll_ceilings(Seat& seat);
  void enroll_cases(Seat& seat, const std::vector<Case>& cases);
  void enroll_problem(Seat& seat, const Problem& problem, bool hot);
  void enroll_overheads(Seat& seat);
  void run_row(const Turn& turn, Seat& seat, Contest& contest, std::size_t subject);
  void run_enqueue(const Turn& turn, Seat& seat, const Problem& problem, Subject& subject, Passes& samples);
  void report(const Turn& turn, const Statistics& time, const Statistics& share = {}) const;
  Workbench& bench_for(const Place& place, const Problem& problem);
  void progress(const Turn& turn, const Seat& seat);
  void warm_up(Seat& seat);

  const Options* options_;
  Recorder* recorder_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::unique_ptr<Workbench> bench_;
  std::string bench_key_;
  Speeds speeds_;
  std::deque<Row> rows_;
  std::unique_ptr<std::regex> filter_;
  std::uint64_t seed_;
  std::size_t started_ = 0, turns_ = 0;
  double begin_ = 0.0;
};

/// Skips the row without calling it a failure.
void leave_out(benchmark::State& state, const std::string& reason);

}  // namespace tessera::perf
