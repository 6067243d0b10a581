// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arrays of an execution of a system: checked, and in the plugin's order.
#pragma once

#include "problem/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::core {

class SystemOperands {
 public:
  /// `problem` outlives it.
  explicit SystemOperands(const Problem& problem);

  /// The operands in the plugin's order, those of series at the row of the first step. They are this object's until the
  /// next call. Throws what is wrong with the arguments. Allocates nothing.
  std::vector<tessera_operand>& take(const tessera_execution& execution);

 private:
  void check_shape(const tessera_execution& execution) const;
  [[noreturn]] void refuse_missing(std::uint64_t count) const;
  std::size_t place_of(tessera_role role) const;
  void check(std::size_t place, const tessera_operand& given) const;
  void skip_rows(std::int64_t first_step);
  void check_overlap();
  void require_apart(std::size_t i, std::size_t j) const;

  const Problem& problem_;
  std::vector<tessera_operand> operands_;
  /// Arrays that were found apart: programs go round among few.
  static constexpr std::size_t kRemembered = 8;
  std::array<std::vector<void*>, kRemembered> apart_;
  std::size_t next_ = 0;
};

}  // namespace tessera::core
