// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A validated system as plugins see it.
#pragma once

#include "problem/system.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace tessera::core {

/// A system with its C structs, which point into it: explicit strides, types, boxes and ways of the next level; updates
/// by stages. Operands are each field's levels, the newest first, then the series of injections and of recordings.
class CanonicalSystem {
 public:
  explicit CanonicalSystem(System system);
  CanonicalSystem(const CanonicalSystem&) = delete;
  CanonicalSystem& operator=(const CanonicalSystem&) = delete;

  const System& system() const { return system_; }
  const tessera_system_desc* desc() const { return &desc_; }
  /// Names of the operands: "u", "u[-1]", "injections[0]".
  const std::deque<std::string>& names() const { return names_; }

 private:
  void describe(const System::Field& field);
  void describe(const System::Update& update);
  tessera_points described(const System::Points& points);

  System system_;
  std::vector<tessera_field> fields_;
  std::deque<std::vector<tessera_group>> groups_;
  std::vector<tessera_update> updates_;
  std::deque<std::vector<std::int64_t>> places_;
  std::vector<tessera_points> injections_, recordings_;
  std::deque<std::string> names_;
  tessera_system_desc desc_{};
};

/// The level `level` (0: the newest, 1: the one before) of a state after `steps` steps from levels in the order of the
/// operands: the place of its operand. Without a level in place one array more takes its turn, whose values are brought
/// to the operand that is free.
int place_of_level(const System::Field& field, std::int64_t steps, int level);

}  // namespace tessera::core
