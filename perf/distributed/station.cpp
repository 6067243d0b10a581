// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "station.hpp"

#include "module.hpp"

#include <algorithm>
#include <optional>
#include <thread>

namespace tessera::perf {

Station::Station(Group& g, const ScalingOptions& o) : group(g), options(o) {
  backend = options.backend.substr(0, options.backend.find(':'));
  const int devices = device_count(backend);
  const std::string name = devices > 0 ? backend + ":" + std::to_string(group.rank_on_host() % devices) : backend;
  ContextOptions made;
  made.threads = options.threads;
  together(group, [&] {
    context = std::make_unique<Context>(name, made);
    place = platform_of(*context);
    device.reset(open_module(place).find<MakeDevice>("tessera_perf_device")(context->device(), options.threads));
    if (device->native_stream() == nullptr) return;
    made.native_stream = device->native_stream();
    context = std::make_unique<Context>(name, made);
  });
  if (device->native_stream() == nullptr || group.size() < 2) return;
  try {
    device_peers.reset(
        open_module("distributed")
            .find<MakeDevicePeers>("tessera_perf_device_peers")(&group, device->native_stream(), context->device()));
  } catch (const std::exception& error) {
    no_device_peers = error.what();
  }
}

void Station::leave_out(const std::string& name, const std::string& reason) const {
  if (recorder) recorder->leave_out(name, reason);
}

Decomposition Station::cut(std::size_t axes) const {
  std::vector<std::int64_t> ranks(axes, 1);
  ranks.front() = group.size();
  return {.ranks = ranks, .depth = options.depth};
}

std::shared_ptr<void> Station::allocate(std::size_t bytes) const {
  return {device->allocate(std::max<std::size_t>(bytes, 1)), [d = device.get()](void* memory) { d->release(memory); }};
}

namespace {

void add_counters(benchmark::BenchmarkReporter::Run& run, const Subject& subject, const Statistics& time) {
  auto& counters = run.counters;
  counters["rate"] = subject.work / time.median * 1e-9;
  add_times(counters, time);
  counters["max_error"] = subject.max_error;
  for (const auto& [name, value] : subject.counters) counters[name] = value;
}

void write_row(Recorder& recorder, const std::string& place, const std::string& title, const Subject& subject,
               const Statistics& time) {
  benchmark::BenchmarkReporter::Run run;
  run.run_name.function_name = title + "/" + subject.name;
  run.run_type = benchmark::BenchmarkReporter::Run::RT_Iteration;
  run.iterations = 1;
  run.real_accumulated_time = run.cpu_accumulated_time = time.median;
  run.time_unit = benchmark::kMicrosecond;
  run.report_label = subject.label;
  add_counters(run, subject, time);
  nlohmann::ordered_json turns;
  for (const double seconds : time.passes) turns["real_time"].push_back(seconds * 1e6);
  recorder.locate(run.run_name.function_name, place);
  recorder.passes(run.run_name.function_name, std::move(turns));
  recorder.ReportRuns({run});
}

}  // namespace

void contest(const Station& station, const std::string& title, std::vector<Subject> subjects) {
  Group& group = station.group;
  // All ranks get the same times, and so take the same number of samples.
  const Measurement::Clock clock = [&](const std::function<void()>& work) {
    group.barrier();
    return group.max(station.device->time(work));
  };
  Budget budget;
  budget.seconds = station.options.budget;
  budget.passes = station.options.passes;
  budget.max_budgets = 25.0;  // a single sample of what takes longer
  std::vector<std::optional<Measurement>> measurements(subjects.size());
  const auto work_of = [&](std::size_t i) -> Measurement::Work {
    return [&execute = subjects[i].execute](std::int64_t) {
      if (execute) execute();
    };
  };
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Measurement::Work work = work_of(i);
    clock([&] { work(0); });
    measurements[i].emplace(clock, work, clock([&] { work(0); }), 0.0, budget);
  }
  for (std::int64_t pass = 0; pass < budget.passes; ++pass)
    for (std::size_t i = 0; i < subjects.size(); ++i)
      while (measurements[i]->wants_more(pass)) measurements[i]->sample(pass, work_of(i), 0.0);
  if (!station.recorder) return;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    write_row(*station.recorder, station.place, title, subjects[i], measurements[i]->time());
  station.recorder->write();
}

}  // namespace tessera::perf
