// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-perf-offers: how good a backend's choice is, on random problems or the suite's cases. Every offer that could
/// be the best one is timed, and the choice, the cheapest by prediction, is compared with the fastest; so is what a
/// plan measures, and what the best of the peers takes. perf/fit/fit.py fits the models' coefficients to what it
/// writes: perf/fit/measured/README.md.
#include "cases.hpp"
#include "fixture.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "platform.hpp"
#include "random_problems.hpp"

#include <tessera/tessera.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tessera::perf {
namespace {

using Json = nlohmann::ordered_json;

struct FitOptions {
  std::string backend = "cpu", op = "gemm", json;
  std::vector<std::string> dtypes{"f32", "f64"};
  std::string activation;
  std::vector<std::string> cases;      ///< of the suite, or
  std::vector<std::string> described;  ///< by their own names, instead of random problems
  std::vector<std::string> ways;       ///< these alone
  std::int64_t problems = 100;
  std::uint64_t seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  double seconds = 600.0;        ///< for all
  double budget = 0.01;          ///< for one offer
  double slower = 3.0;           ///< offers predicted to take so many times as long as the cheapest are left out,
  bool every_algorithm = false;  ///< but for each algorithm's cheapest, where this is set
  bool measure = false;          ///< time a plan that measures as well
  bool peers = false;            ///< time the peers as well
  int threads = int(std::thread::hardware_concurrency());
  Bounds bounds;
};

struct Timed {
  Offer offer;
  double measured = 0.0;
};
/// The offers of a problem, and where it was asked for the plan that measured, with the seconds that it took.
struct TimedProblem {
  std::vector<Timed> offers;
  double measuring = 0.0, measured = 0.0;
  std::string algorithm;  ///< that it took
  struct Peer {
    std::string name;
    double seconds;
  };
  std::vector<Peer> peers;

