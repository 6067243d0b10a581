// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "measure.hpp"
#include "options.hpp"
#include "platform.hpp"

namespace tessera::perf {

struct Overhead {
  struct Result {
    std::vector<double> seconds;
    double bytes = 0.0, floor = 0.0;  ///< over a bus, and the least time that takes; 0: no bus in it
  };
  std::string name;  ///< <what>/<dtype>/<cache>
  std::function<Result()> run;
};

std::vector<Overhead> overheads(Platform& platform, Backend& backend, const Options& options);

/// What the child process of the first-use measurement does.
int print_first_use(const std::string& backend, int threads);

}  // namespace tessera::perf
