// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a problem's result must be, at sampled points, in higher precision and with a bound on the rounding errors that
/// a correct implementation may make.
#pragma once

#include "device.hpp"

#include <string>
#include <vector>

namespace tessera::perf {

/// Seed of an input of the problems, and of an operand of a system.
std::uint64_t input_seed(std::uint64_t seed, int input);
inline std::uint64_t operand_seed(std::uint64_t seed, std::size_t operand) {
  return input_seed(seed, 16 + int(operand));
}

struct Verdict {
  double error = 0.0;       ///< largest error relative to its bound; at most 1
  std::string failure;      ///< "" where the result is right
  double ulps = 0.0;        ///< largest error in units in the last place of the right value, in the result's type
  double misrounded = 0.0;  ///< share of the elements that are not the number nearest to the right value
};

/// Some elements of a result, and what each must be.
struct Samples {
  std::vector<std::int64_t> where;
  std::vector<long double> value, bound;  ///< in higher precision; what a correct implementation may err by

  void add(std::int64_t at, long double wanted, long double error) {
    where.push_back(at), value.push_back(wanted), bound.push_back(error);
  }
  std::vector<double> read(Device& device, const void* data, DType dtype) const;
  /// Takes what lies there for right.
  void adopt(Device& device, const void* data, DType dtype);
  /// `of`: what is said of an element beside its number, " of u".
  Verdict check(Device& device, const void* data, DType dtype, const std::string& of = "") const;
};

/// Why no result of the problem can be checked; "" where one can.
std::string uncheckable(const Problem& problem);

/// An element of a product: what it must be, and what it may err by, where it is rounded once, where what is activated
/// was rounded before, and where parts of the sum were rounded, too.
struct Element {
  long double value, bound, bound_rounded_before;
  long double bound_in_parts;  ///< of Rounding::in_parts
};
Element product_element(const Problem& problem, std::uint64_t seed, std::int64_t l, std::int64_t i, std::int64_t j,
                        int part = 0);

/// An array of an execution that is checked.
struct Checked {
  std::size_t array;  ///< its place among those of an execution
  DType dtype;
  std::int64_t count, gaps;  ///< elements, and those between rows, which must stay as they are
  std::string of;            ///< what is said of an element beside its number: " of u"
  Samples samples;
};

// ---- Stencils, in small windows of the domain: every step of one needs only what lies within steps x radius of it

/// False where a window's steps reach so far that following them would take minutes.
bool windows_are_affordable(const Problem& problem);
/// The most steps of such a problem of which they are.
std::int64_t affordable_steps(const Problem& problem);
/// Windows at corners, edges and inside.
Samples stencil_windows(const Problem& problem, std::uint64_t input_seed);

// ---- Systems: one step is interpreted point by point

/// The states and recordings. Of many steps the values lack.
std::vector<Checked> checked_arrays(const Problem& problem, std::uint64_t seed);

/// What the arrays of an execution, in the order of Fixture's, must hold after it.
class Reference {
 public:
  static constexpr std::size_t kOut = 3;  ///< the output behind the inputs; of a system there are Problem::operands

  Reference(const Problem& problem, std::uint64_t seed);
  /// False where so many steps cannot be followed in higher precision: adopt() is needed before check().
  bool complete() const;
  /// Takes what executions of the problem's parts in a row have left for right within the rounding errors of as many
  /// steps.
  void adopt(Device& device, void* const* arrays);
  /// The output was poisoned before the execution, unless it is added to: elements that were not written are found
  /// wherever they are.
  Verdict check(Device& device, void* const* arrays, Rounding rounding = Rounding::once) const;

 private:
  Samples sampled_product();
  Samples sampled_stencil() const;

  Problem problem_;
  std::uint64_t seed_;
  std::vector<Checked> checked_;
  /// Those of Rounding::before_activation and of Rounding::in_parts; of a product alone.
  std::vector<long double> bound_rounded_before_, bound_in_parts_;
};

}  // namespace tessera::perf
