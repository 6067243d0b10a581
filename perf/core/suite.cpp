// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "suite.hpp"

#include "random_problems.hpp"
#include "readable.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::perf {

std::atomic<bool> Suite::interrupted{false};

Suite::Suite(const Options& options, Platforms& platforms, Recorder& recorder)
    : options_(&options), recorder_(&recorder), seed_(std::random_device{}()) {
  for (const auto& platform : platforms)
    targets_.push_back(std::make_unique<Target>(
        Target{platform.get(), Ceilings(*platform), double(platform->device->free_bytes()) / 8.0, ""}));
  for (const Case& c : options.asked) asked_.insert(resolve(c).label());
}

bool Suite::wanted(const std::string& name) const {
  const std::string without_subject = name.substr(0, name.rfind('/')), subject = name.substr(name.rfind('/') + 1);
  const bool asked = asked_.contains(without_subject.substr(0, without_subject.rfind('/')));
  if (!asked && options_->cases.empty() && !asked_.empty()) return false;
  if (!asked && !matches_any(options_->cases, without_subject) && !matches_any(options_->cases, name)) return false;
  if (subject.starts_with("peer:")) return options_->peers;
  if (subject.starts_with("tessera:") && !options_->algorithms.empty())
    return matches_any(options_->algorithms, subject.substr(subject.rfind(':') + 1));
  return true;
}

std::int64_t Suite::passes(const Target& target) const {
  const std::int64_t usual = !target.platform->device->interleave() ? 1 : options_->quick ? 3 : 5;
  const std::int64_t asked = options_->passes > 0 ? options_->passes : usual;
  return options_->repetitions > 0 ? std::min(asked, options_->repetitions) : asked;
}

std::vector<std::string> Suite::names() const {
  std::vector<std::string> names;
  for (const Unit& unit : units_) names.insert(names.end(), unit.names.begin(), unit.names.end());
  return names;
}

void Suite::run() {
  std::int64_t most = 0;
  for (const auto& target : targets_) most = std::max(most, passes(*target));
  for (const Unit& unit : units_) visits_ += std::size_t(passes(*unit.target));
  for (std::int64_t pass = 0; pass < most && !interrupted; ++pass)
    for (const Unit& unit : units_)
      if (pass < passes(*unit.target) && !interrupted) visit(unit, pass);
  if (interrupted)
    for (const std::string& name : names()) recorder_->leave_out(name, "the run was interrupted");
}

