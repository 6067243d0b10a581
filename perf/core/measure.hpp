// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Time of one execution: batched until the clock can see it, repeated, and condensed.
#pragma once

#include "device.hpp"

#include <algorithm>

namespace tessera::perf {

/// Samples of one quantity, by the pass over the suite that took them.
using Passes = std::vector<std::vector<double>>;

struct Statistics {
  double median = 0.0, min = 0.0, max = 0.0, spread = 0.0;  ///< of all samples; coefficient of variation
  double low = 0.0, high = 0.0;                             ///< between which the median lies: median_interval()
  std::int64_t repetitions = 0;                             ///< samples
  std::int64_t batch = 1;                                   ///< executions in a sample
  std::vector<double> passes;                               ///< each pass's median
};

Statistics condense(const Passes& samples, std::int64_t batch);

struct Budget {
  double seconds = 0.4;          ///< of measuring, for one row
  double sample = 1e-3;          ///< shortest time that is trusted
  std::int64_t repetitions = 0;  ///< asked for; 0: what the budget allows, 3 to 30
  std::int64_t passes = 1;       ///< that share the samples
  double max_budgets = 10.0;     ///< an execution longer than that many budgets may be left out

  /// Whether an execution takes so long that one has to do.
  bool exceeded_by(double execution) const { return repetitions == 0 && execution > max_budgets * seconds; }
};

/// The samples of one row, taken one by one, so that those of others may come in between.
class Measurement {
 public:
  using Work = std::function<void(std::int64_t i)>;  ///< the i-th execution
  /// Seconds that the work takes, waited for: Device::time, or that of several devices at once.
  using Clock = std::function<double(const std::function<void()>& work)>;

  /// `first` is the time of an execution. Finds how many executions make a sample, and how many samples the budget
  /// allows: one at least in each pass, unless the budget is exceeded; then `first` is the only sample.
  Measurement(Clock clock, const Work& work, double first, double floor, const Budget& budget);

  /// Whether samples are due in that pass, counted from 0.
  bool wants_more(std::int64_t pass) const;
  /// `floor`: seconds that the machine needed at that moment. Others have run since the last sample: where it is short,
  /// an execution that does not count comes first. Threads that have slept may take 3 ms to a processor of their own.
  void sample(std::int64_t pass, const Work& work, double floor);
  /// The seconds of a sample that does not count.
  double try_once(const Work& work);
  /// Takes so many samples at most, but one in each pass.
  void limit(std::int64_t repetitions) { repetitions_ = std::min(repetitions_, std::max(repetitions, passes_)); }
  std::int64_t repetitions() const { return repetitions_; }
  Statistics time() const { return condense(seconds_, batch_); }  ///< of one execution
  Statistics share() const { return condense(shares_, batch_); }  ///< of what the machine could do beside it

 private:
  double time_of(const Work& work, std::int64_t batch);
  void add(std::int64_t pass, double seconds, double floor);

  Clock clock_;
  std::int64_t done_ = 0, batch_ = 1, repetitions_ = 1, passes_ = 1, taken_ = 0;
  bool short_ = false;  ///< a sample
  Passes seconds_, shares_;
};

/// The samples of several ways to do the same work, of which the fastest counts. What chose it does not score it, or
/// chance would count as speed: every other round chooses, and the slower half drops out until two are left; the
/// rounds between are scored. One way alone has all rounds scored.
class Selection {
 public:
  /// What the way of that number does.
  using Works = std::function<Measurement::Work(std::size_t way)>;
  /// `measurement` is that of the first way, and nobody has sampled yet.
  Selection(const Measurement& measurement, std::vector<std::size_t> ways);

  bool wants_more(std::int64_t pass) const { return ways_.front().scored.wants_more(pass); }
  void sample(std::int64_t pass, const Works& works, double floor);
  /// The fastest way so far, and the samples that score it.
  std::size_t chosen() const { return ways_.front().number; }
  const Measurement& scored() const { return ways_.front().scored; }

 private:
  struct Way {
    std::size_t number;
    Measurement scored;
    std::vector<double> choosing = {};  ///< seconds
  };
  void choose(const Works& works);

  std::vector<Way> ways_;  ///< that are left, the fastest first
  std::int64_t rounds_ = 0;
};

/// One of those that take turns in a contest.
class Contestant {
 public:
  virtual ~Contestant() = default;
  /// Whether samples are due in that pass over the suite, counted from 0.
  virtual bool wants_more(std::int64_t pass) const = 0;
  virtual void sample(std::int64_t pass) = 0;
};

/// Waits until no thread of the process works, `most` seconds at most. Many libraries' threads spin for some 30 ms
/// after a product, and where there are no more processors than threads they would take one from whoever is next.
void wait_for_idle_threads(double most = 0.2);

/// The loop of all that is measured: takes the samples that are due in a pass. Each round has one of everybody, and
/// everybody is first, and last, as often as the others, so that clocks, temperature and neighbours treat them alike.
/// `next_round` is called before each; false ends the contest early, but not before the first round.
void contest(
    const std::vector<Contestant*>& contestants, std::int64_t pass,
    const std::function<bool()>& next_round = [] { return true; });

/// Takes `count` samples in a pass of what tells its own seconds.
class Sampler : public Contestant {
 public:
  Sampler(std::function<double()> seconds, std::int64_t count) : seconds_(std::move(seconds)), left_(count) {}
  bool wants_more(std::int64_t) const override { return left_ > 0; }
  void sample(std::int64_t) override {
    samples.push_back(seconds_());
    --left_;
  }

  std::vector<double> samples;

 private:
  std::function<double()> seconds_;
  std::int64_t left_;
};

}  // namespace tessera::perf
