// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What it costs to use the library, beside the work itself.

#include "overheads.hpp"
#include "suite.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace tessera::perf {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Problem square(std::int64_t n, const Kind& kind) {
  Case c;
  c.problem.name = std::to_string(n);
  c.problem.gemm = {n, n, n, false, false, n, n, n, 1, n * n, n * n, n * n};
  return resolve(c, kind);
}

/// Products whose executions are enqueued, or executed on a host, and how many of them in a row: so many that the clock
/// sees them, and so few that the device's queue never fills, where the host would wait.
struct Queued {
  Problem problem;
  int calls;
};
std::vector<Queued> queued(bool device) {
  if (!device) return {{square(4, DType::f32), 100}};
  const Kind parts = kinds_named("bf16x6").front();
  // Of one kernel; of several: parts and their products, copies of odd rows and their product.
  return {{square(64, DType::f32), 100},
          {square(256, DType::f32), 16},
          {square(256, DType::bf16), 16},
          {square(1023, DType::bf16), 16},
          {square(1024, parts), 16}};
}

tessera::StencilDesc heat(std::int64_t n) {
  return {.extents = {n, n}, .taps = taps::identity(2) + 0.1 * taps::laplacian(2), .dtype = DType::f32};
}

/// Seconds that a fresh process measured, of context and first plan.
double first_use_of_child(const std::string& backend, int threads) {
  const std::string program = std::filesystem::canonical("/proc/self/exe").string();
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for the child process");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const std::string count = std::to_string(threads);
    execl(program.c_str(), program.c_str(), "--first-use", backend.c_str(), "--threads", count.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  char text[64] = "";
  std::size_t length = 0;
  for (ssize_t got; length + 1 < sizeof text && (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
    length += std::size_t(got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const double seconds = std::atof(text);
  if (status != 0 || !(seconds > 0.0)) throw std::runtime_error("the child process failed");
  return seconds;
}

template <class Work>
Overhead::Result repeated(int repetitions, Work&& work) {
  std::vector<double> samples;
  work();
  for (int i = 0; i < repetitions; ++i) {
    const double begin = now();
    work();
    samples.push_back(now() - begin);
  }
  return {samples, 0.0, 0.0};
}

/// A sweep over operands of the host, which pass a bus both ways.
Overhead::Result host_operands(Device& device, const tessera::Context& context, int repetitions) {
  const std::int64_t n = 8192;  // 256 MiB each way
  std::vector<float> in(std::size_t(n * n), 0.5f), out(std::size_t(n * n), 0.0f);
  StencilPlan plan(context, heat(n));
  Overhead::Result result = repeated(repetitions, [&] { plan.execute(in, out); });
  const std::size_t bytes = in.size() * sizeof(float);
  result.bytes = 2.0 * double(bytes);
  // The two directions of a bus work side by side, so the slower one is the floor.
  result.floor = double(bytes) / std::min(device.bus_rate(true, bytes), device.bus_rate(false, bytes));
  return result;
}

/// A product of the least work, `calls` times in a sample: by a plan that is kept, or in one call, whose plan comes
/// from the cache.
Overhead::Result small_product(const tessera::Context& context, bool one_call, int repetitions) {
  constexpr std::int64_t n = 8, calls = 1000;
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f), c(n * n);
  const GemmDesc desc{.m = n, .n = n, .k = n};
  GemmPlan plan(context, desc);
  Overhead::Result result = repeated(repetitions, [&] {
    for (std::int64_t call = 0; call < calls; ++call)
      if (one_call)
        gemm(context, desc, 1.0f, a, b, 0.0f, c);
      else
        plan.execute(1.0f, a, b, 0.0f, c);
  });
  for (double& seconds : result.seconds) seconds /= double(calls);
  if (c[0] != 1.0f) throw std::runtime_error("a product of size 8 is wrong");
  return result;
}

}  // namespace

int print_first_use(const std::string& backend, int threads) {
  const double begin = now();
  ContextOptions options;
  options.threads = threads;
  tessera::Context context(backend, options);
  const tessera::GemmPlan plan(context, {.m = 64, .n = 64, .k = 64});
  std::printf("%.9f\n", now() - begin);
  return 0;
}

std::vector<Overhead> overheads(Platform& platform, Backend& backend, const Options& options) {
  std::vector<Overhead> list;
  const int repetitions = options.quick ? 10 : 30;
  tessera::Context& context = backend.context;
  const PlanOptions own{.operands = platform.own_memory ? Memory::device : Memory::host};
  list.push_back({"gemm_plan_creation/f32/hot", [=, &context] {
                    return repeated(repetitions, [&] { GemmPlan(context, {.m = 1024, .n = 1024, .k = 1024}, own); });
                  }});
  list.push_back({"stencil_plan_creation/f32/hot",
                  [=, &context] { return repeated(repetitions, [&] { StencilPlan(context, heat(1024), own); }); }});
  list.push_back({"first_use/f32/cold", [&platform, &backend] {
                    const std::string asked = backend.name + ":" + std::to_string(platform.index);
                    std::vector<double> samples;
                    for (int i = 0; i < 3; ++i) samples.push_back(first_use_of_child(asked, platform.threads));
                    return Overhead::Result{samples, 0.0, 0.0};
                  }});
  if (!platform.own_memory) {
    for (const bool one_call : {false, true})
      list.push_back({std::string(one_call ? "one_call" : "kept_plan") + "_gemm_8/f32/hot",
                      [=, &context] { return small_product(context, one_call, repetitions); }});
    return list;
  }
  list.push_back({"host_operands/f32/cold", [&platform, &context, repetitions] {
                    return host_operands(*platform.device, context, repetitions);
                  }});
  return list;
}

void Suite::add_overhead_rows(Target& target) {
  Platform& platform = *target.platform;
  for (const auto& backend : platform.backends)
    for (const Overhead& overhead : overheads(platform, *backend, *options_))
      add_row(
          "overhead/" + overhead.name + "/tessera:" + backend->name,
          [this, overhead, samples = Passes()](const Visit& visit) mutable {
            const Overhead::Result result = overhead.run();
            samples.push_back(result.seconds);
            const Statistics time = condense(samples, 1);
            report(visit, time);
            if (result.bytes == 0.0) return;
            visit.state.counters["traffic"] = result.bytes / time.median * 1e-9;
            visit.state.counters["ceiling"] = result.floor / time.median;
            visit.state.SetLabel("bus");
          },
          target);
  for (const Queued& queue : queued(platform.own_memory)) add_enqueue_rows(target, queue.problem, queue.calls);
}

/// Host time of an execution.
void Suite::add_enqueue_rows(Target& target, const Problem& problem, int calls) {
  const std::string title = std::string("overhead/") + (target.platform->own_memory ? "enqueue" : "execute") +
                            "_gemm_" + problem.name + "/" + problem.kind.name() + "/hot/";
  for (const Competitors* competitors : all_competitors(*target.platform))
    for (const auto& competitor : *competitors)
      if (competitor->unsupported(problem).empty())
        add_row(
            title + competitor->name(),
            [=, this, &target, competitor = competitor.get(), samples = Passes()](const Visit& visit) mutable {
              run_enqueue(visit, target, problem, calls, *competitor, samples);
            },
            target);
}

void Suite::run_enqueue(const Visit& visit, Target& target, const Problem& problem, int calls, Competitor& competitor,
                        Passes& samples) {
  Fixture& fixture = fixture_for(*target.platform, problem);
  const Execute execute = competitor.prepare(problem);
  double first = 0.0;
  const Verdict verdict = fixture.check(execute, first, competitor.rounding());
  if (!verdict.failure.empty()) return visit.state.SkipWithError(verdict.failure.c_str());
  samples.emplace_back();
  for (int burst = 0; burst < 50; ++burst)
    fixture.device().time([&] {  // begins with an empty queue
      const double begin = now();
      for (int call = 0; call < calls; ++call) fixture.execute(execute, 0, true);
      samples.back().push_back((now() - begin) / calls);
    });
  report(visit, condense(samples, calls));
  visit.state.counters["max_error"] = verdict.error;
  const auto kernels = fixture.device().kernels([&] { fixture.execute(execute, 0, true); });
  if (kernels) visit.state.counters["kernels"] = double(*kernels);
}

}  // namespace tessera::perf
