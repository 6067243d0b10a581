// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a single sweep is cut into units of work.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// A layer is what lies at one index of axis 0, or at several where blocks of rows are computed together. Its segments
/// are rows, or parts of rows, in all its planes. A thread visits one block of segments in all of its layers, then the
/// next block.
struct Cut {
  std::int64_t segment_points, row_segments;  ///< points of a segment, segments of a row
  std::int64_t planes;                        ///< of a layer
  std::int64_t layer_segments, block_segments;
};

/// Enough segments to share few long rows evenly. A row is one segment where there are many rows, and then layers have
/// `planes` planes. Blocks are so small that what taps read of the planes around stays in half of a core's cache, but
/// larger than what they share with their neighbours.
Cut cut_of(const plugin::StencilProblem& problem, int threads, std::int64_t planes, std::int64_t cache);

/// Planes that are computed together: those of a block of rows, where elements have no 16 bits, rows are contiguous and
/// long enough and, with non-temporal stores, all begin at one place of a cache line. Not where planes are single rows:
/// the caches hold them, and they are faster one by one.
std::int64_t common_planes(const plugin::StencilProblem& problem, bool nontemporal);

}  // namespace tessera::cpu
