// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::perf {

std::vector<double> Samples::read(Device& device, const void* data, DType dtype) const {
  std::vector<double> computed(where.size());
  device.read(data, dtype, where, computed.data());
  return computed;
}

void Samples::adopt(Device& device, const void* data, DType dtype) {
  const std::vector<double> computed = read(device, data, dtype);
  value.assign(computed.begin(), computed.end());
}

Verdict Samples::check(Device& device, const void* data, DType dtype, const std::string& of) const {
  const std::vector<double> computed = read(device, data, dtype);
  Verdict verdict;
  for (std::size_t i = 0; i < where.size(); ++i) {
    const long double error = std::abs(static_cast<long double>(computed[i]) - value[i]);
    if (error == 0) continue;
    const double relative = double(error / bound[i]);
    verdict.error = std::max(verdict.error, relative);
    if (relative <= 1.0 || !verdict.failure.empty()) continue;
    char text[200];
    std::snprintf(text, sizeof text, "wrong result: element %lld%s is %.17g, must be %.17g within %.3g",
                  static_cast<long long>(where[i]), of.c_str(), computed[i], double(value[i]), double(bound[i]));
    verdict.failure = text;
  }
  return verdict;
}

}  // namespace tessera::perf
