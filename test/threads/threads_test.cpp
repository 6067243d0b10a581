// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Threads that cannot be had, are too many, or are lost in a fork. One scenario a process, since OpenMP keeps what it
/// has: threads_test SCENARIO BACKEND ends with 0 where all is well, 4 where the backend is not available.

#include "child.hpp"
#include "required.hpp"
#include "thread_creation.hpp"
#include "work.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include <sched.h>
#include <sys/resource.h>

namespace {

using namespace tessera::test;
using tessera::Context;
using tessera::ContextOptions;

constexpr int kSkipped = 4;

int threads_alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return int(std::distance(begin(tasks), end(tasks)));
}

/// A limit of 2^63 bytes and more, which is none.
void endless_workspace(const std::string& backend) {
  for (const int threads : {1, 2}) {
    const Context context = context_of({.backend = backend, .threads = threads});
    const Jobs bounded = jobs_of(context, {.backend = backend, .workspace_limit = std::uint64_t{1} << 40});
    const std::vector<std::uint64_t> hashes = results(bounded);
    for (const std::uint64_t limit : {std::uint64_t{1} << 63, UINT64_MAX})
      require_same(jobs_of(context, {.backend = backend, .workspace_limit = limit}), hashes,
                   "with " + std::to_string(limit) + " bytes of workspace");
  }
}

/// More threads than a plan may have, of the context and of OpenMP (which the test's environment gives).
void many_threads(const std::string& backend) {
  for (const int threads : {0, 100000}) {
    const Context context = context_of({.backend = backend, .threads = threads});
    for (const auto& job : jobs_of(context, {.backend = backend, .large = true})) job->run();
  }
}

void require_fork_named(const std::string& what, const std::function<void()>& body) {
  try {
    body();
  } catch (const tessera::Error& error) {
    const std::string text = error.what();
    require(error.code() == tessera::ErrorCode::unsupported && text.find("forked") != std::string::npos,
            what + ": " + text);
    return;
  }
  throw std::runtime_error(what + " in a forked child is no error");
}

/// All of a child's objects come from its parent, or are its own; they are destroyed there, too.
void forked(const std::string& backend) {
  const Workload workload{.backend = backend};
  const bool kokkos = backend.starts_with("kokkos");
  std::optional<Context> context = context_of(workload);
  Jobs jobs = jobs_of(*context, workload);
  const std::vector<std::uint64_t> hashes = results(jobs);
  require(threads_alive() > 1, "there is no team that a fork could lose");
  const auto use = [&] {
    if (kokkos) {
      for (const auto& job : jobs) require_fork_named(job->name, [&] { job->run(); });
      require_fork_named("a plan", [&] { jobs_of(*context, workload); });
      require_fork_named("a context", [&] { context_of(workload); });
    } else {
      require_same(jobs, hashes, "the parent's plans");
      require_same(jobs_of(*context, workload), hashes, "the child's plans");
      require_same(jobs_of(context_of(workload), workload), hashes, "the child's plans of its own context");
      std::thread([&] { require_same(jobs, hashes, "another thread of the child"); }).join();
      require(threads_alive() == 1, "a parallel region in a forked child");
    }
    std::vector<float> values(std::size_t{1} << 22, 1.0F);
    tessera::Buffer<float> buffer(*context, std::int64_t(values.size()));
    buffer.upload(values);
  };
  in_child("a child", use);
  in_child("a child of a child", [&] { in_child("inner", use); });
  in_child("a child that destroys", [&] { jobs.clear(), context.reset(); });
  std::thread([&] { in_child("a child of another thread", use); }).join();
  require_same(jobs, hashes, "the parent after its forks");
}

/// A child of a process that has started no thread has all it needs. A device's driver may have started some.
void forked_before(const std::string& backend) {
  const Workload workload{.backend = backend};
  Hashes hashes;
  tessera::backends();
  const bool alone = threads_alive() == 1;
  for (int i = 0; i < 2; ++i)
    in_child("a child", [&] {
      if (!alone && backend.starts_with("kokkos"))
        return require_fork_named("a context", [&] { context_of(workload); });
      hashes.keep(results(workload));
      require((threads_alive() > 1) == alone, alone ? "the child has no team" : "a team where a fork lost threads");
    });
  if (hashes.get().empty()) return;
  require_same(jobs_of(context_of(workload), workload), hashes.get(), "the parent");
}

/// Threads that cannot be created: fewer do the same, with the same bits.
void few_threads(const std::string& backend) {
  const Workload workload{.backend = backend, .threads = 6};
  Hashes hashes;
  in_child("unlimited", [&] { hashes.keep(results(workload)); });
  const auto try_with = [&](const std::string& what, const ThreadLimits& limits) {
    in_child(what, [&] {
      tessera::backends();
      limit_threads(limits);
      const Context context = context_of(workload);
      const Jobs jobs = jobs_of(context, workload);
      require_same(jobs, hashes.get(), what);
      require(threads_refused() > 0, "no thread was refused");
    });
  };
  for (int alive = 0; alive < 5; ++alive) try_with(std::to_string(alive) + " threads can live", {.alive = alive});
  for (int call = 1; call <= 5; ++call) {
    try_with("call " + std::to_string(call) + " fails", {.first_failing = call, .failing = 1});
    try_with("calls from " + std::to_string(call) + " on fail", {.first_failing = call});
  }
}

