// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Work that several threads share, for every algorithm of a backend.
#pragma once

#include "floating_modes.hpp"

#include <tessera/tessera.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// A plan with its operands.
class Job {
 public:
  virtual ~Job() = default;
  /// Executes it and returns a hash of the result's bits.
  virtual std::uint64_t run() = 0;
  std::string name;                    ///< of operation, type and algorithm
  const FloatingMode* mode = nullptr;  ///< that run() executes in; null: the caller's
};
using Jobs = std::vector<std::unique_ptr<Job>>;

/// What to make jobs of: of every algorithm, every type, and sizes worth four threads or more.
struct Workload {
  std::string backend;
  int threads = 4;                     ///< of the context
  std::uint64_t workspace_limit = 0;   ///< of the plans
  bool large = false;                  ///< worth more threads than a plan may have
  bool tiny = false;                   ///< of elements that are subnormal numbers
  const FloatingMode* mode = nullptr;  ///< that contexts and plans are made and executed in; null: the caller's
};

Context context_of(const Workload& workload);
Jobs jobs_of(const Context& context, const Workload& workload);

/// Hashes of the results of all jobs.
std::vector<std::uint64_t> results(const Jobs& jobs);
inline std::vector<std::uint64_t> results(const Workload& workload) {
  return results(jobs_of(context_of(workload), workload));
}

/// Throws with the names of the jobs whose hashes differ.
void require_same(const Jobs& jobs, const std::vector<std::uint64_t>& hashes, const std::string& where);

}  // namespace tessera::test
