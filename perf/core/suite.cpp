// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "suite.hpp"

#include "readable.hpp"

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

Suite::Suite(const Options& options, Platforms& platforms, Recorder& recorder)
    : options_(&options), recorder_(&recorder), seed_(std::random_device{}()) {
  for (const auto& platform : platforms)
    targets_.push_back(std::make_unique<Target>(
        Target{platform.get(), Ceilings(*platform), double(platform->device->free_bytes()) / 8.0, ""}));
  for (const Case& c : options.asked) asked_.insert(resolve(c, c.kinds.front()).label());
  if (options.filter.empty()) return;
  try {
    filter_ = std::make_unique<std::regex>(options.filter, std::regex::extended);
  } catch (const std::regex_error& error) {
    throw UsageError{"--benchmark_filter=" + options.filter + ": " + error.what()};
  }
}

bool Suite::wanted(const std::string& name) const {
  const std::string without_competitor = name.substr(0, name.rfind('/'));
  const std::string competitor = name.substr(name.rfind('/') + 1);
  if (filter_ != nullptr && !std::regex_search(name, *filter_)) return false;
  const bool asked = asked_.contains(without_competitor.substr(0, without_competitor.rfind('/')));
  if (!asked && options_->cases.empty() && !asked_.empty()) return false;
  if (!asked && !matches_any(options_->cases, without_competitor)) return false;
  if (competitor.rfind("peer:", 0) == 0) return options_->peers;
  if (competitor.rfind("tessera:", 0) == 0 && !options_->algorithms.empty())
    return matches_any(options_->algorithms, competitor.substr(competitor.rfind(':') + 1));
  return true;
}

std::int64_t Suite::passes(const Target& target) const {
  const std::int64_t usual = !target.platform->device->interleave() ? 1 : options_->quick ? 3 : 5;
  const std::int64_t asked = options_->passes > 0 ? options_->passes : usual;
  return options_->repetitions > 0 ? std::min(asked, options_->repetitions) : asked;
}

void Suite::add_row(const std::string& name, Body body, Target& target) {
  if (!wanted(name)) return;
  rows_.push_back({name, std::move(body), &target});
  recorder_->locate(name, target.platform->name);
}

std::vector<std::string> Suite::names() const {
  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.name);
  return names;
}

void Suite::visit_row(const Row& row, const Visit& visit) {
  Target& target = *row.target;
  if (interrupted) return leave_out(visit.state, "the run was interrupted");
  if (!target.lost.empty()) return visit.state.SkipWithError(("the device is lost since: " + target.lost).c_str());
  progress(visit, target);
  try {
    warm_up(target);
    row.body(visit);
  } catch (const tessera::Error& error) {
    fixture_.reset();
    fixture_key_.clear();
    if (error.code() == ErrorCode::unsupported) return leave_out(visit.state, error.what());
    if (error.code() == ErrorCode::device_error) target.lost = error.what();
    visit.state.SkipWithError(error.what());
  } catch (const std::exception& error) {
    fixture_.reset();
    fixture_key_.clear();
    visit.state.SkipWithError(error.what());
  }
}

