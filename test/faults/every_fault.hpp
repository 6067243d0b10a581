// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A piece of work, repeated until each call that it makes has failed.
#pragma once

#include "injection.hpp"

#include <functional>
#include <stdexcept>

namespace tessera::test {

/// A wrong result where no error was reported.
struct WrongResult : std::logic_error {
  using std::logic_error::logic_error;
};

/// What must not grow: memory and objects of a device, or these objects alone.
enum class Counted { all, device };

/// Lets the first, the second, ... call of the family in `work` fail, once and for good, until `work` ends before that
/// call. Each time `work` either does all that it should, or throws a tessera::Error of a fitting code with a message;
/// then it must succeed, and leave no more memory behind than before. `work` checks its results itself.
void every_fault(Family family, const std::function<void()>& work, Counted counted = Counted::all);

}  // namespace tessera::test
