// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How "separable" cuts a domain, and its plans by type. Without CUDA.
#pragma once

#include "../offers.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/tap_terms.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace tessera::cuda {

class Context;

inline constexpr int kSeparableThreads = 96;

/// A block computes strips of kSpan columns, kRows rows at a time: a thread sums kPoints neighbours of a row, then as
/// many of a column. The kLanes threads of a row lie an odd number of vectors apart, or rows do: so eight threads that
/// load a vector each meet all banks of the shared memory.
template <class S, bool kVolume>
struct SeparablePoints {
  static constexpr int kWidth = int(16 / sizeof(S)), kVectors = kVolume ? 3 : 6, kPoints = kVectors * kWidth;
  static constexpr int kLanes = kVolume ? 8 : 4, kSpan = kLanes * kPoints, kRows = kSeparableThreads / kLanes;
  static constexpr int kSumPitch = kVolume ? kSpan : kSpan + kWidth;  ///< of sums along rows, in shared memory
};
/// Of shared memory, for a barrier.
inline constexpr int kSeparableBarrierBytes = 16;

/// What a block does. It marches along axis 0 if the taps have several places there, else along axis 1. Sizes in points
/// and taps.
struct SeparableLayout {
  int span, batch;                                ///< columns of a strip, and rows of points at a time
  int first[plugin::kAxes], taps[plugin::kAxes];  ///< the box; on axis 2, `first` is that of the first cell
  int lead[plugin::kAxes];                        ///< what the first vector of an axis's taps lacks
  int rest;                                       ///< taps of the last vector of axis 2, if it has not all
  int before;                                     ///< cells before the first vector
  int march;                                      ///< the axis
  int rows;                                       ///< of cells in a stage: those of a batch of rows, or of a plane
  int columns;                                    ///< of these, which lie
  int pitch;                                      ///< so far apart
  int lag;                                ///< stages that come before the first one after which points are complete
  int skip;                               ///< rows at the begin of the first stage that no point needs
  int terms;                              ///< products whose sum the taps are; one where it marches along axis 0
  int groups;                             ///< vectors of all axes' factors of a term
  int cell_bytes, sum_bytes, ring_bytes;  ///< of a stage's cells, of a term's sums along rows, and of those along both
  int segment;                            ///< stages of points of a block
  int tiles[plugin::kAxes];               ///< blocks

  int shared_bytes() const {
    return kSeparableBarrierBytes + cell_bytes + terms * (sum_bytes + groups * 16) + ring_bytes;
  }
  int first_cell() const { return first[2]; }  ///< of the first row of the first block
  double blocks() const { return double(tiles[0]) * tiles[1] * tiles[2]; }
};

/// The layout with so many stages to a block (0: as fill the device), or none where shared memory or a grid does not
/// hold it.
std::optional<SeparableLayout> separable_layout(const plugin::StencilProblem& problem, const Machine& machine,
                                                const plugin::TapTerms& terms, std::int64_t segment);

/// With so many stages to a block.
template <class T>
std::unique_ptr<plugin::Plan> make_separable(Context& context, const plugin::StencilProblem& problem,
                                             std::int64_t segment);

}  // namespace tessera::cuda