  double best_offer() const {
    return std::min_element(offers.begin(), offers.end(),
                            [](const Timed& a, const Timed& b) { return a.measured < b.measured; })
        ->measured;
  }
  /// Of the plan that measured; of the same algorithm twice, the less disturbed.
  double own() const {
    double own = measured;
    for (const Timed& t : offers)
      if (t.offer.algorithm == algorithm) own = std::min(own, t.measured);
    return own;
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<Offer> offers_of(const Context& context, const Problem& problem, const PlanOptions& plan) {
  return problem.op == Op::gemm ? GemmPlan::offers(context, gemm_desc(problem), plan)
                                : StencilPlan::offers(context, stencil_desc(problem), plan);
}

/// The offers of the ways that --algorithm names, but of those that the backend refuses for this problem.
std::vector<Offer> named_offers(const Context& context, const Problem& problem, Memory memory,
                                const FitOptions& options) {
  std::vector<Offer> named;
  for (const std::string& way : options.ways) try {
      for (Offer& offer : offers_of(context, problem, {.operands = memory, .algorithm = way}))
        named.push_back(std::move(offer));
    } catch (const Error& refused) {
      std::printf("%s: %s\n", problem.name.c_str(), refused.what());
    }
  std::ranges::stable_sort(named, {}, &Offer::seconds);
  return named;
}

/// The offers that are worth a measurement, the cheapest first.
std::vector<Offer> candidates(const Context& context, const Problem& problem, Memory memory,
                              const FitOptions& options) {
  if (!options.ways.empty()) return named_offers(context, problem, memory, options);
  const std::vector<Offer> all = offers_of(context, problem, {.operands = memory});
  std::vector<Offer> chosen;
  std::set<std::string> seen;
  for (const Offer& offer : all) {
    const bool first = seen.insert(offer.algorithm.substr(0, offer.algorithm.find(':'))).second;
    if (offer.seconds <= options.slower * all.front().seconds || (first && options.every_algorithm))
      chosen.push_back(offer);
  }
  return chosen;
}

/// Median of the executions that a budget of seconds allows.
double time_one(Device& device, const Fixture& fixture, const Execute& execute, double budget) {
  const auto work = [&](std::int64_t i) { fixture.execute(execute, i, false); };
  device.time([&] { work(0); });  // the first one loads code and touches memory
  const double first = device.time([&] { work(1); });
  const auto clock = [&device](const auto& executions) { return device.time(executions); };
  Measurement measurement(clock, work, first, 0.0, Budget{.seconds = budget, .sample = 2e-4});
  while (measurement.wants_more(0)) measurement.sample(0, work, 0.0);
  return measurement.time().median;
}

/// The peers that take part in the problem, prepared.
void add_peers(const Platform& platform, const Problem& problem, std::vector<TimedProblem::Peer>& peers,
               std::vector<Execute>& plans) {
  for (const auto& peer : platform.peers) {
    if (!takes_part(*peer, problem)) continue;
    plans.push_back(peer->prepare(problem));
    peers.push_back({peer->name(), 0.0});
  }
}

TimedProblem time_offers(const Platform& platform, const Context& context, const Problem& problem,
                         const FitOptions& options) {
  const Memory memory = platform.own_memory ? Memory::device : Memory::host;
  const Fixture fixture(*platform.device, problem, options.seed);
  TimedProblem result;
  std::vector<Timed>& timed = result.offers;
  std::vector<Execute> plans;
  for (const Offer& offer : candidates(context, problem, memory, options)) {
    plans.push_back(prepare(context, problem, {.operands = memory, .algorithm = offer.algorithm}).execute);
    timed.push_back({offer});
  }
  if (options.measure) {
    wisdom::forget();
    const double start = now();
    plans.push_back(prepare(context, problem, {.operands = memory, .effort = Effort::measure}).execute);
    result.measuring = now() - start;
    result.algorithm = problem.op == Op::gemm  // by wisdom now
                           ? GemmPlan(context, gemm_desc(problem), {.operands = memory}).algorithm()
                           : StencilPlan(context, stencil_desc(problem), {.operands = memory}).algorithm();
  }
  std::vector<double*> times;
  for (Timed& t : timed) times.push_back(&t.measured);
  if (options.measure) times.push_back(&result.measured);
  if (options.peers) {
    add_peers(platform, problem, result.peers, plans);
    for (TimedProblem::Peer& peer : result.peers) times.push_back(&peer.seconds);
  }
  // In two rounds: what comes first finds clocks that have fallen while the operands were made.
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const double seconds = time_one(*platform.device, fixture, plans[i], options.budget / 2.0);
      *times[i] = round == 0 ? seconds : std::min(seconds, *times[i]);
    }
  return result;
}

/// Shares of the best offer, or of the best peer, problem by problem.
struct Shares {
  double log_sum = 0.0, worst = HUGE_VAL;
  std::int64_t count = 0;
  std::string worst_problem;

  void add(const std::string& problem, double share) {
    log_sum += std::log(share), ++count;
    if (share < worst) worst = share, worst_problem = problem;
  }
};

int parse(int argc, char** argv, FitOptions& o) {
  CLI::App app{"Times the offers of random problems, and says how good the choice among them is."};
  app.add_option("--backend", o.backend, "backend, with a device if need be")->capture_default_str();
  app.add_option("--op", o.op)->check(CLI::IsMember({"gemm", "stencil"}))->capture_default_str();
  app.add_option("--dtype", o.dtypes, "f32, f64, f16, bf16, of products also f16->f32, bf16->f32, bf16x6, f16x3, tf32")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--activation", o.activation, "of products: with a bias for each column and this (default: without)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kActivations), std::end(kActivations))));
  app.add_option("--case", o.cases, "the suite's cases that match gemm/<case>/<dtype> (globs) instead");
  app.add_option("--problem", o.described, "these, as tessera-perf's --gemm and --stencil describe them, instead");
  app.add_option("--algorithm", o.ways, "time the offers of these alone: name[:key=value,...], as plans take it");
  app.add_option("--problems", o.problems, "of each type")->capture_default_str();
  app.add_option("--seed", o.seed, "the same problems again (default: the clock)");
  app.add_option("--seconds", o.seconds, "no further problem after so long")->capture_default_str();
  app.add_option("--budget", o.budget, "seconds for an offer")->capture_default_str();
  app.add_option("--slower", o.slower, "leave out offers predicted to take so many times the cheapest's time")
      ->capture_default_str();
  app.add_flag("--every-algorithm", o.every_algorithm, "time each algorithm's cheapest offer, however slow");
  app.add_flag("--measure", o.measure, "time a plan that measures as well, and how long making it takes");
  app.add_flag("--peers", o.peers, "time the peers as well, and compare with the best of them");
  app.add_option("--threads", o.threads, "CPU threads")->capture_default_str();
  app.add_option("--max-flops", o.bounds.flops, "largest problem")->capture_default_str();
  app.add_option("--max-bytes", o.bounds.bytes, "largest problem's operands")->capture_default_str();
  app.add_option("--json", o.json, "file for the figures: a line for the machine, then one for each problem");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

