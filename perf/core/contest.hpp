// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All that compete on one problem. Their samples alternate, so that clocks, temperature and neighbours treat them
/// alike.
#pragma once

#include "fixture.hpp"
#include "measure.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <optional>

namespace tessera::perf {

/// What is known of a competitor from the problems that it had so far. It tells which problems would take for ever.
struct Speed {
  double rate = 0.0;                 ///< the best so far
  double work = 0.0, seconds = 0.0;  ///< of the largest problem so far
  double missed_rate = 1e300;        ///< the lowest rate that a problem's limit asked for and that it did not reach

  /// `limit`: seconds that an execution of that work may take.
  bool too_slow(double work, double limit) const;
  void learn(double work, double took, double limit);
};
using Speeds = std::map<std::pair<std::string, std::string>, Speed>;  ///< by competitor and kind

/// What contests share: limits, and what one contest learns for the next ones.
struct Conditions {
  Budget budget;
  const std::atomic<bool>& stop;  ///< ends it early
  Ceilings& ceilings;
  Speeds& speeds;
  double& plan_bytes;  ///< bytes that plans may still keep from pass to pass
};

/// What came of one competitor.
struct Outcome {
  std::string left_out;  ///< why it was not measured, which is no failure
  std::string failure;
  bool device_lost = false;
  Statistics time, share;                  ///< of an execution; of the ceiling that was measured beside each sample
  Ceilings::Floor floor;                   ///< of the same minutes
  Verdict accuracy;                        ///< of the result
  bool in_parts = false;                   ///< sums may be added up in D's type, see Rounding
  bool automatic = false;                  ///< the backend's own choice for the problem
  std::optional<std::uint64_t> workspace;  ///< bytes beside the operands, where they are known
};

class Contest {
 public:
  Contest(Problem problem, bool hot) : problem_(std::move(problem)), hot_(hot) {}
  Contest(const Contest&) = delete;  // entries point to it

  const Problem& problem() const { return problem_; }
  /// Competitors have numbers from 0 on.
  void add(Competitor& competitor) { entries_.emplace_back(*this, competitor); }
  /// Whether anything is left to do in that pass, counted from 0.
  bool wants(std::int64_t pass) const;
  /// Measures all that is due in the pass. The first pass checks the results.
  void run(std::int64_t pass, Fixture& fixture, const Conditions& conditions);
  const Outcome& outcome(std::size_t competitor) const { return entries_[competitor].outcome; }

 private:
  struct Entry : Contestant {
    Entry(const Contest& c, Competitor& own) : contest(&c), competitor(&own) {}
    bool wants_more(std::int64_t pass) const override {
      return selection && outcome.failure.empty() && outcome.left_out.empty() && selection->wants_more(pass);
    }
    void sample(std::int64_t pass) override;
    Measurement::Work work(std::size_t candidate) const;

    const Contest* contest;
    Competitor* competitor;
    std::vector<Candidate> candidates;
    std::vector<Verdict> verdicts;  ///< of the candidates
    std::optional<Selection> selection;
    Outcome outcome;
  };

  void find_reference();
  double limit(const Conditions& conditions) const;
  Speed& speed_of(const Entry& entry, Speeds& speeds) const;
  bool too_slow(Entry& entry, Speed& speed, double limit) const;
  void begin(const Conditions& conditions);
  void start(Entry& entry, const Conditions& conditions, double limit, double floor) const;
  /// The numbers of the candidates that are right. Their first executions take `first` seconds, of the first of them.
  std::vector<std::size_t> check(Entry& entry, double& first) const;
  void meet_operands(const Entry& entry, std::size_t candidate) const;
  void resume(Entry& entry) const;
  void conclude(Entry& entry) const;
  bool wants_samples(std::int64_t pass) const;

  Problem problem_;
  bool hot_;
  Fixture* fixture_ = nullptr;  ///< of the pass
  std::vector<Ceilings::Floor> floors_;
  std::deque<Entry> entries_;
};

}  // namespace tessera::perf
