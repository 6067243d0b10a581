// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The line that gemm and stencil print.
#pragma once

#include "commands.hpp"
#include "npy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tessera::cli {

/// Seconds of an execution, and how they were obtained.
struct Timing {
  double seconds;
  std::string kind;
};

inline constexpr int kRuns = 5;  ///< that are timed
/// For --help.
inline constexpr char kMeasured[] =
    "The plan is executed once and, where that takes less than 0.2 s, five times more: the time is their median.";

/// Calls `execute` once and, where that was quick, kRuns times more.
template <class Execute>
Timing measure(Execute&& execute) {
  constexpr double kPatience = 1.0;  // seconds for all runs
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    execute();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return std::max(1e-9, taken.count());
  };
  const double first = timed();
  if (first * kRuns > kPatience) return {first, "a single execution"};
  std::vector<double> seconds(kRuns);
  for (double& one : seconds) one = timed();
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  return {seconds[kRuns / 2], "median of " + std::to_string(kRuns) + " executions after a first one"};
}

/// "<plan>: 1.234 ms (...), 12.3 GFLOP/s, 4.5 GB/s". `work` counts what `unit` names, `bytes` the compulsory traffic.
/// Throws std::runtime_error where it cannot be printed.
inline void report(std::FILE* stream, const std::string& plan, const Timing& timing, double work, const char* unit,
                   double bytes) {
  const double giga = 1e9 * timing.seconds;
  std::fprintf(stream, "%s: %.4g ms (%s), %.4g %s, %.4g GB/s\n", plan.c_str(), timing.seconds * 1e3,
               timing.kind.c_str(), work / giga, unit, bytes / giga);
  check_printed(stream);
}

/// Where the report goes while `output` is written.
inline std::FILE* report_stream(const npy::OutputFile& output) { return output.is_standard_output() ? stderr : stdout; }

}  // namespace tessera::cli
