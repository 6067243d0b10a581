// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "contest.hpp"

#include <algorithm>

namespace tessera::perf {

namespace {

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

std::size_t Contest::add(Competitor& competitor) {
  entries_.push_back({&competitor, {}, {}, {}});
  return entries_.size() - 1;
}

/// Peers come last in the list, and are none of the slow ones.
void Contest::find_reference(Fixture& fixture) {
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && !fixture.has_reference(); ++entry) {
    try {
      fixture.chain(entry->competitor->prepare(problem_.part()));
    } catch (const std::exception&) {
      // The next one may do. This one's error is reported when it is measured itself.
    }
  }
}

/// Many steps take long also at the ceilings, and are given some times as long.
double Contest::limit(Ceilings& ceilings, const Budget& budget) const {
  const double steps = double(problem_.steps());
  Problem sweep = problem_;
  sweep.flops /= steps;
  return std::max(budget.max_budgets * budget.seconds, 4.0 * steps * ceilings.floor(sweep, hot_).seconds);
}

/// The first problem of a kind begins with what is known of another.
Speed& Contest::speed_of(const Entry& entry, Speeds& speeds) const {
  Speed& speed = speeds[{entry.competitor->name(), problem_.kind.name()}];
  for (const DType other : WideTypes::kDTypes)
    if (speed.rate == 0.0) speed = speeds[{entry.competitor->name(), Kind(other).name()}];
  return speed;
}

bool Contest::too_slow(Entry& entry, Fixture& fixture, Speed& speed, double limit) const {
  if (speed.rate == 0.0 && problem_.has_parts()) {
    const Problem part = problem_.part();
    const Execute execute = entry.competitor->prepare(part);
    speed.learn(part.work, fixture.device().time([&] { fixture.execute(execute, 0, hot_); }), limit);
  }
  return speed.too_slow(problem_.work, limit);
}

Measurement::Work Contest::work(const Entry& entry, const Fixture& fixture) const {
  return [&entry, &fixture, hot = hot_](std::int64_t i) { fixture.execute(entry.execute, i + 2, hot); };
}

void Contest::start(Entry& entry, Fixture& fixture, Speed& speed, const Budget& budget, double limit,
                    double floor) const {
  entry.outcome.automatic = entry.competitor->automatic(problem_);
  // What a user gets who forces nothing is measured however long it takes.
  if (!entry.outcome.automatic && too_slow(entry, fixture, speed, limit)) {
    entry.outcome.left_out = "an execution would take far longer than the budget of a row";
    return;
  }
  entry.execute = entry.competitor->prepare(problem_);
  entry.outcome.workspace = entry.competitor->workspace();
  double first = 0.0;
  const Verdict verdict = fixture.check(entry.execute, first, entry.competitor->rounding());
  entry.outcome.failure = verdict.failure;
  entry.outcome.max_error = verdict.error;
  if (!verdict.failure.empty()) return;
  // The first execution paid for what is done once (a peer may even have tuned itself); that of a long one of ours is
  // small beside it.
  if (first < budget.seconds || entry.competitor->name().rfind("peer:", 0) == 0)
    first = fixture.device().time([&] { fixture.execute(entry.execute, 1, hot_); });
  const auto clock = [&device = fixture.device()](const auto& executions) { return device.time(executions); };
  entry.measurement.emplace(clock, work(entry, fixture), first, floor, budget);
}

void Contest::begin(Fixture& fixture, const Conditions& conditions) {
  if (!fixture.has_reference()) find_reference(fixture);
  const double limit = this->limit(conditions.ceilings, conditions.budget);
  const double floor = conditions.ceilings.floor(problem_, hot_).seconds;
  for (Entry& entry : entries_)
    attempt(entry.outcome,
            [&] { start(entry, fixture, speed_of(entry, conditions.speeds), conditions.budget, limit, floor); });
}

/// A new plan's first execution pays for that.
void Contest::resume(Entry& entry, Fixture& fixture) const {
  if (entry.execute) return;
  entry.execute = entry.competitor->prepare(problem_);
  fixture.execute(entry.execute, 1, hot_);
}

bool Contest::wants_samples(std::int64_t pass) const {
  return std::any_of(entries_.begin(), entries_.end(), [pass](const Entry& entry) { return entry.wants_more(pass); });
}

bool Contest::wants(std::int64_t pass) const { return passes_done_ <= pass && (pass == 0 || wants_samples(pass)); }

void Contest::run(std::int64_t pass, Fixture& fixture, const Conditions& conditions) {
  passes_done_ = pass + 1;
  const double before = double(fixture.device().free_bytes());
  if (pass == 0) begin(fixture, conditions);
  for (Entry& entry : entries_)
    if (entry.wants_more(pass)) attempt(entry.outcome, [&] { resume(entry, fixture); });
  take_samples(pass, fixture, conditions);
  const Ceilings::Floor floor = median(floors_);
  for (Entry& entry : entries_) {
    conclude(entry, floor);
    if (pass == 0 && entry.outcome.time.repetitions > 0)
      speed_of(entry, conditions.speeds)
          .learn(problem_.work, entry.outcome.time.median, limit(conditions.ceilings, conditions.budget));
  }
  // Plans that take little stay for the next pass.
  const double taken = std::max(0.0, before - double(fixture.device().free_bytes()));
  const bool keep = wants_samples(pass + 1) && taken <= conditions.plan_bytes;
  if (keep) conditions.plan_bytes -= taken;
  for (Entry& entry : entries_)
    if (!keep) entry.execute = nullptr;
}

void Contest::take_samples(std::int64_t pass, Fixture& fixture, const Conditions& conditions) {
  std::size_t round = 0;
  do {
    const Ceilings::Floor& floor = floors_.emplace_back(conditions.ceilings.floor(problem_, hot_));
    ++round;
    // Everybody is first, and last, as often as the others.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[(i + round + std::size_t(pass)) % entries_.size()];
      if (entry.wants_more(pass))
        attempt(entry.outcome, [&] { entry.measurement->sample(pass, work(entry, fixture), floor.seconds); });
    }
  } while (!conditions.stop && wants_samples(pass));
}

void Contest::conclude(Entry& entry, const Ceilings::Floor& floor) const {
  Outcome& outcome = entry.outcome;
  if (!entry.measurement || !outcome.failure.empty()) return;
  outcome.time = entry.measurement->time();
  outcome.share = entry.measurement->share();
  outcome.floor = floor;
  if (outcome.time.repetitions == 0) outcome.left_out = "the run was interrupted";
}

}  // namespace tessera::perf
