// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small random waves with a source and a receiver.
#pragma once

#include "problems.hpp"

#include <optional>

namespace tessera::test {

/// Nothing where the algorithm cannot.
template <class T>
std::optional<Problem> system_problem(const std::string& backend, const PlanOptions& options, std::mt19937& random);

}  // namespace tessera::test
