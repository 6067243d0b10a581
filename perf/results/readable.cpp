// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "readable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tessera::perf {

namespace {

/// To three significant digits.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return std::strtod(text, nullptr);
}

}  // namespace

std::string three_digits(double value) {
  const double shown = rounded(value), size = std::abs(shown);
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2, shown);
  return text;
}

std::string readable(double value, const std::string& unit) {
  constexpr const char* kPrefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int kLow = -3, kHigh = 6;
  if (value == 0.0 || !std::isfinite(value)) return three_digits(value) + " " + unit;
  const double shown = rounded(value);
  const int power = std::clamp(int(std::floor(std::log10(std::abs(shown)) / 3.0)), kLow, kHigh);
  return three_digits(shown / std::pow(1000.0, power)) + " " + kPrefixes[power - kLow] + unit;
}

}  // namespace tessera::perf
