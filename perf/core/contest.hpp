// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All that compete on one problem, measured in turns, so that clocks, temperature and neighbours treat them alike.
#pragma once

#include "measure.hpp"
#include "workbench.hpp"

#include <atomic>
#include <map>
#include <optional>

namespace tessera::perf {

/// What is known of a subject from the problems that it had so far: enough not to start what would take for ever.
struct Speed {
  double rate = 0.0, work = 0.0;  ///< of the largest problem so far
  double hopeless = 1e300;        ///< the lowest rate that a problem's limit asked for and that was missed

  /// `limit`: seconds that an execution of that work may take.
  bool too_slow(double work, double limit) const;
  void learn(double work, double seconds, double limit);
};
using Speeds = std::map<std::string, Speed>;

/// What came of one subject.
struct Outcome {
  std::string left_out;  ///< why it was not measured, which is no failure
  std::string failure;
  bool device_lost = false;
  Statistics time;
  Ceilings::Floor floor;  ///< of the same minutes
  double max_error = 0.0;
  bool automatic = false;  ///< the backend's own choice for the problem
};

class Contest {
 public:
  Contest(Problem problem, bool hot) : problem_(std::move(problem)), hot_(hot) {}

  const Problem& problem() const { return problem_; }
  /// Returns the subject's number.
  std::size_t add(Subject& subject);
  bool done() const { return done_; }
  /// Measures all; `stop` ends it early.
  void run(Workbench& bench, Ceilings& ceilings, Speeds& speeds, const Budget& budget, const std::atomic<bool>& stop);
  const Outcome& outcome(std::size_t subject) const { return entries_[subject].outcome; }

 private:
  struct Entry {
    Subject* subject;
    std::string speed_key;
    Execute execute;
    std::optional<Measurement> measurement;
    Outcome outcome;

    bool wants_more() const { return measurement && outcome.failure.empty() && measurement->wants_more(); }
  };

  void find_reference(Workbench& bench);
  double limit(Ceilings& ceilings, const Budget& budget) const;
  bool too_slow(Entry& entry, Workbench& bench, Speed& speed, double limit) const;
  void prepare(Entry& entry, Workbench& bench, Speed& speed, const Budget& budget, double limit) const;

  Problem problem_;
  bool hot_, done_ = false;
  std::vector<Entry> entries_;
};

}  // namespace tessera::perf
