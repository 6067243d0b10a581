// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How well a median is known; perf/report/noise.py says the same of a file.
#pragma once

#include <utility>
#include <vector>

namespace tessera::perf {

/// A figure that may be off by more than that is not quoted.
inline constexpr double kDoubtful = 0.25;

/// Sorts the samples. The mean of the middle two where their number is even.
double median(std::vector<double>& samples);

/// What holds the median of endless measuring with 95 % probability: samples lie above or below it as coins fall, so
/// their order tells (H. David and H. Nagaraja, "Order Statistics", 3rd ed., section 7.1). Fewer than six samples
/// promise less; their whole range is taken. `samples` must be exchangeable, and not empty.
std::pair<double, double> median_interval(std::vector<double> samples);

/// The larger factor by which the interval's ends differ from the median, less 1.
double doubt(double median, const std::pair<double, double>& interval);

}  // namespace tessera::perf
