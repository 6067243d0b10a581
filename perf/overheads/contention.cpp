// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What others on the machine cost: calls alone, and beside as many busy processes as there are processors. A fair half
/// takes twice as long.

#include "suite.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

namespace tessera::perf {
namespace {

/// Runs, and the seconds that each repeats the call for; its mean counts.
constexpr int kRunsAlone = 10, kRunsBeside = 20;
constexpr double kSecondsAlone = 0.1, kSecondsBeside = 0.3;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Processes that do nothing but compute, while this lives.
class BusyProcesses {
 public:
  explicit BusyProcesses(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) compute();
      if (child > 0) children_.push_back(child);
    }
    if (children_.size() < count) throw std::runtime_error("no process could be started to be busy beside");
    usleep(300'000);  // until the scheduler has spread them
  }
  ~BusyProcesses() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  [[noreturn]] static void compute() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned number = 1;;) number = number * 1664525u + 1013904223u;
  }
  std::vector<pid_t> children_;
};

std::vector<double> means(int runs, double seconds, const std::function<void()>& call) {
  std::vector<double> found;
  call();
  for (int run = 0; run < runs; ++run) {
    const double begin = now();
    int calls = 0;
    do call();
    while (++calls, now() - begin < seconds);
    found.push_back((now() - begin) / calls);
  }
  return found;
}

Problem product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c;
  c.problem.name = "gemm_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  c.problem.gemm = {m, n, k, false, false, k, n, n, 1, m * k, k * n, m * n};
  return resolve(c, DType::f32);
}

Problem heat(std::int64_t rows, std::int64_t columns, std::int64_t steps) {
  Case c;
  c.problem.op = Op::stencil;
  c.problem.name = "stencil_" + std::to_string(rows) + "x" + std::to_string(columns) + "_steps" + std::to_string(steps);
  c.problem.stencil = {Pattern::star, 2, 4, {1, rows, columns}, false, steps};
  return resolve(c, DType::f32);
}

/// The showcase's problems.
std::vector<Problem> problems() {
  return {product(1024, 1024, 64), product(64, 64, 1024), product(96, 96, 96), product(1024, 1024, 1024),
          heat(344, 403, 200)};
}

/// Of a call: the mean of each run, those beside others in order.
struct ContentionTimes {
  std::vector<double> alone, beside;
};

ContentionTimes contention_times(Fixture& fixture, const Execute& execute) {
  double first = 0.0;
  const Verdict verdict = fixture.check(execute, first);
  if (!verdict.failure.empty()) throw std::runtime_error(verdict.failure);
  ContentionTimes times;
  const auto call = [&] { fixture.execute(execute, 0, true); };
  times.alone = means(kRunsAlone, kSecondsAlone, call);
  const BusyProcesses busy(std::max(1u, std::thread::hardware_concurrency()));
  times.beside = means(kRunsBeside, kSecondsBeside, call);
  std::sort(times.beside.begin(), times.beside.end());
  return times;
}

}  // namespace

/// Each subject is measured once, for three rows: alone, beside, and the slowest but one of the runs beside.
void Suite::add_contention_row(Target& target, const Problem& problem, const std::string& subject,
                               std::function<Execute(const Problem&)> prepare) {
  const auto times = std::make_shared<std::optional<ContentionTimes>>();
  const auto add = [&](const std::string& state, auto samples) {
    add_row(
        "overhead/" + problem.name + "_" + state + "/f32/hot/" + subject,
        [this, &target, problem, prepare, times, samples](const Visit& visit) {
          if (!*times) {
            Fixture& fixture = fixture_for(*target.platform, problem);
            if (!fixture.has_reference()) fixture.chain(prepare(problem.part()));
            *times = contention_times(fixture, prepare(problem));
          }
          report(visit, condense({samples(**times)}, 1));
        },
        target);
  };
  add("alone", [](const ContentionTimes& t) { return t.alone; });
  add("beside", [](const ContentionTimes& t) { return t.beside; });
  add("beside_19_of_20", [](const ContentionTimes& t) { return std::vector{t.beside[t.beside.size() * 19 / 20 - 1]}; });
}

void Suite::add_contention_rows(Target& target) {
  Platform& platform = *target.platform;
  if (platform.own_memory || options_->quick) return;
  for (const Problem& problem : problems()) {
    for (const auto& backend : platform.backends) {
      const auto with_threads = [name = backend->name](int threads) {
        return [=](const Problem& p) {
          ContextOptions options;
          options.threads = threads;
          return perf::prepare(Context(name, options), p, {});
        };
      };
      add_contention_row(target, problem, "tessera:" + backend->name + ":automatic", with_threads(platform.threads));
      add_contention_row(target, problem, "tessera:" + backend->name + ":one_thread", with_threads(1));
    }
    for (const auto& peer : platform.peers)
      if (peer->unsupported(problem).empty())
        add_contention_row(target, problem, peer->name(), [&peer](const Problem& p) { return peer->prepare(p); });
  }
}

}  // namespace tessera::perf
