// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "station.hpp"

#include "module.hpp"

#include <algorithm>
#include <deque>
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

void write_row(const Station& station, const std::string& title, const Subject& subject, const Statistics& time) {
  Row row{title + "/" + subject.name, station.place, time, {}, {}, subject.label, ""};
  row.figures = {{"rate", subject.work / time.median * 1e-9}, {"max_error", subject.max_error}};
  row.figures.insert(subject.counters.begin(), subject.counters.end());
  station.recorder->add(std::move(row));
}

/// A subject whose samples all ranks take, with the same times, so that they take as many.
class OnAllRanks : public Contestant {
 public:
  OnAllRanks(const Measurement::Clock& clock, const Subject& subject, const Budget& budget)
      : work_([&subject](std::int64_t) {
          if (subject.execute) subject.execute();
        }) {
    clock([&] { work_(0); });
    measurement_.emplace(clock, work_, clock([&] { work_(0); }), 0.0, budget);
  }
  bool wants_more(std::int64_t pass) const override { return measurement_->wants_more(pass); }
  void sample(std::int64_t pass) override { measurement_->sample(pass, work_, 0.0); }
  Statistics time() const { return measurement_->time(); }

 private:
  Measurement::Work work_;
  std::optional<Measurement> measurement_;
};

}  // namespace

void contest(const Station& station, const std::string& title, const std::vector<Subject>& subjects) {
  const Measurement::Clock clock = [&](const std::function<void()>& work) {
    station.group.barrier();
    return station.group.max(station.device->time(work));
  };
  Budget budget;
  budget.seconds = station.options.budget;
  budget.passes = station.options.passes;
  budget.max_budgets = 25.0;  // a single sample of what takes longer
  std::deque<OnAllRanks> on_all;
  std::vector<Contestant*> contestants;
  for (const Subject& subject : subjects) contestants.push_back(&on_all.emplace_back(clock, subject, budget));
  for (std::int64_t pass = 0; pass < budget.passes; ++pass) contest(contestants, pass);
  if (!station.recorder) return;
  for (std::size_t i = 0; i < subjects.size(); ++i) write_row(station, title, subjects[i], on_all[i].time());
  station.recorder->write();
}

}  // namespace tessera::perf
