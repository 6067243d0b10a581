// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "noise.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::perf {

double median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  return count % 2 == 1 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

std::pair<double, double> median_interval(std::vector<double> samples) {
  constexpr double kBeyond = 0.05;
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  std::size_t cut = 0;
  double chance = std::pow(0.5, double(count)), below = 0.0;  // of `at` samples below; that samples[at] is above
  for (std::size_t at = 0; at < count / 2; ++at) {
    below += chance;
    if (2.0 * below > kBeyond) break;
    cut = at;
    chance *= double(count - at) / double(at + 1);
  }
  return {samples[cut], samples[count - 1 - cut]};
}

double doubt(double median, const std::pair<double, double>& interval) {
  return std::max(interval.second / median, median / interval.first) - 1.0;
}

}  // namespace tessera::perf
