// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "contest.hpp"

#include <algorithm>

namespace tessera::perf {

namespace {

/// After which no more candidates of a competitor are tried.
constexpr double kMostSeconds = 1.0;

template <class Body>
void attempt(Outcome& outcome, Body&& body) {
  try {
    body();
  } catch (const tessera::Error& error) {
    (error.code() == ErrorCode::unsupported ? outcome.left_out : outcome.failure) = error.what();
    outcome.device_lost = error.code() == ErrorCode::device_error;
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
}

Ceilings::Floor median(std::vector<Ceilings::Floor> floors) {
  const auto middle = floors.begin() + std::ptrdiff_t(floors.size() / 2);
  std::nth_element(floors.begin(), middle, floors.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return *middle;
}

}  // namespace

bool Speed::too_slow(double next, double limit) const {
  // Small problems understate: the rate may still grow, more so the farther away this one is. What took long shows it.
  const double attainable = seconds > 0.01 ? 1.5 * work / seconds : (next > 200.0 * work ? 30.0 : 4.0) * rate;
  return next / limit > 0.25 * missed_rate || (rate > 0.0 && next / attainable > limit);
}

void Speed::learn(double done, double took, double limit) {
  if (took > limit) missed_rate = std::min(missed_rate, done / limit);
  rate = std::max(done / took, rate);
  if (done < work) return;
  work = done;
  seconds = took;
}

/// Peers come last in the list, and are none of the slow ones.
void Contest::find_reference() {
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && !fixture_->has_reference(); ++entry) {
    try {
      fixture_->chain(entry->competitor->prepare(problem_.part()));
    } catch (const std::exception&) {
      // The next one may do. This one's error is reported when it is measured itself.
    }
  }
}

/// Many steps take long also at the ceilings, and are given some times as long.
double Contest::limit(const Conditions& conditions) const {
  const double steps = double(problem_.steps());
  Problem sweep = problem_;
  sweep.flops /= steps;
  const Budget& budget = conditions.budget;
  return std::max(budget.max_budgets * budget.seconds, 4.0 * steps * conditions.ceilings.floor(sweep, hot_).seconds);
}

/// The first problem of a kind begins with what is known of another.
Speed& Contest::speed_of(const Entry& entry, Speeds& speeds) const {
  Speed& speed = speeds[{entry.competitor->name(), problem_.kind.name()}];
  for (const DType other : WideTypes::kDTypes)
    if (speed.rate == 0.0) speed = speeds[{entry.competitor->name(), Kind(other).name()}];
  return speed;
}

bool Contest::too_slow(Entry& entry, Speed& speed, double limit) const {
  if (speed.rate == 0.0 && problem_.has_parts()) {
    const Problem part = problem_.part();
    const Execute execute = entry.competitor->prepare(part);
    speed.learn(part.work, fixture_->device().time([&] { fixture_->execute(execute, 0, hot_); }), limit);
  }
  return speed.too_slow(problem_.work, limit);
}

Measurement::Work Contest::Entry::work(std::size_t candidate) const {
  return [this, candidate](std::int64_t i) {
    contest->fixture_->execute(candidates[candidate].execute, i + 2, contest->hot_);
  };
}
void Contest::Entry::sample(std::int64_t pass) {
  const auto works = [this](std::size_t candidate) { return work(candidate); };
  if (contest->fixture_->device().native_stream() == nullptr) wait_for_idle_threads();
  attempt(outcome, [&] { selection->sample(pass, works, contest->floors_.back().seconds); });
}

/// Of one candidate what went wrong is the entry's error; of several those that refuse are no choice.
std::vector<std::size_t> Contest::check(Entry& entry, double& first) const {
  std::vector<std::size_t> right;
  entry.verdicts.assign(entry.candidates.size(), {});
  double spent = 0.0;
  for (std::size_t i = 0; i < entry.candidates.size() && spent < kMostSeconds; ++i) {
    double seconds = 0.0;
    try {
      entry.verdicts[i] = fixture_->check(entry.candidates[i].execute, seconds, entry.candidates[i].rounding);
    } catch (const std::runtime_error& error) {
      if (entry.candidates.size() == 1) throw;
      entry.verdicts[i].failure = error.what();
    }
    spent += seconds;
    if (!entry.verdicts[i].failure.empty()) continue;
    if (right.empty()) first = seconds;
    right.push_back(i);
  }
  return right;
}

void Contest::start(Entry& entry, const Conditions& conditions, double limit, double floor) const {
  Outcome& outcome = entry.outcome;
  outcome.automatic = entry.competitor->automatic(problem_);
  // What a user gets who forces nothing is measured however long it takes.
  if (!outcome.automatic && too_slow(entry, speed_of(entry, conditions.speeds), limit)) {
    outcome.left_out = "an execution would take far longer than the budget of a row";
    return;
  }
  entry.candidates = entry.competitor->candidates(problem_);
  outcome.workspace = entry.competitor->workspace();
  double first = 0.0;
  const std::vector<std::size_t> right = check(entry, first);
  if (right.empty()) {
    outcome.failure = entry.verdicts.front().failure;
    return;
  }
  if (entry.competitor->learns_operands()) meet_operands(entry, right.front());
  // The first execution paid for what is done once; that of a long one of ours is small beside it.
  Device& device = fixture_->device();
  if (first < conditions.budget.seconds || entry.competitor->name().starts_with("peer:"))
    first = device.time([&] { fixture_->execute(entry.candidates[right.front()].execute, 1, hot_); });
  const auto clock = [&device](const auto& executions) { return device.time(executions); };
  const Measurement measurement(clock, entry.work(right.front()), first, floor, conditions.budget);
  entry.selection.emplace(measurement, right);
}

void Contest::begin(const Conditions& conditions) {
  if (!fixture_->has_reference()) find_reference();
  const double most = limit(conditions), floor = conditions.ceilings.floor(problem_, hot_).seconds;
  for (Entry& entry : entries_) attempt(entry.outcome, [&] { start(entry, conditions, most, floor); });
}

/// One execution, or one on each set of operands.
void Contest::meet_operands(const Entry& entry, std::size_t candidate) const {
  const std::int64_t sets = entry.competitor->learns_operands() && !hot_ ? fixture_->sets() : 1;
  for (std::int64_t i = 1; i <= sets; ++i) fixture_->execute(entry.candidates[candidate].execute, i, hot_);
}

/// A new plan's first execution pays for that.
void Contest::resume(Entry& entry) const {
  if (!entry.candidates.empty()) return;
  entry.candidates = entry.competitor->candidates(problem_);
  meet_operands(entry, entry.selection->chosen());
}

bool Contest::wants_samples(std::int64_t pass) const {
  return std::any_of(entries_.begin(), entries_.end(), [pass](const Entry& entry) { return entry.wants_more(pass); });
}

bool Contest::wants(std::int64_t pass) const { return pass == 0 || wants_samples(pass); }

void Contest::run(std::int64_t pass, Fixture& fixture, const Conditions& conditions) {
  fixture_ = &fixture;
  const double before = double(fixture.device().free_bytes());
  if (pass == 0) begin(conditions);
  std::vector<Contestant*> contestants;
  for (Entry& entry : entries_) {
    contestants.push_back(&entry);
    if (entry.wants_more(pass)) attempt(entry.outcome, [&] { resume(entry); });
  }
  contest(contestants, pass, [&] {
    floors_.push_back(conditions.ceilings.floor(problem_, hot_));
    return !conditions.stop;
  });
  for (Entry& entry : entries_) {
    conclude(entry);
    if (pass == 0 && entry.outcome.time.repetitions > 0)
      speed_of(entry, conditions.speeds).learn(problem_.work, entry.outcome.time.median, limit(conditions));
  }
  // Plans that take little stay for the next pass.
  const double taken = std::max(0.0, before - double(fixture.device().free_bytes()));
  const bool keep = wants_samples(pass + 1) && taken <= conditions.plan_bytes;
  if (keep) conditions.plan_bytes -= taken;
  for (Entry& entry : entries_)  // the next pass has operands in other memory
    if (!keep || entry.competitor->learns_operands()) entry.candidates.clear();
}

void Contest::conclude(Entry& entry) const {
  Outcome& outcome = entry.outcome;
  if (!entry.selection || !outcome.failure.empty()) return;
  const std::size_t chosen = entry.selection->chosen();
  outcome.accuracy = entry.verdicts[chosen];
  if (!entry.candidates.empty()) outcome.in_parts = entry.candidates[chosen].rounding == Rounding::in_parts;
  outcome.time = entry.selection->scored().time();
  outcome.share = entry.selection->scored().share();
  outcome.floor = median(floors_);
  if (outcome.time.repetitions == 0) outcome.left_out = "the run was interrupted";
}

}  // namespace tessera::perf
