// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "separable" cuts a domain, and its plans by type. Without CUDA.
#pragma once

#include "../offers.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/tap_factors.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace tessera::cuda {

class Context;

/// Rows that a block computes at a time, and threads of each.
inline constexpr int kSeparableRows = 12, kSeparableLanes = 8, kSeparableThreads = kSeparableRows * kSeparableLanes;

/// A block computes strips of kSpan columns, so many rows at a time: a thread sums kPoints neighbours of a row, then as
/// many of a column. With an odd number of vectors the eight threads of a row meet all banks of the shared memory.
template <class S>
struct SeparablePoints {
  static constexpr int kWidth = int(16 / sizeof(S)), kVectors = 3, kPoints = kVectors * kWidth;
  static constexpr int kSpan = kSeparableLanes * kPoints;
};

/// What a block does. It marches along axis 0 if the taps have several places there, else along axis 1. Sizes in points
/// and taps.
struct SeparableLayout {
  int span;                                       ///< columns of a strip
  int first[plugin::kAxes], taps[plugin::kAxes];  ///< the box
  int march;                                      ///< the axis
  int early;   ///< points before the domain that rows begin with, so that cells begin on a vector
  int rows;    ///< of cells in a stage: those of a batch of rows, or of a plane
  int pitch;   ///< of these
  int lag;     ///< stages that come before the first one after which points are complete
  int groups;  ///< vectors of all axes' factors
  int cell_bytes, sum_bytes, ring_bytes;  ///< of a stage's cells, and of sums along rows, and along rows and columns
  int segment;                            ///< stages of points of a block
  int tiles[plugin::kAxes];               ///< blocks

  int shared_bytes() const { return 2 * cell_bytes + sum_bytes + ring_bytes + groups * 16; }
  double blocks() const { return double(tiles[0]) * tiles[1] * tiles[2]; }
};

/// The layout with so many stages to a block (0: as fill the device), or none where shared memory or a grid does not
/// hold it.
std::optional<SeparableLayout> separable_layout(const plugin::StencilProblem& problem, const Machine& machine,
                                                const plugin::TapFactors& factors, std::int64_t segment);

/// With so many stages to a block.
template <class T>
std::unique_ptr<plugin::Plan> make_separable(Context& context, const plugin::StencilProblem& problem,
                                             std::int64_t segment);

}  // namespace tessera::cuda
