// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the temporal algorithm supports and how it lays out a problem: pure functions, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include "temporal_line.hpp"
#include "temporal_tiling.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::cuda {

inline constexpr int kTemporalMostRadius = 2;
inline constexpr int kTemporalSpan = 2 * kTemporalMostRadius + 1;

/// The tap lists that have kernels: every offset within the radius on all axes together (box) or on one axis at a
/// time (star), each exactly once.
struct TemporalTaps {
  int rank;
  bool box;
  int radius;
};

/// What the taps are, or nothing where there is no kernel for them.
std::optional<TemporalTaps> temporal_taps(const plugin::StencilProblem& problem);

/// "" where the boundary modes are such that several steps can share a pass over memory.
std::string why_not_fused(const plugin::StencilProblem& problem);

/// What kernels are compiled for.
struct TemporalTuning {
  int depth = 0;          ///< steps of the deepest pass; 0: there is no kernel
  int blocks_per_sm = 0;  ///< blocks that a multiprocessor should hold, which bounds their registers
  int warps = 1;          ///< of a block; in 3D each holds `rows` rows of a plane
  int rows = 1;

  constexpr int height() const { return warps * rows; }
};

/// The fastest of several that were measured on an H100 at 2^28, 16384 x 16384 and 512 x 512 x 512 points. A deeper
/// pass has less memory traffic and more overlap. Beyond these depths the registers leave too few warps, or spill.
struct TemporalTunings {
  TemporalTuning box2d, star2d_r1, star2d_r2, box3d, star3d;
  int line_blocks_per_sm[4];  ///< by radius - 1; in 1D registers do not depend on the depth
};

/// Those of 16-bit types: of f32 until they are measured, but with registers for rounding in 1D.
template <class T>
inline constexpr TemporalTunings kTemporalTunings{{6, 16},       {10, 12},     {6, 12},
                                                  {2, 1, 12, 4}, {3, 1, 8, 4}, {4, 4, 4, 3}};
template <>
inline constexpr TemporalTunings kTemporalTunings<float>{{6, 16},       {10, 12},     {6, 12},
                                                         {2, 1, 12, 4}, {3, 1, 8, 4}, {5, 4, 4, 3}};
template <>
inline constexpr TemporalTunings kTemporalTunings<double>{{6, 8},       {8, 8},       {4, 8},
                                                          {1, 1, 8, 3}, {2, 1, 8, 3}, {3, 3, 3, 3}};

inline constexpr int kLineWarps = 4;  ///< of a block, in 1D

template <class T>
constexpr TemporalTuning temporal_tuning(const TemporalTaps& taps) {
  constexpr const TemporalTunings& kAll = kTemporalTunings<T>;
  if (taps.rank == 1)
    return {most_line_depth(taps.radius, tessera_dtype(kDType<T>)), kAll.line_blocks_per_sm[taps.radius - 1],
            kLineWarps};
  if (taps.radius == 1)
    return taps.rank == 2 ? taps.box ? kAll.box2d : kAll.star2d_r1 : taps.box ? kAll.box3d : kAll.star3d;
  return taps.rank == 2 && !taps.box && taps.radius == 2 ? kAll.star2d_r2 : TemporalTuning{};
}
constexpr TemporalTuning temporal_tuning(tessera_dtype dtype, const TemporalTaps& taps) {
  return with_types(dtype, [&]<class T>(std::type_identity<T>) { return temporal_tuning<T>(taps); });
}

/// How steps are dealt to passes of at most `depth`: all passes get about as many, the last ones a step more.
class TemporalPasses {
 public:
  TemporalPasses(std::int64_t steps, std::int64_t depth)
      : steps_(steps), count_(steps / depth + (steps % depth != 0)) {}
  std::int64_t count() const { return count_; }
  /// Of pass 0, 1, ...
  std::int64_t depth(std::int64_t pass) const { return steps_ / count_ + (pass >= count_ - steps_ % count_ ? 1 : 0); }

 private:
  std::int64_t steps_, count_;
};

/// The depths that a pass of the steps can have, up to the deepest. Others make the same passes as one of these.
std::vector<std::int64_t> useful_depths(std::int64_t steps, std::int64_t deepest);

inline constexpr int kTile15dStages = 8;  ///< rows of a tile's input in flight, and the one that is read
inline constexpr int kTile25dStages = 4;  ///< planes likewise

/// Shared memory of a block in 3D: the planes of its warps as elements, and their outer rows twice as values.
constexpr int tile25d_bytes(const TemporalTuning& tuning, int element_size, int value_size) {
  return tuning.warps * (kTile25dStages * tuning.rows * element_size + 2 * 2 * value_size) * kWarpColumns;
}

/// How a pass cuts the domain: tiles of columns, in 3D also tiles of rows, and chunks of the sweep axis, which is the
/// outermost one.
struct TemporalLayout {
  AxisTiling columns, rows;
  int column_tiles, row_tiles;
  int chunks, chunk;  ///< number of chunks, points of one
  double busiest;     ///< rows (in 3D planes) of tiles that the busiest scheduler (multiprocessor) computes

  std::int64_t blocks() const { return std::int64_t(column_tiles) * row_tiles * chunks; }
};

/// The layout of least estimated time for passes of `depth` steps. `chunk`: taken as given where it is not 0.
TemporalLayout choose_layout(const plugin::StencilProblem& problem, const TemporalTaps& taps, int depth,
                             int multiprocessors, int chunk = 0);

}  // namespace tessera::cuda