/// Closed where no file is asked for.
std::ofstream open_json(const FitOptions& options, const Facts& facts) {
  std::ofstream json;
  if (options.json.empty()) return json;
  json.open(options.json);
  Json head{{"op", options.op}, {"backend", options.backend}, {"threads", options.threads}, {"seed", options.seed}};
  for (const auto& [key, value] : facts) head[key] = value;
  json << head.dump() << '\n';
  return json;
}

/// "multistage:tile_m=64,split=2" and its time as {"multistage:tile_m,split": [[64, 2, microseconds]]}.
void add_offer(Json& forms, const std::string& algorithm, double seconds) {
  std::string form = algorithm.substr(0, algorithm.find(':'));
  Json row = Json::array();
  for (std::size_t at = form.size(); at < algorithm.size();) {
    const std::size_t equals = algorithm.find('=', at), end = std::min(algorithm.find(',', equals), algorithm.size());
    form += algorithm.substr(at, equals - at);
    row.push_back(std::stoll(algorithm.substr(equals + 1, end - equals - 1)));
    at = end;
  }
  char microseconds[32];
  std::snprintf(microseconds, sizeof microseconds, "%.4g", 1e6 * seconds);
  row.push_back(Json::parse(microseconds));
  forms[form].push_back(row);
}

/// What the choices reached: by whom, and of what.
struct Judged {
  std::map<std::string, Shares> shares;
  double longest_measuring = 0.0;  ///< of problems below 1 ms

  /// Adds a problem, and returns its line of figures.
  Json add(const Problem& problem, const std::string& dtype, const TimedProblem& timed, bool measure) {
    const double best = timed.best_offer();
    Json forms = Json::object(), peers = Json::object();
    for (const Timed& t : timed.offers) add_offer(forms, t.offer.algorithm, t.measured);
    const auto note = [&](const char* what, double share) { shares[dtype + what].add(problem.name, share); };
    note(": the choice, of the best offer", best / timed.offers.front().measured);
    double peer = HUGE_VAL;
    for (const TimedProblem::Peer& p : timed.peers) peer = std::min(peer, p.seconds), peers[p.name] = p.seconds;
    if (!timed.peers.empty()) note(": the best offer, of the best peer", peer / best);
    Json line{dtype, problem.name, forms};
    if (!timed.peers.empty()) line.push_back({{"peers", peers}});
    if (!measure) return line;
    const double own = timed.own();
    note(": a plan that measures, of the best offer", std::min(best, own) / own);
    if (!timed.peers.empty()) note(": a plan that measures, of the best peer", peer / own);
    if (best < 1e-3) longest_measuring = std::max(longest_measuring, timed.measuring);
    line.push_back({{"algorithm", timed.algorithm}, {"seconds", timed.measured}, {"measuring", timed.measuring}});
    return line;
  }
  void print(const std::string& where) const {
    for (const auto& [what, s] : shares)
      std::printf("%s %s: %.3f (geometric mean), %.3f at worst (%s), %lld problems\n", where.c_str(), what.c_str(),
                  std::exp(s.log_sum / double(s.count)), s.worst, s.worst_problem.c_str(),
                  static_cast<long long>(s.count));
    if (longest_measuring > 0.0)
      std::printf("the longest measuring of a problem below 1 ms: %.1f ms\n", 1e3 * longest_measuring);
  }
};

