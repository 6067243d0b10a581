// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the resident algorithm supports and how it lays out a problem: pure functions, without CUDA.
#pragma once

#include "persistent_tiling.hpp"
#include "../temporal/temporal.hpp"

#include <optional>
#include <span>
#include <string>

namespace tessera::cuda {

inline constexpr int kResidentMostWarps = 16;  ///< of a block
inline constexpr int kResidentMostDepth = 16;

/// Numbers of rows that a warp may keep, ascending; kernels are compiled for them. The last ones spill a few of their
/// registers, more rows would spill many.
inline constexpr int kResidentStarRows[] = {4, 6, 8, 12, 16, 20}, kResidentRows[] = {4, 6, 8, 12, 16};
inline constexpr int kResidentStarRows64[] = {4, 6, 8, 10}, kResidentBoxRows64[] = {4, 6, 8},
                     kResidentRows64[] = {4, 6};

/// Those of a tap list.
constexpr std::span<const int> resident_rows(const TemporalTaps& taps, bool f64) {
  if (!taps.box && taps.radius == 1) return f64 ? std::span<const int>(kResidentStarRows64) : kResidentStarRows;
  if (!f64) return kResidentRows;
  return taps.box ? std::span<const int>(kResidentBoxRows64) : kResidentRows64;
}

/// How a domain lies on the device: a block for each pair of pieces.
struct ResidentLayout {
  int rows;   ///< of a warp
  int warps;  ///< of a block, one above the other
  int depth;  ///< steps between two exchanges
  ResidentCut row_cut, column_cut;

  int blocks() const { return row_cut.count * column_cut.count; }
};

/// What is asked for; 0: any.
struct ResidentWish {
  int depth = 0, rows = 0, warps = 0;
};

/// The layout of least estimated time that a device with so many multiprocessors holds, if there is one.
std::optional<ResidentLayout> choose_resident(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                              int multiprocessors, const ResidentWish& wish = {});

/// "" where there are kernels for the problem and the device holds its domain.
std::string why_not_resident(const plugin::StencilProblem& problem, int multiprocessors);

/// Whether so many steps repay a launch of all blocks at once, if the problem is supported; as measured on an H100.
bool resident_pays(const plugin::StencilProblem& problem);

}  // namespace tessera::cuda
