// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "suite.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace tessera::perf {

std::atomic<bool> Suite::interrupted{false};

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void leave_out(benchmark::State& state, const std::string& reason) { state.SkipWithError((kLeftOut + reason).c_str()); }

Suite::Suite(const Options& options, Places& places, Recorder& recorder)
    : options_(&options), recorder_(&recorder), seed_(std::random_device{}()) {
  for (const auto& place : places)
    seats_.push_back(
        std::make_unique<Seat>(Seat{place.get(), Ceilings(*place), double(place->clock->free_bytes()) / 8.0, ""}));
  if (options.filter.empty()) return;
  try {
    filter_ = std::make_unique<std::regex>(options.filter, std::regex::extended);
  } catch (const std::regex_error& error) {
    throw UsageError{"--benchmark_filter=" + options.filter + ": " + error.what()};
  }
}

bool Suite::wanted(const std::string& name) const {
  const std::string without_subject = name.substr(0, name.rfind('/'));
  const std::string subject = name.substr(name.rfind('/') + 1);
  if (filter_ != nullptr && !std::regex_search(name, *filter_)) return false;
  if (!matches_any(options_->cases, without_subject)) return false;
  if (subject.rfind("peer:", 0) == 0) return options_->peers;
  if (subject.rfind("tessera:", 0) == 0 && !options_->algorithms.empty())
    return matches_any(options_->algorithms, subject.substr(subject.rfind(':') + 1));
  return true;
}

std::int64_t Suite::passes(const Seat& seat) const {
  const std::int64_t usual = !seat.place->clock->interleave() ? 1 : options_->quick ? 3 : 5;
  const std::int64_t asked = options_->passes > 0 ? options_->passes : usual;
  return options_->repetitions > 0 ? std::min(asked, options_->repetitions) : asked;
}

void Suite::enroll_row(const std::string& name, Body body, Seat& seat) {
  if (!wanted(name)) return;
  rows_.push_back({name, std::move(body), &seat});
  recorder_->locate(name, seat.place->name);
}

std::vector<std::string> Suite::names() const {
  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.name);
  return names;
}

void Suite::take_turn(const Row& row, const Turn& turn) {
  Seat& seat = *row.seat;
  if (interrupted) return leave_out(turn.state, "the run was interrupted");
  if (!seat.dead.empty()) return turn.state.SkipWithError(("the device is lost since: " + seat.dead).c_str());
  progress(turn, seat);
  try {
    warm_up(seat);
    row.body(turn);
  } catch (const tessera::Error& error) {
    bench_.reset();
    bench_key_.clear();
    if (error.code() == ErrorCode::unsupported) return leave_out(turn.state, error.what());
    if (error.code() == ErrorCode::device_error) seat.dead = error.what();
    turn.state.SkipWithError(error.what());
  } catch (const std::exception& error) {
    bench_.reset();
    bench_key_.clear();
    turn.state.SkipWithError(error.what());
  }
}

