// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What competes on what, and the passes over all of it within a budget.
#pragma once

#include "cases.hpp"
#include "contest.hpp"
#include "options.hpp"
#include "recorder.hpp"

#include <atomic>
#include <set>

namespace tessera::perf {

/// Something that has samples of its own in each pass, beside problems: a ceiling, an overhead.
struct Sampled {
  std::string name;                         ///< of its row
  std::function<double()> seconds = {};     ///< takes a sample
  std::function<void(Row&)> complete = {};  ///< adds what the row says beside its time
  std::string failure = {};                 ///< why there are no samples
};

class Suite {
 public:
  Suite(const Options& options, Platforms& platforms, Recorder& recorder);

  /// Adds everything that was asked for; throws UsageError where that is nothing.
  void add_rows();
  std::vector<std::string> names() const;
  /// Measures all of it, in passes, so that the samples of each row come from the whole run.
  void run();

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
  /// Rows that are measured together, visited once in each pass.
  struct Unit {
    Target* target;
    std::vector<std::string> names;
    std::function<void(std::int64_t pass)> visit;
  };

  bool wanted(const std::string& name) const;
  std::int64_t passes(const Target& target) const;
  void add_ceilings(Target& target);
  void require_memory(const Problem& problem) const;
  void add_cases(Target& target, const std::vector<Case>& cases, bool asked);
  void add_problem(Target& target, const Problem& problem, bool hot);
  /// Adds rows of these names, unless none is wanted. `make` makes what is sampled, anew in each pass; `samples` of
  /// each.
  void add_sampled(Target& target, const std::vector<std::string>& names, std::int64_t samples,
                   std::function<std::vector<Sampled>()> make);
  void add_overheads(Target& target);
  void add_queue(Target& target, const Problem& problem, int calls);
  void add_contention(Target& target);
  void add_contention(Target& target, const std::string& title, const std::string& subject,
                      std::function<std::function<void()>()> make);
  void visit(const Unit& unit, std::int64_t pass);
  void run_contest(Target& target, Contest& contest, const std::vector<std::string>& names, std::int64_t pass);
  Fixture& fixture_for(const Platform& platform, const Problem& problem);
  void progress(const Unit& unit, std::int64_t pass);
  void warm_up(Target& target);

  const Options* options_;
  Recorder* recorder_;
  std::set<std::string> asked_;  ///< labels of the problems of the command line
  std::vector<std::unique_ptr<Target>> targets_;
  std::unique_ptr<Fixture> fixture_;
  std::string fixture_key_;
  Speeds speeds_;
  std::vector<Unit> units_;
  std::uint64_t seed_;
  std::size_t started_ = 0, visits_ = 0;
  double begin_ = 0.0;
};

/// What the child process of the first-use measurement does.
int print_first_use(const std::string& backend, int threads);

}  // namespace tessera::perf
