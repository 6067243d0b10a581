// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Some elements of a result, and what each must be.
#pragma once

#include "device.hpp"

#include <string>
#include <vector>

namespace tessera::perf {

struct Verdict {
  double error = 0.0;   ///< largest error relative to its bound; at most 1
  std::string failure;  ///< "" where the result is right
};

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

}  // namespace tessera::perf
