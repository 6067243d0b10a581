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

Statistics measure(Device& device, const std::function<void(std::int64_t)>& execute, double first,
                   const Budget& budget) {
  if (first > 2.0 * budget.seconds && budget.repetitions == 0) return condense({first}, 1);
  std::int64_t done = 0;
  const auto sample = [&](std::int64_t batch) {
    const double seconds = device.time([&] {
      for (std::int64_t i = 0; i < batch; ++i) execute(done + i);
    });
    done += batch;
    return seconds / double(batch);
  };
  // The first execution overstates: grow the batch until a sample is long enough.
  std::int64_t batch = 1;
  double seconds = first;
  while (seconds * double(batch) < budget.sample && batch < (std::int64_t{1} << 20)) {
    const double wanted = std::ceil(budget.sample / std::max(seconds, 1e-9));
    batch = std::clamp<std::int64_t>(std::int64_t(wanted * 1.1), batch + 1, 64 * batch);
    seconds = std::max(sample(batch), 1e-9);
  }
  std::int64_t repetitions = budget.repetitions;
  if (repetitions <= 0)
    repetitions = std::clamp<std::int64_t>(std::int64_t(budget.seconds / (seconds * double(batch))), 3, 30);
  if (budget.repetitions <= 0 && 3.0 * seconds * double(batch) > 2.0 * budget.seconds) repetitions = 2;
  std::vector<double> samples;
  for (std::int64_t i = 0; i < repetitions; ++i) samples.push_back(sample(batch));
  return condense(samples, batch);
}

}  // namespace tessera::perf
