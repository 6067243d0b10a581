// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "measure.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::perf {

Statistics condense(std::vector<double> samples, std::int64_t batch) {
  Statistics s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  s.median = count % 2 == 1 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
  s.min = samples.front();
  s.max = samples.back();
  s.repetitions = std::int64_t(count);
  s.batch = batch;
  double mean = 0.0, squares = 0.0;
  for (const double x : samples) mean += x / double(count);
  for (const double x : samples) squares += (x - mean) * (x - mean);
  s.spread = count > 1 && mean > 0.0 ? std::sqrt(squares / double(count - 1)) / mean : 0.0;
  return s;
}

Measurement::Measurement(Device& device, std::function<void(std::int64_t)> execute, double first, const Budget& budget)
    : device_(&device), execute_(std::move(execute)) {
  if (first > 2.0 * budget.seconds && budget.repetitions == 0) {
    samples_.push_back(first);
    return;
  }
  // The first execution overstates: grow the batch until a sample is long enough.
  double seconds = first;
  while (seconds * double(batch_) < budget.sample && batch_ < (std::int64_t{1} << 20)) {
    const double wanted = std::ceil(budget.sample / std::max(seconds, 1e-9));
    batch_ = std::clamp<std::int64_t>(std::int64_t(wanted * 1.1), batch_ + 1, 64 * batch_);
    seconds = std::max(time_of(batch_), 1e-9);
  }
  const double sample = seconds * double(batch_);
  repetitions_ = budget.repetitions;
  if (repetitions_ > 0) return;
  repetitions_ = std::clamp<std::int64_t>(std::int64_t(budget.seconds / sample), 3, 30);
  if (3.0 * sample > 2.0 * budget.seconds) repetitions_ = 2;
}

double Measurement::time_of(std::int64_t batch) {
  const double seconds = device_->time([&] {
    for (std::int64_t i = 0; i < batch; ++i) execute_(done_ + i);
  });
  done_ += batch;
  return seconds / double(batch);
}

void Measurement::sample() {
  if (batch_ > 1) time_of(1);
  samples_.push_back(time_of(batch_));
}

}  // namespace tessera::perf
