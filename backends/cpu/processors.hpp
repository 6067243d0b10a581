// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How much of the machine this process may use.
#pragma once

#include <string>

namespace tessera::cpu {

/// Processors that the calling thread may run on (sched_getaffinity), at least 1.
int allowed_processors();

/// Processors' worth of time that the control groups of this process allow it (cpu.max of version 2,
/// cpu.cfs_quota_us and cpu.cfs_period_us of version 1), the least of all levels; infinity where there is no limit.
/// `root` stands before the names of files: for tests.
double quota_processors(const std::string& root = "");

/// Threads that may be worth having: allowed processors, and whole ones' worth of time, rounded up.
int useful_processors();

}  // namespace tessera::cpu