/// Every row once in each pass, so that its samples come from the whole run.
void Suite::register_rows() {
  std::int64_t most = 0;
  for (const auto& target : targets_) most = std::max(most, passes(*target));
  for (std::int64_t pass = 0; pass < most; ++pass)
    for (const Row& row : rows_) {
      if (pass >= passes(*row.target)) continue;
      ++visits_;
      benchmark::RegisterBenchmark(row.name.c_str(),
                                   [this, &row, pass](benchmark::State& state) {
                                     visit_row(row, {state, row.name, pass});
                                   })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
}

void Suite::add_rows() {
  for (const Case& c : options_->asked) require_memory(resolve(c, c.kinds.front()));
  for (const auto& target : targets_) {
    add_ceiling_rows(*target);
    add_case_rows(*target, options_->asked, true);
    add_case_rows(*target, gemm_cases(), false);
    add_case_rows(*target, stencil_cases(), false);
    add_case_rows(*target, system_cases(), false);
    add_overhead_rows(*target);
    add_contention_rows(*target);
  }
  const auto ours = [](const Row& row) { return row.name.find("/tessera:") != std::string::npos; };
  if (rows_.empty() || (!options_->algorithms.empty() && std::none_of(rows_.begin(), rows_.end(), ours)))
    throw UsageError{"no backend, algorithm and case match what was asked for; --list without it prints all"};
  register_rows();
}

void Suite::add_ceiling_rows(Target& target) {
  for (const DType dtype : kDTypes)
    for (const Ceiling ceiling : target.platform->device->ceilings(dtype)) {
      const bool memory = ceiling >= Ceiling::copy;
      if (memory && dtype != WideTypes::kDTypes[0]) continue;  // bytes are bytes
      const std::string name = std::string("ceiling/") + name_of(ceiling) + "/" + tessera::name_of(dtype) +
                               (memory ? "/cold" : "/hot") + "/ceiling:" + target.platform->name;
      add_row(
          name,
          [this, &target, ceiling, dtype, memory, samples = Passes()](const Visit& visit) mutable {
            samples.emplace_back();
            for (int i = 0; i < 3; ++i) {
              const double rate = target.platform->device->measure(ceiling, dtype, 0);
              if (!(rate > 0.0)) return leave_out(visit.state, "this device has none");
              samples.back().push_back(1.0 / rate);
            }
            const Statistics time = condense(samples, 1);
            report(visit, time);
            visit.state.counters["rate"] = 1e-9 / time.median;
            visit.state.SetLabel(memory ? "GB/s" : "GFLOP/s");
          },
          target);
    }
}

namespace {

/// Bytes that measuring the problem takes, and those that it may take.
double bytes_needed(const Device& device, const Problem& problem) {
  return Fixture::bytes(device, problem) + problem.footprint();
}
double bytes_allowed(const Device& device) { return 0.85 * double(device.free_bytes()); }

}  // namespace

/// A problem of the command line must fit somewhere.
void Suite::require_memory(const Problem& problem) const {
  std::string rooms;
  for (const auto& target : targets_) {
    const Device& device = *target->platform->device;
    if (bytes_needed(device, problem) < bytes_allowed(device)) return;
    rooms += (rooms.empty() ? "" : ", and ") + readable(bytes_needed(device, problem), "B") + " where " +
             device.name() + " has " + readable(bytes_allowed(device), "B");
  }
  throw UsageError{problem.label() + " does not fit in memory: operands and a copy of them take " + rooms +
                   " (85 % of what is free)"};
}

/// `asked`: by the command line; else those that it asked for are left out.
void Suite::add_case_rows(Target& target, const std::vector<Case>& cases, bool asked) {
  Platform& platform = *target.platform;
  for (const Case& c : cases) {
    if (c.size != Size::any && (c.size == Size::gpu) != platform.own_memory) continue;
    if (options_->quick && !c.quick) continue;
    for (const Kind& kind : c.kinds) {
      const Problem problem = resolve(c, kind);
      if (!asked && asked_.contains(problem.label())) continue;
      if (bytes_needed(*platform.device, problem) >= bytes_allowed(*platform.device)) {
        if (wanted(problem.label() + "/cold/tessera:" + platform.backends.front()->name + ":"))
          recorder_->leave_out(problem.label(), "it does not fit in the memory of " + platform.device->name());
        continue;
      }
      add_problem_rows(target, problem, false);
      if (problem.footprint() <= 0.5 * double(platform.device->cache_bytes()) && !options_->quick)
        add_problem_rows(target, problem, true);
    }
  }
}

void Suite::add_problem_rows(Target& target, const Problem& problem, bool hot) {
  const std::string title = problem.label() + (hot ? "/hot/" : "/cold/");
  const auto contest = std::make_shared<Contest>(problem, hot);
  for (const Competitors* competitors : all_competitors(*target.platform))
    for (const auto& competitor : *competitors) {
      if (!wanted(title + competitor->name()) || !competitor->unsupported(problem).empty()) continue;
      add_row(
          title + competitor->name(),
          [this, &target, contest, number = contest->add(*competitor)](const Visit& visit) {
            run_row(visit, target, *contest, number);
          },
          target);
    }
}

void Suite::report(const Visit& visit, const Statistics& time, const Statistics& share) const {
  for (auto _ : visit.state) visit.state.SetIterationTime(time.median);
  add_times(visit.state.counters, time);
  if (time.passes.size() < 2) return;
  nlohmann::ordered_json medians;
  for (const double seconds : time.passes) medians["real_time"].push_back(seconds * 1e6);
  if (!share.passes.empty()) medians["ceiling"] = share.passes;
  recorder_->passes(visit.name, std::move(medians));
}

Fixture& Suite::fixture_for(const Platform& platform, const Problem& problem) {
  const std::string key = platform.name + "/" + problem.label();
  if (fixture_ == nullptr || key != fixture_key_) {
    fixture_.reset();  // before the next one takes its memory
    fixture_ = std::make_unique<Fixture>(*platform.device, problem, seed_);
    fixture_key_ = key;
  }
  return *fixture_;
}

void Suite::run_row(const Visit& visit, Target& target, Contest& contest, std::size_t competitor) {
  const Problem& problem = contest.problem();
  if (contest.wants(visit.pass)) {
    Budget budget;
    budget.seconds = options_->budget;
    budget.repetitions = options_->repetitions;
    budget.passes = passes(target);
    contest.run(visit.pass, fixture_for(*target.platform, problem),
                {budget, interrupted, target.ceilings, speeds_, target.plan_bytes});
  }
  benchmark::State& state = visit.state;
  const Outcome& outcome = contest.outcome(competitor);
  if (outcome.device_lost) target.lost = outcome.failure;
  if (!outcome.failure.empty()) return state.SkipWithError(outcome.failure.c_str());
  if (!outcome.left_out.empty()) return leave_out(state, outcome.left_out);
  const double seconds = outcome.time.median;
  report(visit, outcome.time, outcome.share);
  state.counters["rate"] = problem.work / seconds * 1e-9;
  state.counters["traffic"] = (problem.read_bytes + problem.write_bytes) / seconds * 1e-9;
  state.counters["ceiling"] = outcome.share.median;
  state.counters["ceiling_rate"] = outcome.floor.rate * 1e-9;
  state.counters["max_error"] = outcome.max_error;
  if (outcome.automatic) state.counters["automatic"] = 1.0;
  if (outcome.workspace) state.counters["workspace"] = double(*outcome.workspace);
  state.SetLabel(outcome.floor.binding);
}

/// A clock that was idle takes a while to settle, and would favour whoever comes last.
void Suite::warm_up(Target& target) {
  if (target.warm) return;
  target.warm = true;
  const double begin = now();
  double before = 0.0, rate = 0.0;
  do {
    before = rate;
    for (const double stop = now() + 0.25; now() < stop;)
      rate = target.platform->device->measure(Ceiling::fma, WideTypes::kDTypes[0], 0);
  } while (std::abs(rate - before) > 0.01 * rate && now() - begin < 2.0);
}

void Suite::progress(const Visit& visit, const Target& target) {
  if (started_ == 0) begin_ = now();
  const double elapsed = now() - begin_;
  const double left = started_ == 0 ? 0.0 : elapsed / double(started_) * double(visits_ - started_);
  ++started_;
  const auto clock = [](double s) {
    return std::to_string(int(s) / 60) + (int(s) % 60 < 10 ? ":0" : ":") + std::to_string(int(s) % 60);
  };
  const std::int64_t all = passes(target);
  const std::string pass =
      all == 1 ? "" : "pass " + std::to_string(visit.pass + 1) + " of " + std::to_string(all) + ", ";
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s[%zu/%zu] %s%s, about %s left  %s%s", terminal ? "\r\033[K" : "", started_, visits_,
               pass.c_str(), clock(elapsed).c_str(), clock(left).c_str(), visit.name.c_str(),
               terminal && started_ < visits_ ? "" : "\n");
}

}  // namespace tessera::perf