void Suite::visit(const Unit& unit, std::int64_t pass) {
  Target& target = *unit.target;
  const auto fail = [&](const std::string& reason) {
    for (const std::string& name : unit.names) recorder_->fail(name, target.platform->name, reason);
  };
  if (!target.lost.empty()) return fail("the device is lost since: " + target.lost);
  progress(unit, pass);
  try {
    warm_up(target);
    return unit.visit(pass);
  } catch (const tessera::Error& error) {
    if (error.code() == ErrorCode::device_error) target.lost = error.what();
    if (error.code() == ErrorCode::unsupported)
      for (const std::string& name : unit.names) recorder_->leave_out(name, error.what());
    else
      fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
  fixture_.reset();
}

void Suite::add_rows() {
  for (const Case& c : options_->asked) require_memory(resolve(c));
  std::vector<std::vector<Case>> all_cases{gemm_cases(), stencil_cases(), system_cases()};
  if (is_named(*options_, "layers")) all_cases.push_back(layer_cases());
  if (is_named(*options_, "random"))
    for (const bool aligned : {true, false})
      all_cases.push_back(random_cases(aligned, options_->seed, options_->count));
  for (const auto& target : targets_) {
    add_ceilings(*target);
    add_cases(*target, options_->asked, true);
    for (const auto& cases : all_cases) add_cases(*target, cases, false);
    add_overheads(*target);
    add_contention(*target);
  }
  const std::vector<std::string> all = names();
  const auto ours = [](const std::string& name) { return name.find("/tessera:") != std::string::npos; };
  if (all.empty() || (!options_->algorithms.empty() && std::none_of(all.begin(), all.end(), ours)))
    throw UsageError{"no backend, algorithm and case match what was asked for; --list without it prints all"};
}

void Suite::add_sampled(Target& target, const std::vector<std::string>& names, std::int64_t samples,
                        std::function<std::vector<Sampled>()> make) {
  if (std::none_of(names.begin(), names.end(), [this](const std::string& name) { return wanted(name); })) return;
  const auto visit = [=, this, &target, by_name = std::map<std::string, Passes>()](std::int64_t pass) mutable {
    std::vector<Sampled> sampled = make();
    std::vector<Sampler> samplers;
    for (const Sampled& one : sampled) samplers.emplace_back(one.seconds, one.failure.empty() ? samples : 0);
    std::vector<Contestant*> contestants;
    for (Sampler& sampler : samplers) contestants.push_back(&sampler);
    contest(contestants, pass);
    for (std::size_t i = 0; i < sampled.size(); ++i) {
      Row row{sampled[i].name, target.platform->name, {}, {}, {}, "", sampled[i].failure};
      Passes& all = by_name[row.name];
      all.push_back(samplers[i].samples);
      row.time = condense(all, 1);
      if (row.failure.empty() && sampled[i].complete) sampled[i].complete(row);
      recorder_->add(std::move(row));
    }
  };
  units_.push_back({&target, names, visit});
}

void Suite::add_ceilings(Target& target) {
  Device& device = *target.platform->device;
  for (const DType dtype : kDTypes)
    for (const Ceiling ceiling : device.ceilings(dtype)) {
      const bool memory = ceiling >= Ceiling::copy;
      if (memory && dtype != WideTypes::kDTypes[0]) continue;  // bytes are bytes
      const std::string name = std::string("ceiling/") + name_of(ceiling) + "/" + tessera::name_of(dtype) +
                               (memory ? "/cold" : "/hot") + "/ceiling:" + target.platform->name;
      const auto seconds = [&device, ceiling, dtype] { return 1.0 / device.measure(ceiling, dtype, 0); };
      const auto complete = [memory](Row& row) {
        row.figures["rate"] = 1e-9 / row.time.median;
        row.label = memory ? "GB/s" : "GFLOP/s";
      };
      add_sampled(target, {name}, 3, [=, &device]() -> std::vector<Sampled> {
        if (device.measure(ceiling, dtype, 0) > 0.0) return {{name, seconds, complete}};
        throw tessera::Error(ErrorCode::unsupported, "this device has none");
      });
    }
}

namespace {

/// Bytes that measuring the problem takes, and those that it may take.
double bytes_needed(const Device& device, const Problem& problem) {
  return Fixture::bytes(device, problem) + problem.footprint();
}
double bytes_allowed(const Device& device) { return 0.85 * double(device.free_bytes()); }

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

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
void Suite::add_cases(Target& target, const std::vector<Case>& cases, bool asked) {
  Platform& platform = *target.platform;
  for (const Case& c : cases) {
    if (c.size != Size::any && (c.size == Size::gpu) != platform.own_memory) continue;
    if (options_->quick && !c.quick) continue;
    for (const Kind& kind : c.kinds) {
      const Problem problem = resolve(c, kind);
      if (!asked && !is_one_of(options_->dtypes, kind.name())) continue;
      if (!asked && asked_.contains(problem.label())) continue;
      if (bytes_needed(*platform.device, problem) >= bytes_allowed(*platform.device)) {
        if (wanted(problem.label() + "/cold/tessera:" + platform.backends.front()->name + ":"))
          recorder_->leave_out(problem.label(), "it does not fit in the memory of " + platform.device->name());
        continue;
      }
      add_problem(target, problem, false);
      if (problem.footprint() <= 0.5 * double(platform.device->cache_bytes()) && !options_->quick)
        add_problem(target, problem, true);
    }
  }
}

void Suite::add_problem(Target& target, const Problem& problem, bool hot) {
  const std::string title = problem.label() + (hot ? "/hot/" : "/cold/");
  const auto contest = std::make_shared<Contest>(problem, hot);
  std::vector<std::string> names;
  for (Competitor* const competitor : all_competitors(*target.platform)) {
    const std::string name = title + competitor->name();
    if (!wanted(name) || !takes_part(*competitor, problem)) continue;
    contest->add(*competitor);
    names.push_back(name);
  }
  if (!names.empty())
    units_.push_back({&target, names, [this, &target, contest, names](std::int64_t pass) {
                        run_contest(target, *contest, names, pass);
                      }});
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

namespace {

/// Problems for which one would expect the same backend and algorithm.
std::string family_of(const Problem& problem) {
  if (problem.op == Op::gemm) {
    const GemmShape& g = problem.gemm;
    if (g.batch > 1) return "batches of products";
    if (g.has_epilogue()) return "products with a bias";
    if (g.trans_a || g.trans_b || g.ldc > g.n) return "transposed or padded products";
    if (g.m != g.n || g.n != g.k) return "rectangular products";
    return g.m <= 128 ? "square products up to 128" : "square products above 128";
  }
  const StencilShape& s = problem.stencil;
  const Pattern pattern = s.pattern == Pattern::derivative ? Pattern::star : s.pattern;
  const std::string of = problem.op == Op::system ? std::string("system, ") + kModels[std::size_t(problem.system.model)]
                                                  : std::to_string(s.rank) + "D " + kPatterns[int(pattern)];
  return of + (problem.steps() > 1 ? ", many steps" : ", one sweep");
}

}  // namespace

void Suite::run_contest(Target& target, Contest& contest, const std::vector<std::string>& names, std::int64_t pass) {
  const Problem& problem = contest.problem();
  if (!contest.wants(pass)) return;
  Budget budget;
  budget.seconds = options_->budget;
  budget.repetitions = options_->repetitions;
  budget.passes = passes(target);
  contest.run(pass, fixture_for(*target.platform, problem),
              {budget, interrupted, target.ceilings, speeds_, target.plan_bytes});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Outcome& outcome = contest.outcome(i);
    if (outcome.device_lost) target.lost = outcome.failure;
    if (outcome.failure.empty() && !outcome.left_out.empty()) {
      recorder_->leave_out(names[i], outcome.left_out);
      continue;
    }
    Row row{names[i], target.platform->name, outcome.time, outcome.share, {}, outcome.floor.binding, outcome.failure};
    row.figures = {{"rate", problem.work / outcome.time.median * 1e-9},
                   {"traffic", (problem.read_bytes + problem.write_bytes) / outcome.time.median * 1e-9},
                   {"ceiling", outcome.share.median},
                   {"ceiling_rate", outcome.floor.rate * 1e-9},
                   {"max_error", outcome.accuracy.error}};
    if (problem.op == Op::gemm)
      row.figures.insert({{"ulps", outcome.accuracy.ulps}, {"misrounded", outcome.accuracy.misrounded}});
    if (outcome.in_parts) row.figures["in_parts"] = 1.0;
    if (outcome.automatic) row.figures["automatic"] = 1.0;
    if (outcome.workspace) row.figures["workspace"] = double(*outcome.workspace);
    if (!row.failure.empty()) row.figures.clear();
    row.family = family_of(problem);
    recorder_->add(std::move(row));
  }
}

/// A clock that was idle takes a while to settle, and would favour whoever comes last. Short runs wait less.
void Suite::warm_up(Target& target) {
  if (target.warm) return;
  target.warm = true;
  const double begin = steady_seconds(), most = std::min(2.0, 20.0 * options_->budget);
  double before = 0.0, rate = 0.0;
  do {
    before = rate;
    for (const double stop = steady_seconds() + most / 8.0; steady_seconds() < stop;)
      rate = target.platform->device->measure(Ceiling::fma, WideTypes::kDTypes[0], 0);
  } while (std::abs(rate - before) > 0.01 * rate && steady_seconds() - begin < most);
}

void Suite::progress(const Unit& unit, std::int64_t pass) {
  if (started_ == 0) begin_ = steady_seconds();
  const double elapsed = steady_seconds() - begin_;
  const double left = started_ == 0 ? 0.0 : elapsed / double(started_) * double(visits_ - started_);
  ++started_;
  const auto clock = [](double s) {
    return std::to_string(int(s) / 60) + (int(s) % 60 < 10 ? ":0" : ":") + std::to_string(int(s) % 60);
  };
  const std::int64_t all = passes(*unit.target);
  const std::string of_pass = all == 1 ? "" : "pass " + std::to_string(pass + 1) + " of " + std::to_string(all) + ", ";
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s[%zu/%zu] %s%s, about %s left  %s%s", terminal ? "\r\033[K" : "", started_, visits_,
               of_pass.c_str(), clock(elapsed).c_str(), clock(left).c_str(),
               unit.names.front().substr(0, unit.names.front().rfind('/')).c_str(),
               terminal && started_ < visits_ ? "" : "\n");
}

}  // namespace tessera::perf
