// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "wide.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::perf {

namespace {

/// The distance of the type's numbers around the value. Half of it is what the nearest one differs by at most, also
/// just below a power of two: there the distance is that below.
long double ulp(DType dtype, long double value) {
  return with_types(dtype, [value]<class T>(std::type_identity<T>) {
    const long double least = test::Numbers<T>::kLeast;
    return value == 0 ? least : std::max(least, std::ldexp(2.0L * kUnitRoundoff<T>, std::ilogb(value)));
  });
}

}  // namespace

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
  std::size_t misrounded = 0;
  for (std::size_t i = 0; i < where.size(); ++i) {
    const long double error = std::abs(static_cast<long double>(computed[i]) - value[i]);
    if (error == 0) continue;
    const double relative = double(error / bound[i]);
    verdict.error = std::max(verdict.error, relative);
    const auto ulps = double(error / ulp(dtype, value[i]));
    verdict.ulps = std::max(verdict.ulps, ulps);
    misrounded += ulps > 0.5;
    if (relative <= 1.0 || !verdict.failure.empty()) continue;
    char text[200];
    std::snprintf(text, sizeof text, "wrong result: element %lld%s is %.17g, must be %.17g within %.3g",
                  static_cast<long long>(where[i]), of.c_str(), computed[i], double(value[i]), double(bound[i]));
    verdict.failure = text;
  }
  if (!where.empty()) verdict.misrounded = double(misrounded) / double(where.size());
  return verdict;
}

}  // namespace tessera::perf
