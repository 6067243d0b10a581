// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// How many threads this process may have: its affinity mask and its control groups.

#include "processors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <sched.h>
#include <unistd.h>

using tessera::cpu::allowed_processors;
using tessera::cpu::quota_processors;

namespace {

/// What these files say, by their names below a root that is there for a moment.
double quota_of(const std::map<std::string, std::string>& files) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("tessera-groups-" + std::to_string(getpid()));
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  const double quota = quota_processors(root.string());
  std::filesystem::remove_all(root);
  return quota;
}

}  // namespace

TEST_CASE("the affinity mask limits the threads") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  REQUIRE(allowed_processors() == CPU_COUNT(&all));
  std::size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(allowed_processors() == 1);
  CHECK(tessera::cpu::useful_processors() == 1);
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}

TEST_CASE("quotas of control groups, version 2") {
  const std::string own = "proc/self/cgroup", top = "sys/fs/cgroup/";
  CHECK(quota_of({{own, "0::/a/b\n"}, {top + "a/b/cpu.max", "150000 100000\n"}}) == 1.5);
  CHECK(quota_of({{own, "0::/a/b\n"}, {top + "a/b/cpu.max", "max 100000\n"}}) == INFINITY);
  CHECK(quota_of({{own, "0::/\n"}, {top + "cpu.max", "50000 100000\n"}}) == 0.5);
  // The least of all levels counts.
  CHECK(quota_of({{own, "0::/a/b\n"},
                  {top + "a/b/cpu.max", "400000 100000\n"},
                  {top + "a/cpu.max", "300000 100000\n"},
                  {top + "cpu.max", "max 100000\n"}}) == 3.0);
  CHECK(quota_of({{own, "0::/a\n"}, {top + "unified/a/cpu.max", "200000 100000\n"}}) == 2.0);
}

TEST_CASE("quotas of control groups, version 1") {
  const std::string own = "proc/self/cgroup", cpu = "sys/fs/cgroup/cpu/", both = "sys/fs/cgroup/cpu,cpuacct/";
  const auto files = [&](const std::string& line, const std::string& group, const std::string& quota) {
    return std::map<std::string, std::string>{
        {own, "7:memory:/m\n" + line}, {group + "cpu.cfs_quota_us", quota}, {group + "cpu.cfs_period_us", "50000\n"}};
  };
  CHECK(quota_of(files("3:cpu:/a\n", cpu + "a/", "100000\n")) == 2.0);
  CHECK(quota_of(files("3:cpu:/a\n", cpu + "a/", "-1\n")) == INFINITY);
  CHECK(quota_of(files("3:cpuacct,cpu:/a\n", cpu + "a/", "25000\n")) == 0.5);
  CHECK(quota_of(files("3:cpu,cpuacct:/a\n", both + "a/", "75000\n")) == 1.5);
  // In a container the path may be the host's; what is mounted is the container's own group.
  CHECK(quota_of(files("3:cpu:/host/path\n", cpu, "50000\n")) == 1.0);
  CHECK(quota_of(files("3:cpuset:/a\n", cpu + "a/", "50000\n")) == INFINITY);
}

TEST_CASE("without control groups there is no quota") {
  CHECK(quota_of({{"proc/other", ""}}) == INFINITY);
  CHECK(quota_of({{"proc/self/cgroup", "garbage\n:\n0:\n0::relative\n"}}) == INFINITY);
}