/// Leaves so many more bytes of address space to this process.
void leave_room(std::uint64_t bytes) {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  require(bool(statm >> pages), "/proc/self/statm cannot be read");
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * std::uint64_t(sysconf(_SC_PAGE_SIZE)) + bytes;
  require(setrlimit(RLIMIT_AS, &limit) == 0, "the address space cannot be limited");
}

/// Room for the stacks of some threads, not of all. OpenMP's have the size that the environment says.
void few_stacks(const std::string& backend) {
  const Workload workload{.backend = backend, .threads = 6};
  Hashes hashes;
  in_child("unlimited", [&] { hashes.keep(results(workload)); });
  constexpr std::uint64_t kStack = std::uint64_t{64} << 20;
  for (const char* size : {"64M", "65536", " 65536 k", "67108864B"})
    for (const int stacks : {1, 3})
      in_child(std::to_string(stacks) + " stacks of " + size, [&] {
        setenv("OMP_STACKSIZE", size, 1);
        const Context context = context_of(workload);
        const Jobs jobs = jobs_of(context, workload);
        const int others = threads_alive();  // a device's driver has some
        leave_room(kStack * std::uint64_t(stacks) + kStack / 2);
        require_same(jobs, hashes.get(), "with little room");
        require(threads_alive() == others + stacks / 2, std::to_string(threads_alive()) + " threads, " +
                                                            std::to_string(others) +
                                                            " before: not half of those that have room");
      });
}

/// In a fresh child with these settings so many threads are there after a large product.
void require_threads(const std::string& backend, const std::map<std::string, std::string>& environment, int of_context,
                     bool automatic, std::size_t expected) {
  std::string what = "threads of the context " + std::to_string(of_context) + (automatic ? ", automatic" : "");
  for (const auto& [name, value] : environment) what += ", " + name + "=" + value;
  in_child(what, [&] {
    for (const char* name : {"TESSERA_NUM_THREADS", "OMP_NUM_THREADS"}) unsetenv(name);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("TESSERA_BACKEND", backend.c_str(), 1);
    constexpr std::int64_t n = 600;
    const std::vector<float> a(n * n, 1.0F);
    std::vector<float> c(a.size());
    std::optional<Context> context;
    ContextOptions options;
    options.threads = of_context;
    if (!automatic) context.emplace(options);
    const tessera::GemmDesc desc{.m = n, .n = n, .k = n};
    tessera::GemmPlan plan = context ? tessera::GemmPlan(*context, desc) : tessera::GemmPlan(desc);
    plan.execute(1.0F, a.data(), a.data(), 0.0F, c.data());
    require(c.front() == float(n) && c.back() == float(n), "a wrong product");
    require(std::size_t(threads_alive()) == expected,
            std::to_string(threads_alive()) + " threads instead of " + std::to_string(expected));
  });
}

/// The code, then TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then all.
void precedence(const std::string& backend) {
  cpu_set_t allowed;  // which std::thread::hardware_concurrency() does not ask for everywhere
  require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "the processors are not known");
  const auto all = std::size_t(CPU_COUNT(&allowed));
  for (const bool with_openmp : {false, true})
    for (const bool with_tessera : {false, true}) {
      std::map<std::string, std::string> environment;
      if (with_openmp) environment["OMP_NUM_THREADS"] = "5";
      if (with_tessera) environment["TESSERA_NUM_THREADS"] = "4";
      const std::size_t expected = with_tessera ? 4 : with_openmp ? 5 : all;
      require_threads(backend, environment, 0, false, expected);
      require_threads(backend, environment, 0, true, expected);
      require_threads(backend, environment, 3, false, 3);
      require_threads(backend, environment, 6, false, 6);
    }
}

const std::map<std::string, std::function<void(const std::string&)>> kScenarios = {
    {"endless_workspace", endless_workspace},
    {"many_threads", many_threads},
    {"forked", forked},
    {"forked_before", forked_before},
    {"few_threads", few_threads},
    {"few_stacks", few_stacks},
    {"precedence", precedence},
};

int run(int count, char** arguments) {
  if (count != 3 || kScenarios.count(arguments[1]) == 0)
    throw std::runtime_error("usage: threads_test SCENARIO BACKEND");
  const std::string backend = arguments[2];
  if (!is_available(backend) && !is_required(backend)) return kSkipped;
  kScenarios.at(arguments[1])(backend);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
