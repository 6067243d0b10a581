// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace tessera::cpu {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

double ratio(double quota, double period) { return quota > 0 && period > 0 ? quota / period : kEndless; }

/// "max 100000" or "50000 100000".
double limit_of_version2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period ? ratio(quota, period) : kEndless;
}

/// -1 where there is no limit.
double limit_of_version1(const std::string& group) {
  std::ifstream quota_file(group + "/cpu.cfs_quota_us"), period_file(group + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period ? ratio(quota, period) : kEndless;
}

/// The least limit of a group and of all above it. In a container the path may be the host's, of which nothing is there
/// but the top.
template <class Limit>
double least_limit(const std::string& top, std::string path, Limit limit) {
  double least = limit(top);
  while (!path.empty() && path != "/") {
    least = std::min(least, limit(top + path));
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
  return least;
}

/// Whether a list "cpu,cpuacct" holds "cpu".
bool lists_cpu(const std::string& controllers) { return ("," + controllers + ",").find(",cpu,") != std::string::npos; }

}  // namespace

int allowed_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : CPU_SETSIZE;
}

double quota_processors(const std::string& root) {
  double least = kEndless;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path", "0::/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    const std::string mounts = root + "/sys/fs/cgroup";
    if (controllers.empty())
      for (const char* const top : {"", "/unified"})
        least = std::min(least, least_limit(mounts + top, path, limit_of_version2));
    else if (lists_cpu(controllers))
      for (const std::string& top : {std::string("cpu"), controllers})
        least = std::min(least, least_limit(mounts + "/" + top, path, limit_of_version1));
  }
  return least;
}

int useful_processors() {
  static const double quota = quota_processors();
  const int allowed = allowed_processors();
  return quota < allowed ? std::max(1, int(std::ceil(quota))) : allowed;
}

}  // namespace tessera::cpu
