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
  double rate = 0.0;                 ///< the best so far
  double work = 0.0, seconds = 0.0;  ///< of the largest problem so far
  double hopeless = 1e300;           ///< the lowest rate that a problem's limit asked for and that was missed

  /// `limit`: seconds that an execution of that work may take.
  bool too_slow(double work, double limit) const;
  void learn(double work, double took, double limit);
};
using Speeds = std::map<std::pair<std::string, DType>, Speed>;  ///< by subject and type

/// What contests are run under, and what they leave to the next ones.
struct Terms {
  Budget budget;
  const std::atomic<bool>& stop;  ///< ends it early
  Ceilings& ceilings;
  Speeds& speeds;
  double& room;  ///< bytes that plans may keep from pass to pass
};

/// What came of one subject.
struct Outcome {
  std::string left_out;  ///< why it was not measured, which is no failure
  std::string failure;
  bool device_lost = false;
  Statistics time, share;  ///< of an execution; of the ceiling that was measured beside each sample
  Ceilings::Floor floor;   ///< of the same minutes
  double max_error = 0.0;
  bool automatic = false;  ///< the backend's own choice for the problem
};

class Contest {
 public:
  Contest(Problem problem, bool hot) : problem_(std::move(problem)), hot_(hot) {}

  const Problem& problem() const { return problem_; }
  /// Returns the subject's number.
  std::size_t add(Subject& subject);
  /// Whether anything is left to do in that pass, counted from 0.
  bool wants(std::int64_t pass) const;
  /// Measures all that is due in the pass. The first pass checks the results.
  void run(std::int64_t pass, Workbench& bench, const Terms& terms);
  const Outcome& outcome(std::size_t subject) const { return entries_[subject].outcome; }

 private:
  struct Entry {
    Subject* subject;
    Execute execute;
    std::optional<Measurement> measurement;
    Outcome outcome;

    bool wants_more(std::int64_t pass) const {
      return measurement && outcome.failure.empty() && outcome.left_out.empty() && measurement->wants_more(pass);
    }
  };

  void find_reference(Workbench& bench);
  double limit(Ceilings& ceilings, const Budget& budget) const;
  Speed& speed_of(const Entry& entry, Speeds& speeds) const;
  bool too_slow(Entry& entry, Workbench& bench, Speed& speed, double limit) const;
  Measurement::Work work(const Entry& entry, const Workbench& bench) const;
  void begin(Workbench& bench, const Terms& terms);
  void enter(Entry& entry, Workbench& bench, Speed& speed, const Budget& budget, double limit, double floor) const;
  void resume(Entry& entry, Workbench& bench) const;
  void take_samples(std::int64_t pass, Workbench& bench, const Terms& terms);
  void conclude(Entry& entry, const Ceilings::Floor& floor) const;
  bool wants_samples(std::int64_t pass) const;

  Problem problem_;
  bool hot_;
  std::int64_t passes_done_ = 0;
  std::vector<Ceilings::Floor> floors_;
  std::vector<Entry> entries_;
};

}  // namespace tessera::perf
