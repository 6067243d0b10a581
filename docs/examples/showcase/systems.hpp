// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The part of the showcase with systems of fields, on every backend and algorithm that has them.
#pragma once

#include "backends.hpp"
#include "report.hpp"
#include "system_case.hpp"

#include <filesystem>
#include <vector>

namespace showcase {

/// A shot: a source above layers of rock, whose waves a line of receivers records.
template <tessera::Element T>
SystemCase<T> shot_case();
/// Gray-Scott: two substances that react and diffuse, from a few spots of the second.
template <tessera::Element T>
SystemCase<T> reaction_case();
/// The electric field across a cavity with conducting walls, and the magnetic one along it: one mode, which rings.
template <tessera::Element T>
SystemCase<T> cavity_case();

/// What the pictures need to know: the extents of the shot, its steps and receivers, the extents of the reaction.
inline constexpr std::int64_t kShotRows = 300, kShotColumns = 400, kShotSteps = 1800, kShotReceivers = 200;
inline constexpr std::int64_t kReactionSide = 192;

/// Runs them all, and draws what the first algorithm that got it right has made in f32.
void run_systems(std::vector<Backend>& backends, Report& report, const std::filesystem::path& pictures);

}  // namespace showcase