/// Every row once in each pass, so that its samples come from the whole run.
void Suite::register_rows() {
  std::int64_t most = 0;
  for (const auto& seat : seats_) most = std::max(most, passes(*seat));
  for (std::int64_t pass = 0; pass < most; ++pass)
    for (const Row& row : rows_) {
      if (pass >= passes(*row.seat)) continue;
      ++turns_;
      benchmark::RegisterBenchmark(row.name.c_str(),
                                   [this, &row, pass](benchmark::State& state) {
                                     take_turn(row, {state, row.name, pass});
                                   })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
}

void Suite::enroll() {
  for (const auto& seat : seats_) {
    enroll_ceilings(*seat);
    enroll_cases(*seat, gemm_cases());
    enroll_cases(*seat, stencil_cases());
    enroll_overheads(*seat);
  }
  const auto ours = [](const Row& row) { return row.name.find("/tessera:") != std::string::npos; };
  if (rows_.empty() || (!options_->algorithms.empty() && std::none_of(rows_.begin(), rows_.end(), ours)))
    throw UsageError{"no backend, algorithm and case match what was asked for; --list without it prints all"};
  register_rows();
}

void Suite::enroll_ceilings(Seat& seat) {
  for (const DType dtype : kDTypes)
    for (const Ceiling ceiling : seat.place->clock->ceilings(dtype)) {
      const bool memory = ceiling >= Ceiling::copy;
      if (memory && dtype != kDTypes[0]) continue;  // bytes are bytes
      const std::string name = std::string("ceiling/") + name_of(ceiling) + "/" + tessera::name_of(dtype) +
                               (memory ? "/cold" : "/hot") + "/ceiling:" + seat.place->name;
      enroll_row(
          name,
          [this, &seat, ceiling, dtype, memory, samples = Passes()](const Turn& turn) mutable {
            samples.emplace_back();
            for (int i = 0; i < 3; ++i) {
              const double rate = seat.place->clock->measure(ceiling, dtype, 0);
              if (!(rate > 0.0)) return leave_out(turn.state, "this device has none");
              samples.back().push_back(1.0 / rate);
            }
            const Statistics time = condense(samples, 1);
            report(turn, time);
            turn.state.counters["rate"] = 1e-9 / time.median;
            turn.state.SetLabel(memory ? "GB/s" : "GFLOP/s");
          },
          seat);
    }
}

void Suite::enroll_cases(Seat& seat, const std::vector<Case>& cases) {
  Place& place = *seat.place;
  for (const Case& c : cases) {
    if (c.size != Size::any && (c.size == Size::gpu) != place.device) continue;
    if (options_->quick && !c.quick) continue;
    for (const DType dtype : kDTypes) {
      const Problem problem = resolve(c, dtype);
      const bool fits =
          Workbench::bytes(*place.clock, problem) + problem.footprint() < 0.85 * double(place.clock->free_bytes());
      if (!fits) {
        if (wanted(problem.label() + "/cold/tessera:" + place.backends.front()->name + ":"))
          recorder_->leave_out(problem.label(), "it does not fit in the memory of " + place.clock->name());
        continue;
      }
      enroll_problem(seat, problem, false);
      if (problem.footprint() <= 0.5 * double(place.clock->cache_bytes()) && !options_->quick)
        enroll_problem(seat, problem, true);
    }
  }
}

void Suite::enroll_problem(Seat& seat, const Problem& problem, bool hot) {
  const std::string title = problem.label() + (hot ? "/hot/" : "/cold/");
  const auto contest = std::make_shared<Contest>(problem, hot);
  for (const Subjects* subjects : competitors(*seat.place))
    for (const auto& subject : *subjects) {
      if (!subject->unsupported(problem).empty() || !wanted(title + subject->name())) continue;
      enroll_row(
          title + subject->name(),
          [this, &seat, contest, number = contest->add(*subject)](const Turn& turn) {
            run_row(turn, seat, *contest, number);
          },
          seat);
    }
}

void Suite::report(const Turn& turn, const Statistics& time, const Statistics& share) const {
  for (auto _ : turn.state) turn.state.SetIterationTime(time.median);
  auto& counters = turn.state.counters;
  counters["min"] = time.min * 1e6;
  counters["max"] = time.max * 1e6;
  counters["spread"] = time.spread;
  counters["repetitions"] = double(time.repetitions);
  counters["batch"] = double(time.batch);
  if (time.passes.size() < 2) return;
  nlohmann::ordered_json medians;
  for (const double seconds : time.passes) medians["real_time"].push_back(seconds * 1e6);
  if (!share.passes.empty()) medians["ceiling"] = share.passes;
  recorder_->passes(turn.name, std::move(medians));
}

Workbench& Suite::bench_for(const Place& place, const Problem& problem) {
  const std::string key = place.name + "/" + problem.label();
  if (bench_ == nullptr || key != bench_key_) {
    bench_.reset();  // before the next one takes its memory
    bench_ = std::make_unique<Workbench>(*place.clock, problem, seed_);
    bench_key_ = key;
  }
  return *bench_;
}

void Suite::run_row(const Turn& turn, Seat& seat, Contest& contest, std::size_t subject) {
  const Problem& problem = contest.problem();
  if (contest.wants(turn.pass)) {
    Budget budget;
    budget.seconds = options_->budget;
    budget.repetitions = options_->repetitions;
    budget.passes = passes(seat);
    contest.run(turn.pass, bench_for(*seat.place, problem), {budget, interrupted, seat.ceilings, speeds_, seat.room});
  }
  benchmark::State& state = turn.state;
  const Outcome& outcome = contest.outcome(subject);
  if (outcome.device_lost) seat.dead = outcome.failure;
  if (!outcome.failure.empty()) return state.SkipWithError(outcome.failure.c_str());
  if (!outcome.left_out.empty()) return leave_out(state, outcome.left_out);
  const double seconds = outcome.time.median;
  report(turn, outcome.time, outcome.share);
  state.counters["rate"] = problem.work / seconds * 1e-9;
  state.counters["traffic"] = (problem.read_bytes + problem.write_bytes) / seconds * 1e-9;
  state.counters["ceiling"] = outcome.share.median;
  state.counters["ceiling_rate"] = outcome.floor.rate * 1e-9;
  state.counters["max_error"] = outcome.max_error;
  if (outcome.automatic) state.counters["automatic"] = 1.0;
  state.SetLabel(outcome.floor.binding);
}

/// A clock that was idle takes a while to settle, and would favour whoever comes last.
void Suite::warm_up(Seat& seat) {
  if (seat.warm) return;
  seat.warm = true;
  const double begin = now();
  double before = 0.0, rate = 0.0;
  do {
    before = rate;
    for (const double stop = now() + 0.25; now() < stop;)
      rate = seat.place->clock->measure(Ceiling::fma, kDTypes[0], 0);
  } while (std::abs(rate - before) > 0.01 * rate && now() - begin < 2.0);
}

void Suite::progress(const Turn& turn, const Seat& seat) {
  if (started_ == 0) begin_ = now();
  const double elapsed = now() - begin_;
  const double left = started_ == 0 ? 0.0 : elapsed / double(started_) * double(turns_ - started_);
  ++started_;
  const auto clock = [](double s) {
    return std::to_string(int(s) / 60) + (int(s) % 60 < 10 ? ":0" : ":") + std::to_string(int(s) % 60);
  };
  const std::int64_t all = passes(seat);
  const std::string pass =
      all == 1 ? "" : "pass " + std::to_string(turn.pass + 1) + " of " + std::to_string(all) + ", ";
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s[%zu/%zu] %s%s, about %s left  %s%s", terminal ? "\r\033[K" : "", started_, turns_,
               pass.c_str(), clock(elapsed).c_str(), clock(left).c_str(), turn.name.c_str(),
               terminal && started_ < turns_ ? "" : "\n");
}

}  // namespace tessera::perf
