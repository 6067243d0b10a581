// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The end of the program after damage to memory. What follows could not be trusted: even malloc() may wait for ever.
#pragma once

#include <string>

namespace tessera::test {

/// Names what runs while this object lives. A fatal signal meanwhile prints the name and ends the program at once.
class Running {
 public:
  explicit Running(const std::string& what);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

/// Prints what runs and the damage, and ends the program with a status that is not 0. No destructor is called.
[[noreturn]] void stop(const std::string& damage);

}  // namespace tessera::test
