// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "measure.hpp"

#include "noise.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace tessera::perf {

Statistics condense(const Passes& by_pass, std::int64_t batch) {
  Statistics s;
  std::vector<double> samples;
  for (std::vector<double> of_pass : by_pass) {
    if (of_pass.empty()) continue;
    samples.insert(samples.end(), of_pass.begin(), of_pass.end());
    s.passes.push_back(median(of_pass));
  }
  if (samples.empty()) return s;
  const std::size_t count = samples.size();
  s.median = median(samples);
  s.min = samples.front();
  s.max = samples.back();
  // Samples of one pass share its clock and its neighbours; passes are what varies by chance.
  std::tie(s.low, s.high) = median_interval(s.passes.size() > 1 ? s.passes : samples);
  s.repetitions = std::int64_t(count);
  s.batch = batch;
  double mean = 0.0, squares = 0.0;
  for (const double x : samples) mean += x / double(count);
  for (const double x : samples) squares += (x - mean) * (x - mean);
  s.spread = count > 1 && mean > 0.0 ? std::sqrt(squares / double(count - 1)) / mean : 0.0;
  return s;
}

Measurement::Measurement(Clock clock, const Work& work, double first, double floor, const Budget& budget)
    : clock_(std::move(clock)), passes_(budget.passes) {
  if (budget.exceeded_by(first)) {
    add(0, first, floor);
    return;
  }
  // The first execution overstates: grow the batch until a sample is long enough.
  double seconds = first;
  while (seconds * double(batch_) < budget.sample && batch_ < (std::int64_t{1} << 20)) {
    const double wanted = std::ceil(budget.sample / std::max(seconds, 1e-9));
    batch_ = std::clamp<std::int64_t>(std::int64_t(wanted * 1.1), batch_ + 1, 64 * batch_);
    seconds = std::max(time_of(work, batch_), 1e-9);
  }
  const double sample = seconds * double(batch_);
  constexpr double kShort = 0.05;
  short_ = batch_ > 1 || sample < kShort;
  repetitions_ = budget.repetitions;
  if (repetitions_ > 0) return;
  repetitions_ = std::clamp<std::int64_t>(std::int64_t(budget.seconds / sample), 3, 30);
  if (3.0 * sample > 2.0 * budget.seconds) repetitions_ = sample > 2.0 * budget.seconds ? 1 : 2;
  repetitions_ = std::max(repetitions_, passes_);
}

bool Measurement::wants_more(std::int64_t pass) const {
  return taken_ < repetitions_ && taken_ * passes_ < repetitions_ * (pass + 1);
}

double Measurement::time_of(const Work& work, std::int64_t batch) {
  const double seconds = clock_([&] {
    for (std::int64_t i = 0; i < batch; ++i) work(done_ + i);
  });
  done_ += batch;
  return seconds / double(batch);
}

double Measurement::try_once(const Work& work) {
  if (short_) time_of(work, 1);
  return time_of(work, batch_);
}

void Measurement::sample(std::int64_t pass, const Work& work, double floor) { add(pass, try_once(work), floor); }

Selection::Selection(const Measurement& measurement, std::vector<std::size_t> ways) {
  for (const std::size_t number : ways) ways_.push_back({number, measurement});
  if (ways_.size() == 1) return;
  // Half of the rounds score, but three at least.
  const std::int64_t all = measurement.repetitions();
  for (Way& way : ways_) way.scored.limit(std::max<std::int64_t>(all / 2, 3));
}

void Selection::sample(std::int64_t pass, const Works& works, double floor) {
  if (ways_.size() > 1 && rounds_++ % 2 == 0) return choose(works);
  for (Way& way : ways_) way.scored.sample(pass, works(way.number), floor);
}

void Selection::choose(const Works& works) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    ways_[i].choosing.push_back(ways_[i].scored.try_once(works(ways_[i].number)));
    std::vector<double> seconds = ways_[i].choosing;
    order.emplace_back(median(seconds), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Way> left;
  for (std::size_t i = 0; i < std::max<std::size_t>(2, (order.size() + 1) / 2); ++i)
    left.push_back(std::move(ways_[order[i].second]));
  ways_ = std::move(left);
}

namespace {

/// Whether a thread of the process besides this one runs, or would. What cannot be read does not.
bool others_run() {
  const std::string self = std::to_string(gettid());
  std::error_code unread;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", unread)) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name = line.rfind(')');  // its state follows
    if (name != std::string::npos && line.compare(name, 4, ") R ") == 0) return true;
  }
  return false;
}

}  // namespace

void wait_for_idle_threads(double most) {
  const double end = steady_seconds() + most;
  while (others_run() && steady_seconds() < end) std::this_thread::sleep_for(std::chrono::microseconds(500));
}

void contest(const std::vector<Contestant*>& contestants, std::int64_t pass, const std::function<bool()>& next_round) {
  const auto due = [pass](const Contestant* one) { return one->wants_more(pass); };
  for (std::size_t round = 1; next_round() || round == 1; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      Contestant* const one = contestants[(i + round + std::size_t(pass)) % contestants.size()];
      if (due(one)) one->sample(pass);
    }
    if (std::none_of(contestants.begin(), contestants.end(), due)) return;
  }
}

void Measurement::add(std::int64_t pass, double seconds, double floor) {
  seconds_.resize(std::size_t(pass + 1));
  shares_.resize(std::size_t(pass + 1));
  seconds_.back().push_back(seconds);
  shares_.back().push_back(floor / seconds);
  ++taken_;
}

}  // namespace tessera::perf
