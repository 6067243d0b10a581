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
  if (floors.empty()) return {};
  const auto middle = floors.begin() + std::ptrdiff_t(floors.size() / 2);
  std::nth_element(floors.begin(), middle, floors.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return *middle;
}

}  // namespace

bool Speed::too_slow(double next, double limit) const {
  // Small problems understate: the rate may still grow, more so the farther away this one is.
  const double growth = next > 200.0 * work ? 30.0 : 4.0;
  return next / limit > 0.25 * hopeless || (rate > 0.0 && next / (growth * rate) > limit);
}

void Speed::learn(double done, double seconds, double limit) {
  if (seconds > limit) hopeless = std::min(hopeless, done / limit);
  rate = std::max(done / seconds, rate);
  work = std::max(done, work);
}

std::size_t Contest::add(Subject& subject) {
  entries_.push_back({&subject, subject.name() + (problem_.f64 ? "/f64" : "/f32"), {}, {}, {}});
  return entries_.size() - 1;
}

/// Peers come last in the list, and are none of the slow ones.
void Contest::find_reference(Workbench& bench) {
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && !bench.has_reference(); ++entry) {
    try {
      bench.chain(entry->subject->prepare(problem_.part()));
    } catch (const std::exception&) {
      // The next one may do; what this one cannot, it says when its own turn comes.
    }
  }
}

/// Many steps take long also at the ceilings, and are given some times as long.
double Contest::limit(Ceilings& ceilings, const Budget& budget) const {
  const double steps = problem_.op == Op::stencil ? double(problem_.stencil.steps) : 1.0;
  Problem sweep = problem_;
  sweep.flops /= steps;
  return std::max(budget.hopeless * budget.seconds, 4.0 * steps * ceilings.floor(sweep, hot_).seconds);
}

bool Contest::too_slow(Entry& entry, Workbench& bench, Speed& speed, double limit) const {
  if (speed.rate == 0.0 && problem_.has_parts()) {
    const Problem part = problem_.part();
    const Execute execute = entry.subject->prepare(part);
    speed.learn(part.work, bench.device().time([&] { bench.execute(execute, 0, hot_); }), limit);
  }
  return speed.too_slow(problem_.work, limit);
}

void Contest::prepare(Entry& entry, Workbench& bench, Speed& speed, const Budget& budget, double limit) const {
  entry.outcome.automatic = entry.subject->automatic(problem_);
  // What a user gets who forces nothing is measured however long it takes.
  if (!entry.outcome.automatic && too_slow(entry, bench, speed, limit)) {
    entry.outcome.left_out = "an execution would take far longer than the budget of a row";
    return;
  }
  entry.execute = entry.subject->prepare(problem_);
  double first = 0.0;
  const Verdict verdict = bench.check(entry.execute, first);
  entry.outcome.failure = verdict.failure;
  entry.outcome.max_error = verdict.error;
  if (!verdict.failure.empty()) return;
  const auto execute = [&bench, &entry, hot = hot_](std::int64_t i) { bench.execute(entry.execute, i + 2, hot); };
  // The first execution paid for what is done once (a peer may even have tuned itself); a hopelessly long one of ours
  // is a measurement all the same.
  if (first < budget.hopeless * budget.seconds || entry.subject->name().rfind("peer:", 0) == 0)
    first = bench.device().time([&] { bench.execute(entry.execute, 1, hot_); });
  entry.measurement.emplace(bench.device(), execute, first, budget);
}

void Contest::run(Workbench& bench, Ceilings& ceilings, Speeds& speeds, const Budget& budget,
                  const std::atomic<bool>& stop) {
  done_ = true;
  if (!bench.has_reference()) find_reference(bench);
  const double limit = this->limit(ceilings, budget);
  for (Entry& entry : entries_)
    attempt(entry.outcome, [&] { prepare(entry, bench, speeds[entry.speed_key], budget, limit); });
  std::vector<Ceilings::Floor> floors;
  const auto wants_more = [](const Entry& entry) { return entry.wants_more(); };
  do {
    floors.push_back(ceilings.floor(problem_, hot_));
    // Everybody is first, and last, as often as the others.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[(i + floors.size()) % entries_.size()];
      if (entry.wants_more()) attempt(entry.outcome, [&] { entry.measurement->sample(); });
    }
  } while (!stop && std::any_of(entries_.begin(), entries_.end(), wants_more));

  const Ceilings::Floor floor = median(std::move(floors));
  for (Entry& entry : entries_) {
    Outcome& outcome = entry.outcome;
    if (!entry.measurement || !outcome.failure.empty()) continue;
    outcome.time = entry.measurement->statistics();
    outcome.floor = floor;
    if (outcome.time.repetitions == 0)
      outcome.left_out = "the run was interrupted";
    else
      speeds[entry.speed_key].learn(problem_.work, outcome.time.median, limit);
    entry.measurement.reset();
    entry.execute = nullptr;  // and with it the plan's memory
  }
}

}  // namespace tessera::perf
