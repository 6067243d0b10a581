// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What others on the machine cost: calls alone, and beside as many busy processes as there are processors. A fair half
/// takes twice as long.

#include "cholesky.hpp"
#include "suite.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::perf {
namespace {

/// Runs, and the seconds that each repeats the call for; its mean counts.
constexpr int kRunsAlone = 10, kRunsBeside = 20;
constexpr double kSecondsAlone = 0.1, kSecondsBeside = 0.3;
/// Seconds after which no more runs begin, and runs that there are in any case: a peer may need minutes for 20.
constexpr double kMostSeconds = 60.0;
constexpr std::size_t kLeastRuns = 3;

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

/// A sample is the mean of the calls that begin within some seconds.
std::vector<double> means(int runs, double seconds, const std::function<void()>& call) {
  const double first = steady_seconds();
  call();
  Sampler sampler(
      [&] {
        const double begin = steady_seconds();
        int calls = 0;
        do call();
        while (++calls, steady_seconds() - begin < seconds);
        return (steady_seconds() - begin) / calls;
      },
      runs);
  contest({&sampler}, 0,
          [&] { return sampler.samples.size() < kLeastRuns || steady_seconds() - first < kMostSeconds; });
  return sampler.samples;
}

/// The showcase's problems, under the names of the rows.
std::vector<Problem> problems() {
  std::vector<Case> cases;
  for (const std::string size : {"1024x1024x64", "64x64x1024", "96x96x96", "1024x1024x1024"}) {
    cases.push_back(gemm_case(size));
    cases.back().problem.name = "gemm_" + size;
  }
  cases.push_back(stencil_case("2d_star_r4_344x403_steps200"));
  cases.back().problem.name = "stencil_344x403_steps200";
  std::vector<Problem> resolved;
  for (const Case& c : cases) resolved.push_back(resolve(c));
  return resolved;
}

/// Of a call: the mean of each run, those beside others in order.
struct ContentionTimes {
  std::vector<double> alone, beside;
};

ContentionTimes contention_times(const std::function<void()>& call) {
  ContentionTimes times;
  times.alone = means(kRunsAlone, kSecondsAlone, call);
  const BusyProcesses busy(std::max(1u, std::thread::hardware_concurrency()));
  times.beside = means(kRunsBeside, kSecondsBeside, call);
  std::sort(times.beside.begin(), times.beside.end());
  return times;
}

using Prepare = std::function<Execute(const Problem&)>;

/// A call that has been found right, on the first operands of a fixture, which must live as long.
std::function<void()> checked(Fixture& fixture, const Problem& problem, const Prepare& prepare) {
  if (!fixture.has_reference()) fixture.chain(prepare(problem.part()));
  const Execute execute = prepare(problem);
  double first = 0.0;
  const Verdict verdict = fixture.check(execute, first);
  if (!verdict.failure.empty()) throw std::runtime_error(verdict.failure);
  return [&fixture, execute] { fixture.execute(execute, 0, true); };
}

std::function<void()> checked_cholesky(const Prepare& prepare, std::uint64_t seed) {
  const auto cholesky = std::make_shared<BlockedCholesky>(prepare, seed);
  cholesky->factorize();
  if (const std::string failure = cholesky->failure(); !failure.empty()) throw std::runtime_error(failure);
  return [cholesky] { cholesky->factorize(); };
}

/// Those of Tessera and the peers who take the problem, by name.
std::vector<std::pair<std::string, Prepare>> contenders(const Platform& platform, const Problem& problem) {
  const auto ours = [](const std::string& backend, int threads) -> Prepare {
    return [=, context = std::shared_ptr<Context>()](const Problem& p) mutable {
      ContextOptions options;
      options.threads = threads;
      if (!context) context = std::make_shared<Context>(backend, options);
      return perf::prepare(*context, p, {}).execute;
    };
  };
  std::vector<std::pair<std::string, Prepare>> found;
  for (const auto& backend : platform.backends) {
    found.emplace_back("tessera:" + backend->name + ":automatic", ours(backend->name, platform.threads));
    found.emplace_back("tessera:" + backend->name + ":one_thread", ours(backend->name, 1));
  }
  for (const auto& peer : platform.peers)
    if (peer->unsupported(problem).empty())
      found.emplace_back(peer->name(), [&peer = *peer](const Problem& p) { return peer.prepare(p); });
  return found;
}

const std::string kCholesky =
    "cholesky_" + std::to_string(BlockedCholesky::kSize) + "_products" + std::to_string(BlockedCholesky::kProducts);

}  // namespace

/// Each subject is measured once, for three rows: alone, beside, and the slowest but one of the runs beside. `make`
/// makes what it calls.
void Suite::add_contention(Target& target, const std::string& title, const std::string& subject,
                           std::function<std::function<void()>()> make) {
  std::vector<std::string> names;
  for (const char* state : {"alone", "beside", "beside_19_of_20"})
    names.push_back("overhead/" + title + "_" + state + "/f32/hot/" + subject);
  std::erase_if(names, [this](const std::string& name) { return !wanted(name); });
  if (names.empty()) return;
  units_.push_back({&target, names, [this, names, make, &target](std::int64_t pass) {
                      if (pass > 0) return;
                      const ContentionTimes times = contention_times(make());
                      const double slow = times.beside[times.beside.size() * 19 / 20 - 1];
                      for (const std::string& name : names) {
                        const auto samples = name.find("_alone/") != std::string::npos    ? times.alone
                                             : name.find("_beside/") != std::string::npos ? times.beside
                                                                                          : std::vector{slow};
                        recorder_->add({name, target.platform->name, condense({samples}, 1), {}, {}, "", ""});
                      }
                    }});
}

void Suite::add_contention(Target& target) {
  Platform& platform = *target.platform;
  if (platform.own_memory || options_->quick) return;
  for (const Problem& problem : problems())
    for (const auto& [subject, prepare] : contenders(platform, problem))
      add_contention(target, problem.name, subject, [this, &platform, problem, prepare = prepare] {
        return checked(fixture_for(platform, problem), problem, prepare);
      });
  for (const auto& [subject, prepare] : contenders(platform, problems().front()))
    add_contention(target, kCholesky, subject, [this, prepare = prepare] { return checked_cholesky(prepare, seed_); });
}

}  // namespace tessera::perf
