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
  for (const auto& place : places) seats_.push_back(std::make_unique<Seat>(Seat{place.get(), Ceilings(*place), ""}));
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

void Suite::enroll_row(const std::string& name, std::function<void(benchmark::State&)> body, Seat& seat) {
  if (!wanted(name)) return;
  names_.push_back(name);
  recorder_->locate(name, seat.place->name);
  const auto guarded = [this, name, body = std::move(body), &seat](benchmark::State& state) {
    if (interrupted) return leave_out(state, "the run was interrupted");
    if (!seat.dead.empty()) return state.SkipWithError(("the device is lost since: " + seat.dead).c_str());
    progress(name);
    try {
      warm_up(seat);
      body(state);
    } catch (const tessera::Error& error) {
      bench_.reset();
      bench_key_.clear();
      if (error.code() == ErrorCode::unsupported) return leave_out(state, error.what());
      if (error.code() == ErrorCode::device_error) seat.dead = error.what();
      state.SkipWithError(error.what());
    } catch (const std::exception& error) {
      bench_.reset();
      bench_key_.clear();
      state.SkipWithError(error.what());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), guarded)->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
}

void Suite::enroll() {
  for (const auto& seat : seats_) {
    enroll_ceilings(*seat);
    enroll_cases(*seat, gemm_cases());
    enroll_cases(*seat, stencil_cases());
    enroll_overheads(*seat);
  }
  const auto ours = [](const std::string& name) { return name.find("/tessera:") != std::string::npos; };
  if (names_.empty() || (!options_->algorithms.empty() && std::none_of(names_.begin(), names_.end(), ours)))
    throw UsageError{"no backend, algorithm and case match what was asked for; --list without it prints all"};
}

void Suite::enroll_ceilings(Seat& seat) {
  for (const bool f64 : {false, true})
    for (const Ceiling ceiling : seat.place->clock->ceilings(f64)) {
      const bool memory = ceiling >= Ceiling::copy;
      if (memory && f64) continue;  // bytes are bytes
      const std::string name = std::string("ceiling/") + name_of(ceiling) + (f64 ? "/f64/" : "/f32/") +
                               (memory ? "cold" : "hot") + "/ceiling:" + seat.place->name;
      enroll_row(
          name,
          [this, &seat, ceiling, f64, memory](benchmark::State& state) {
            std::vector<double> samples;
            double rate = 0.0;
            for (int i = 0; i < 3; ++i) {
              rate = seat.place->clock->measure(ceiling, f64, 0);
              if (!(rate > 0.0)) return leave_out(state, "this device has none");
              samples.push_back(1.0 / rate);
            }
            report(state, condense(samples, 1));
            state.counters["rate"] = 1e-9 / condense(samples, 1).median;
            state.SetLabel(memory ? "GB/s" : "GFLOP/s");
          },
          seat);
    }
}

void Suite::enroll_cases(Seat& seat, const std::vector<Case>& cases) {
  Place& place = *seat.place;
  for (const Case& c : cases) {
    if (c.size != Size::any && (c.size == Size::gpu) != place.device) continue;
    if (options_->quick && !c.quick) continue;
    for (const bool f64 : {false, true}) {
      const Problem problem = resolve(c, f64);
      const bool fits =
          Workbench::bytes(*place.clock, problem) + problem.footprint() < 0.85 * double(place.clock->free_bytes());
      const std::string title =
          std::string(problem.op == Op::gemm ? "gemm/" : "stencil/") + problem.name + (f64 ? "/f64" : "/f32");
      if (!fits) {
        if (wanted(title + "/cold/tessera:" + place.backends.front()->name + ":"))
          recorder_->leave_out(title, "it does not fit in the memory of " + place.clock->name());
        continue;
      }
      enroll_problem(seat, problem, false);
      if (problem.footprint() <= 0.5 * double(place.clock->cache_bytes()) && !options_->quick)
        enroll_problem(seat, problem, true);
    }
  }
}

void Suite::enroll_problem(Seat& seat, const Problem& problem, bool hot) {
  const std::string title = std::string(problem.op == Op::gemm ? "gemm/" : "stencil/") + problem.name +
                            (problem.f64 ? "/f64/" : "/f32/") + (hot ? "hot/" : "cold/");
  const auto contest = std::make_shared<Contest>(problem, hot);
  for (const Subjects* subjects : competitors(*seat.place))
    for (const auto& subject : *subjects) {
      if (!subject->unsupported(problem).empty() || !wanted(title + subject->name())) continue;
      enroll_row(
          title + subject->name(),
          [this, &seat, contest, number = contest->add(*subject)](benchmark::State& state) {
            run_row(state, seat, *contest, number);
          },
          seat);
    }
}

void Suite::report(benchmark::State& state, const Statistics& s) const {
  for (auto _ : state) state.SetIterationTime(s.median);
  state.counters["min"] = s.min * 1e6;
  state.counters["max"] = s.max * 1e6;
  state.counters["spread"] = s.spread;
  state.counters["repetitions"] = double(s.repetitions);
  state.counters["batch"] = double(s.batch);
}

Workbench& Suite::bench_for(const Place& place, const Problem& problem) {
  const std::string key =
      place.name + (problem.op == Op::gemm ? "/g/" : "/s/") + problem.name + (problem.f64 ? "d" : "s");
  if (bench_ == nullptr || key != bench_key_) {
    bench_.reset();  // before the next one takes its memory
    bench_ = std::make_unique<Workbench>(*place.clock, problem, seed_);
    bench_key_ = key;
  }
  return *bench_;
}

void Suite::run_row(benchmark::State& state, Seat& seat, Contest& contest, std::size_t subject) {
  const Problem& problem = contest.problem();
  if (!contest.done()) {
    Budget budget;
    budget.seconds = options_->budget;
    budget.repetitions = options_->repetitions;
    contest.run(bench_for(*seat.place, problem), seat.ceilings, speeds_, budget, interrupted);
  }
  const Outcome& outcome = contest.outcome(subject);
  if (outcome.device_lost) seat.dead = outcome.failure;
  if (!outcome.failure.empty()) return state.SkipWithError(outcome.failure.c_str());
  if (!outcome.left_out.empty()) return leave_out(state, outcome.left_out);
  const double seconds = outcome.time.median;
  report(state, outcome.time);
  state.counters["rate"] = problem.work / seconds * 1e-9;
  state.counters["traffic"] = (problem.read_bytes + problem.write_bytes) / seconds * 1e-9;
  state.counters["ceiling"] = outcome.floor.seconds / seconds;
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
    for (const double stop = now() + 0.25; now() < stop;) rate = seat.place->clock->measure(Ceiling::fma, false, 0);
  } while (std::abs(rate - before) > 0.01 * rate && now() - begin < 2.0);
}

void Suite::progress(const std::string& name) {
  if (started_ == 0) begin_ = now();
  const double elapsed = now() - begin_;
  const double left = started_ == 0 ? 0.0 : elapsed / double(started_) * double(names_.size() - started_);
  ++started_;
  const auto clock = [](double s) {
    return std::to_string(int(s) / 60) + (int(s) % 60 < 10 ? ":0" : ":") + std::to_string(int(s) % 60);
  };
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s[%zu/%zu] %s, about %s left  %s%s", terminal ? "\r\033[K" : "", started_, names_.size(),
               clock(elapsed).c_str(), clock(left).c_str(), name.c_str(),
               terminal && started_ < names_.size() ? "" : "\n");
}

}  // namespace tessera::perf