struct Asked {
  Problem problem;
  std::string dtype;
};

/// The suite's cases that --case matches, layers among them. Throws std::invalid_argument where there is none.
std::vector<Asked> suite_problems(const FitOptions& options, bool device) {
  std::vector<Asked> problems;
  std::vector<Case> cases = options.op == "gemm" ? gemm_cases() : stencil_cases();
  if (options.op == "gemm") std::ranges::move(layer_cases(), std::back_inserter(cases));
  for (const Case& c : cases) {
    if (c.size == (device ? Size::host : Size::gpu)) continue;
    for (const Kind& kind : c.kinds) {
      Asked asked{resolve(c, kind), kind.name()};
      if (!matches_any(options.cases, asked.problem.label())) continue;
      if (asked.problem.name.starts_with("layers_")) asked.problem.name.erase(0, 7);  // what describes it
      problems.push_back(std::move(asked));
    }
  }
  if (problems.empty())
    throw std::invalid_argument("no case of the suite matches --case; tessera-perf --list names them");
  return problems;
}

/// Those that --problem describes. Throws std::invalid_argument where one is no problem.
std::vector<Asked> described_problems(const FitOptions& options) {
  std::vector<Asked> problems;
  for (const std::string& text : options.described) {
    const Case c = options.op == "gemm" ? gemm_case(text) : stencil_case(text);
    problems.push_back({resolve(c), c.kinds.front().name()});
  }
  return problems;
}

std::vector<Asked> random_problems(const FitOptions& options) {
  std::optional<tessera_activation> activation;
  if (!options.activation.empty())
    activation = required(activation_named(options.activation), "activation", options.activation);
  std::vector<Asked> problems;
  std::mt19937_64 random(options.seed);
  for (std::int64_t i = 0; i < options.problems; ++i)
    for (const std::string& dtype : options.dtypes) {
      const Kind kind = kinds_named(dtype).at(0);
      problems.push_back({options.op == "gemm" ? draw_gemm(random, kind, options.bounds, activation)
                                               : draw_stencil(random, kind, options.bounds),
                          dtype});
    }
  return problems;
}

int run(int argc, char** argv) {
  FitOptions options;
  if (const int code = parse(argc, argv, options); code >= 0) return code;
  for (const char* variable : {"TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM", "TESSERA_WISDOM"})
    unsetenv(variable);
  Facts facts = machine_facts();
  LeftOut left_out;
  Platforms platforms;
  open_backend(platforms, options.backend, options.threads, facts, left_out);
  const Platform& platform = *platforms.front();
  const Context& context = platform.backends.front()->context;

  std::ofstream json = open_json(options, facts);
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  const double end = now() + options.seconds;
  Judged judged;
  for (const auto& [problem, dtype] : !options.described.empty() ? described_problems(options)
                                      : !options.cases.empty()   ? suite_problems(options, platform.own_memory)
                                                                 : random_problems(options)) {
    if (now() > end) break;
    const TimedProblem timed = time_offers(platform, context, problem, options);
    if (timed.offers.empty()) continue;  // of no way that --algorithm names
    const Json line = judged.add(problem, dtype, timed, options.measure);
    if (json.is_open()) json << line.dump() << std::endl;
  }
  if (judged.shares.empty()) throw std::runtime_error("there was no offer to time: give more --seconds, or see above");
  judged.print(options.backend + " " + options.op);
  if (json.is_open() && !json.flush()) throw std::runtime_error("cannot write " + options.json);
  return 0;
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  try {
    return tessera::perf::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera-perf-offers: %s\n", error.what());
    return 1;
  }
}
