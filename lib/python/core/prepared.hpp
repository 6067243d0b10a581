// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// b of products, prepared once.
#pragma once

#include "contexts.hpp"

#include <tessera/prepared.hpp>

#include <cstdint>
#include <optional>

namespace tessera::python {

/// What prepare() returns.
class Prepared {
 public:
  struct Form {
    std::int64_t k, n;
    DType dtype;      ///< of b
    DType dtype_a;    ///< that a must have
    bool transposed;  ///< to products in C order
    Compute compute;  ///< as it was asked for
    Sums sums;
  };
  Prepared(PreparedOperand operand, const Form& form) : operand_(std::move(operand)), form_(form) {}

  const Form& form() const { return form_; }
  /// Throws ValueError where it was freed.
  const PreparedOperand& operand() const;
  void free() { operand_.reset(); }
  /// An array without memory, of b's shape and type, that stands for b beside `a`.
  Array array(const Array& a) const;

 private:
  std::optional<PreparedOperand> operand_;
  Form form_;
};

/// Null where the argument is not one.
const Prepared* prepared_of(nb::handle b);

}  // namespace tessera::python
