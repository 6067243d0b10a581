// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The lines that gemm and stencil print.
#pragma once

#include "commands.hpp"
#include "npy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace tessera::cli {

/// Seconds of an execution, and how they were obtained.
struct Timing {
  double seconds;
  std::string kind;
};

/// For --help.
inline constexpr char kMeasured[] =
    "The plan is executed once and, where that takes less than 0.2 s, five times more: the time is their median.";

/// Calls `execute` once and, where that was quick, five times more.
template <class Execute>
Timing measure(Execute&& execute) {
  constexpr double kQuick = 0.2;  // seconds
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    execute();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return std::max(1e-9, taken.count());
  };
  const double first = timed();
  if (first > kQuick) return {first, "a single execution"};
  std::vector<double> seconds(5);
  for (double& one : seconds) one = timed();
  std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
  return {seconds[2], "median of 5 executions after a first one"};
}

/// Prints "<plan>: 1.234 ms (...), 12.3 GFLOP/s, 4.5 GB/s" and `said`, what became of the numbers, and puts what was
/// written to the output in its place. `work` counts what `unit` names, `bytes` the compulsory traffic. Throws
/// std::runtime_error where the lines cannot be printed, npy::Error.
inline void finish(npy::OutputFile& output, const std::string& plan, const Timing& timing, double work,
                   const char* unit, double bytes, const std::string& said) {
  std::FILE* const stream = output.is_standard_output() ? stderr : stdout;
  const double giga = 1e9 * timing.seconds;
  std::fprintf(stream, "%s: %.4g ms (%s), %.4g %s, %.4g GB/s\n%s", plan.c_str(), timing.seconds * 1e3,
               timing.kind.c_str(), work / giga, unit, bytes / giga, said.c_str());
  check_printed(stream);
  output.commit();
}

}  // namespace tessera::cli
