// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What it costs to use the library, beside the work itself.

#include "suite.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tessera::perf {

namespace {

/// Products whose executions are enqueued, or executed on a host, and how many of them in a row: so many that the clock
/// sees them, and so few that the device's queue never fills, where the host would wait.
struct Queued {
  const char* product;
  int calls;
};
std::vector<Queued> queued(bool device) {
  if (!device) return {{"4", 100}};
  // Of one kernel; of several: parts and their products, copies of odd rows and their product.
  return {{"64", 100}, {"256", 16}, {"256/bf16", 16}, {"1023/bf16", 16}, {"1024/bf16x6", 16}};
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

/// Seconds of one call of many in a row, after one call that does not count.
Sampled repeated(const std::string& name, std::function<void()> work, std::int64_t calls = 1) {
  work();
  return {name, [work = std::move(work), calls] {
            const double begin = steady_seconds();
            for (std::int64_t call = 0; call < calls; ++call) work();
            return (steady_seconds() - begin) / double(calls);
          }};
}

/// A sweep over operands of the host, which pass a bus both ways.
Sampled host_operands(const std::string& name, Device& device, const tessera::Context& context) {
  const std::int64_t n = 8192;  // 256 MiB each way
  const auto in = std::make_shared<std::vector<float>>(std::size_t(n * n), 0.5f);
  const auto out = std::make_shared<std::vector<float>>(std::size_t(n * n), 0.0f);
  const auto plan = std::make_shared<StencilPlan>(context, heat(n));
  Sampled sampled = repeated(name, [=] { plan->execute(*in, *out); });
  sampled.complete = [&device, bytes = in->size() * sizeof(float)](Row& row) {
    // The two directions of a bus work side by side, so the slower one is the floor.
    const double floor = double(bytes) / std::min(device.bus_rate(true, bytes), device.bus_rate(false, bytes));
    row.figures = {{"traffic", 2e-9 * double(bytes) / row.time.median}, {"ceiling", floor / row.time.median}};
    row.label = "bus";
  };
  return sampled;
}

/// A product of the least work, by a plan that is kept, or in one call, whose plan comes from the cache.
Sampled small_product(const std::string& name, const tessera::Context& context, bool one_call) {
  constexpr std::int64_t n = 8, calls = 1000;
  struct Operands {
    std::vector<float> a, b, c;
  };
  const auto x = std::make_shared<Operands>(
      Operands{std::vector<float>(n * n, 0.5f), std::vector<float>(n * n, 0.25f), std::vector<float>(n * n)});
  const GemmDesc desc{.m = n, .n = n, .k = n};
  const auto plan = std::make_shared<GemmPlan>(context, desc);
  const auto kept = [=] { plan->execute(1.0f, x->a, x->b, 0.0f, x->c); };
  const auto one = [=, &context] { gemm(context, desc, 1.0f, x->a, x->b, 0.0f, x->c); };
  Sampled sampled = repeated(name, one_call ? std::function<void()>(one) : kept, calls);
  if (x->c[0] != 1.0f) sampled.failure = "a product of size 8 is wrong";
  return sampled;
}

/// Host time of an execution: from an empty queue on, so many in a row.
Sampled calls_in_a_row(const std::string& name, Fixture& fixture, Competitor& competitor, int calls) {
  const Execute function = competitor.prepare(fixture.problem());
  const auto execute = [&fixture, function] { fixture.execute(function, 0, true); };
  double first = 0.0;
  const Verdict verdict = fixture.check(function, first, competitor.rounding());
  const auto seconds = [&fixture, execute, calls] {
    double took = 0.0;
    fixture.device().time([&] {
      const double begin = steady_seconds();
      for (int call = 0; call < calls; ++call) execute();
      took = (steady_seconds() - begin) / calls;
    });
    return took;
  };
  const auto complete = [&fixture, execute, calls, error = verdict.error](Row& row) {
    row.time.batch = calls;
    row.figures["max_error"] = error;
    if (const auto kernels = fixture.device().kernels(execute)) row.figures["kernels"] = double(*kernels);
  };
  return {name, seconds, complete, verdict.failure};
}

}  // namespace

int print_first_use(const std::string& backend, int threads) {
  const double begin = steady_seconds();
  ContextOptions options;
  options.threads = threads;
  tessera::Context context(backend, options);
  const tessera::GemmPlan plan(context, {.m = 64, .n = 64, .k = 64});
  std::printf("%.9f\n", steady_seconds() - begin);
  return 0;
}

void Suite::add_overheads(Target& target) {
  Platform& platform = *target.platform;
  const bool device = platform.own_memory;
  const int samples = options_->quick ? 10 : 30;
  const PlanOptions own{.operands = device ? Memory::device : Memory::host};
  for (const auto& backend : platform.backends) {
    const tessera::Context& context = backend->context;
    const auto add = [&](const std::string& what, int count, const auto& make) {
      const std::string name = "overhead/" + what + "/tessera:" + backend->name;
      add_sampled(target, {name}, count, [=] { return std::vector<Sampled>{make(name)}; });
    };
    add("gemm_plan_creation/f32/hot", samples, [=, &context](const std::string& name) {
      return repeated(name, [=, &context] { GemmPlan(context, {.m = 1024, .n = 1024, .k = 1024}, own); });
    });
    add("stencil_plan_creation/f32/hot", samples, [=, &context](const std::string& name) {
      return repeated(name, [=, &context] { StencilPlan(context, heat(1024), own); });
    });
    const std::string asked = backend->name + ":" + std::to_string(platform.index);
    add("first_use/f32/cold", 3, [asked, threads = platform.threads](const std::string& name) {
      return Sampled{name, [=] { return first_use_of_child(asked, threads); }};
    });
    for (const bool one_call : {false, true})
      if (!device)
        add(std::string(one_call ? "one_call" : "kept_plan") + "_gemm_8/f32/hot", samples,
            [=, &context](const std::string& name) { return small_product(name, context, one_call); });
    if (device)
      add("host_operands/f32/cold", samples,
          [&platform, &context](const std::string& name) { return host_operands(name, *platform.device, context); });
  }
  for (const Queued& queue : queued(device)) add_queue(target, resolve(gemm_case(queue.product)), queue.calls);
}

void Suite::add_queue(Target& target, const Problem& problem, int calls) {
  constexpr int kBursts = 50;
  Platform& platform = *target.platform;
  const std::string title = std::string("overhead/") + (platform.own_memory ? "enqueue" : "execute") + "_gemm_" +
                            problem.name + "/" + problem.kind.name() + "/hot/";
  std::vector<std::string> names;
  std::vector<Competitor*> competitors;
  for (Competitor* const competitor : all_competitors(platform))
    if (competitor->unsupported(problem).empty() && wanted(title + competitor->name())) {
      names.push_back(title + competitor->name());
      competitors.push_back(competitor);
    }
  add_sampled(target, names, kBursts, [=, this, &platform] {
    std::vector<Sampled> all;
    for (std::size_t i = 0; i < names.size(); ++i) try {
        all.push_back(calls_in_a_row(names[i], fixture_for(platform, problem), *competitors[i], calls));
      } catch (const tessera::Error& error) {
        if (error.code() != ErrorCode::unsupported) throw;
        recorder_->leave_out(names[i], error.what());
      } catch (const std::runtime_error& error) {
        all.push_back({names[i], {}, {}, error.what()});
      }
    return all;
  });
}

}  // namespace tessera::perf
