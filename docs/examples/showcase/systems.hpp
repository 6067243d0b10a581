// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The part of the showcase with systems of fields, on every backend and algorithm that has them.
#pragma once

#include "backends.hpp"
#include "pictures.hpp"
#include "report.hpp"
#include "system_case.hpp"

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

/// What the pictures need to know. Of the shot: its extents, steps, the first of its receivers and their number, metres
/// between points and seconds of a step. Of the reaction: its extents and steps.
inline constexpr std::int64_t kShotRows = 300, kShotColumns = 400, kShotSteps = 1800;
inline constexpr std::int64_t kShotSource = 120, kShotReceivers = 200;
inline constexpr double kShotSpacing = 10.0, kShotTimeStep = 1e-3;
inline constexpr std::int64_t kReactionSide = 192, kReactionSteps = 6000;

/// Runs them all, and draws what the first algorithm that got it right has made in f32.
void run_systems(std::vector<Backend>& backends, Report& report, Pictures& pictures);

}  // namespace showcase
