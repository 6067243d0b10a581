// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Many threads at once: each makes, borrows and destroys contexts, plans and buffers, executes small problems, and
/// compares every result bit by bit with what one thread alone computed before. Exit code 1: a wrong result or an
/// error; 4: the backend is not available.

#include "problems.hpp"
#include "required.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

using namespace tessera::test;

constexpr int kSkipped = 4;

struct Settings {
  std::string backend = "cpu";
  int threads = 32;
  double seconds = 5.0;
  unsigned seed = std::random_device{}();
};

Settings parse(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = arguments[i], value = arguments[i + 1];
    if (option == "--backend")
      settings.backend = value;
    else if (option == "--threads")
      settings.threads = std::stoi(value);
    else if (option == "--seconds")
      settings.seconds = std::stod(value);
    else if (option == "--seed")
      settings.seed = unsigned(std::stoul(value));
    else
      throw std::runtime_error("no option " + option + "; there are --backend, --threads, --seconds and --seed");
  }
  if (count % 2 == 0) throw std::runtime_error(std::string("a value is missing after ") + arguments[count - 1]);
  return settings;
}

/// What all threads share.
struct Stress {
  Settings settings;
  std::vector<Problem> problems;
  std::vector<tessera::Context> contexts;  ///< used by several threads at a time
  std::chrono::steady_clock::time_point end;
  std::atomic<std::int64_t> executions{0}, wrong{0}, errors{0};
  std::mutex mutex;  ///< of the output

  void tell(const std::string& text) {
    const std::lock_guard lock(mutex);
    std::cout << text << std::endl;
  }
};

/// One thread: a few plans that live for a while, its own or the plan cache's, on contexts of its own or of all. Where
/// the time is over before the plan cache could lend anything twice, it goes on until then, some rounds at most.
class Worker {
 public:
  Worker(Stress& stress, int rank) : stress_(stress), random_(stress.settings.seed + 1000u * unsigned(rank + 1)) {}

  void run() {
    std::vector<Trial> kept(4);
    const auto cache_is_idle = [] { return tessera::plan_cache::info().found == 0; };
    for (int round = 0; std::chrono::steady_clock::now() < stress_.end || (round < 100 && cache_is_idle()); ++round) {
      Trial& trial = kept[pick(random_, kept.size())];
      if (!trial || pick(random_, 4) == 0) renew(trial);
      for (std::size_t times = 1 + pick(random_, 4); times > 0; --times) execute(trial);
    }
  }

 private:
  void renew(Trial& trial) {
    const Plans plans = pick(random_, 2) == 0 ? Plans::own : Plans::borrowed;
    const bool shared = pick(random_, 2) == 0;
    // Few of them where the cache is to have what somebody has given back.
    const std::size_t choice = plans == Plans::borrowed && shared ? 8 : stress_.problems.size();
    const Problem& problem = stress_.problems[pick(random_, choice)];
    if (!shared) {
      tessera::Context own = make_context(stress_.settings.backend);
      trial = problem.make(own, plans);  // which keeps the context alive
    } else {
      trial = problem.make(stress_.contexts[pick(random_, stress_.contexts.size())], plans);
    }
    disturb_cache();
  }

  /// Plans go while others are lent.
  void disturb_cache() {
    if (pick(random_, 200) == 0) tessera::plan_cache::clear();
    if (pick(random_, 400) == 0) tessera::plan_cache::limit(pick(random_, 40), pick(random_, 1 << 20));
    if (pick(random_, 50) == 0) tessera::plan_cache::limit(1024, 256 << 20);
  }

  void execute(Trial& trial) {
    ++stress_.executions;
    if (trial.run()) return;
    if (++stress_.wrong <= 10) stress_.tell("wrong result: " + trial.name());
  }

  Stress& stress_;
  std::mt19937 random_;
};

void guarded(Stress& stress, int rank) {
  try {
    Worker(stress, rank).run();
  } catch (const std::exception& e) {
    ++stress.errors;
    stress.tell(std::string("error: ") + e.what());
  }
}

int run(const Settings& settings) {
  for (const tessera::BackendInfo& info : tessera::backends())
    if (info.name == settings.backend && !info.available && !is_required(info.name)) {
      std::cout << info.name << " is not available: " << info.reason << "\n";
      return kSkipped;
    }
  std::cout << "seed " << settings.seed << std::endl;
  Stress stress;
  stress.settings = settings;
  stress.problems = make_problems(settings.backend, settings.seed);
  for (int i = 0; i < 3; ++i) stress.contexts.push_back(make_context(settings.backend));
  stress.end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                      std::chrono::duration<double>(settings.seconds));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < settings.threads; ++rank) threads.emplace_back(guarded, std::ref(stress), rank);
  for (std::thread& thread : threads) thread.join();
  const tessera::plan_cache::Info cache = tessera::plan_cache::info();
  std::cout << "plan cache: " << cache.found << " plans were there, " << cache.made << " were made\n";
  std::cout << settings.backend << ": " << settings.threads << " threads, " << stress.problems.size() << " problems, "
            << stress.executions << " executions, " << stress.wrong << " wrong, " << stress.errors << " errors\n";
  if (cache.found == 0 || cache.lent != 0) {
    std::cout << "FAILED: the plan cache lent nothing twice, or " << cache.lent << " plans never came back\n";
    return 1;
  }
  return stress.executions > 0 && stress.wrong == 0 && stress.errors == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(parse(count, arguments));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
