// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a function that stands for another one asks before it does its work.
#pragma once

#include "injection.hpp"

namespace tessera::test {

/// Counts a call of the family by the code at `caller`; true where it is to fail.
bool call_fails(Family family, const void* caller) noexcept;

}  // namespace tessera::test
