// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a single sweep is cut into pieces of work.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>

namespace tessera::cpu {

/// A layer is what lies at one index of axis 0, or at several where bundles of rows are computed together; its pieces
/// are rows or their segments, in all its planes. A thread visits one block of pieces in all of its layers, then the
/// next block.
struct Cut {
  std::int64_t segment, segments;  ///< points of a segment, segments of a row
  std::int64_t depth;              ///< planes of a layer
  std::int64_t layer, block;       ///< pieces of a layer and of a block
};

/// Enough segments to share few long rows evenly; a row is one segment where there are many, and then layers have
/// `depth` planes. Blocks so small that what taps read of the planes around stays in half of a core's cache, but larger
/// than what they share with their neighbours.
Cut cut_of(const plugin::StencilProblem& problem, int threads, std::int64_t depth, std::int64_t cache);

/// Planes that go together: those of a bundle, where rows are contiguous and long enough and, if streamed, all begin at
/// one place of a cache line. Not where planes are single rows, which the caches hold: they are faster one by one.
std::int64_t common_planes(const plugin::StencilProblem& problem, bool stream);

}  // namespace tessera::cpu
