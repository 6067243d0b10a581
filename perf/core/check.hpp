// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a problem's result must be, at sampled points, in higher precision and with a bound on the rounding errors that
/// a correct implementation may make.
#pragma once

#include "samples.hpp"

namespace tessera::perf {

/// Seed of an input of the problems.
std::uint64_t input_seed(std::uint64_t seed, int input);

/// Why no result of the problem can be checked; "" where one can.
std::string uncheckable(const Problem& problem);

/// An element of a product: what it must be, and what it may err by, where it is rounded once, and where what is
/// activated was rounded before.
struct Element {
  long double value, bound, bound_rounded_before;
};
Element product_element(const Problem& problem, std::uint64_t seed, std::int64_t l, std::int64_t i, std::int64_t j);

class Reference {
 public:
  Reference(const Problem& problem, std::uint64_t seed);
  /// False where so many steps cannot be followed in higher precision: adopt() is needed before check().
  bool complete() const { return samples_.value.size() == samples_.where.size(); }
  /// Takes `out`, of executions of the problem's parts in a row, for right within the rounding errors of as many steps.
  void adopt(Device& device, const void* out) { samples_.adopt(device, out, problem_.kind.dtype_out); }
  /// `out` was poisoned before the execution: elements that were not written are found wherever they are.
  Verdict check(Device& device, const void* out, Rounding rounding = Rounding::once) const;

 private:
  void sample_gemm();
  void sample_stencil();
  void sample_many_steps();

  Problem problem_;
  std::uint64_t seed_;
  Samples samples_;
  std::vector<long double> bound_rounded_before_;  ///< those of Rounding::before_activation; of stencils none
};

}  // namespace tessera::perf
