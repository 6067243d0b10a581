// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a run of tessera-conformance examines: one backend, all its algorithms.
#pragma once

#include "random.hpp"

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Of D, that a product computes.
enum class Part { whole, triangle };

/// What TESSERA_TEST_BACKEND names ("cpu", "cpu-v3", "cuda"), opened. Where it cannot be used, the running test case is
/// skipped with the reason; if TESSERA_REQUIRE_BACKENDS names the backend, it fails.
class Subject {
 public:
  explicit Subject(int threads = 0);
  Context& context() { return context_; }
  const std::string& spec() const { return spec_; }
  /// Names of the algorithms, asked from the registry; empty for systems alone, which a backend may not know.
  std::vector<std::string> algorithms(tessera_op op) const;
  /// The same, or the one that TESSERA_TEST_ALGORITHM names: none where it is one of the other operation.
  std::vector<std::string> tested(tessera_op op, Part part = Part::whole) const;
  /// Whether the backend must solve every case; another one may refuse the newer types, bias and activation.
  bool is_complete() const;
  std::uint64_t device_memory_bytes() const;
  /// Ends the test case unless the plan runs where and how it was asked to.
  void check_forced(const Plan& plan, const std::string& algorithm) const;

 private:
  std::string spec_;
  std::int64_t index_;  ///< in the registry
  Context context_;
};

/// TESSERA_TEST_SHORT = n: only each n-th of the essential cases; 0 when it is not set: all cases.
std::size_t short_list();

/// TESSERA_TEST_SAMPLE = n: of each n consecutive cases one, drawn with the seed, so that every run has others; 1 where
/// it is not set or TESSERA_TEST_ALL is 1. Says how the same ones are had again.
std::size_t sample_of();

/// Moves the sample of this run to the front; the number of cases in it.
template <class Case>
std::size_t draw_sample(std::vector<Case>& cases) {
  const std::size_t each = sample_of();
  Random random("sample");
  std::size_t drawn = 0;
  for (std::size_t first = 0; first < cases.size(); first += each) {
    const std::size_t chosen = first + random.bits() % std::min(each, cases.size() - first);
    std::swap(cases[drawn++], cases[chosen]);
  }
  return drawn;
}

/// Counts what an algorithm did, so that none passes by refusing everything.
struct Tally {
  int run = 0;
  int failed = 0;
  std::map<std::string, int> refused;  ///< by reason
};

/// Prints the tally and fails where nothing was run, unless an algorithm may refuse all: of types of 16 bits it may.
void report(const std::string& what, const Tally& tally, bool may_refuse_all = false);

/// Whether the algorithm is for some types, or some arithmetic, alone.
bool is_for_some_products(const std::string& algorithm);

/// Other settings of a plan's parameters: from "tile:width=32,stages=3" all of "tile:width=16", "tile:width=33",
/// "tile:stages=2" and so on, whether the algorithm takes them or not.
std::vector<std::string> neighbours(const std::string& algorithm_with_parameters);

}  // namespace tessera::test
