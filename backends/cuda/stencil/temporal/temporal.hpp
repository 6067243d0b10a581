// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the temporal algorithm supports and how it cuts a problem: pure functions, without CUDA.
#pragma once

#include <tessera/plugin/problem.hpp>

#include "temporal_tiling.hpp"
#include "temporal_line.hpp"

#include <cstdint>
#include <optional>
#include <string>

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

/// "" where the problem has kernels and a domain that they can be used on, if the device has room for a block.
std::string why_not_temporal(const plugin::StencilProblem& problem);

/// Several steps, or in some volumes one, on a domain that fills the device: faster than other sweeps, as measured on
/// an H100.
bool temporal_pays(const plugin::StencilProblem& problem);

/// What kernels are compiled for.
struct TemporalTuning {
  int depth;     ///< steps of the deepest pass; 0: there is no kernel
  int resident;  ///< blocks that a multiprocessor should hold, which bounds their registers
  int warps;     ///< of a block, each with a strip of `rows` rows of a plane; with two axes 1 and 1, with one 4 and 1
  int rows;

  constexpr int height() const { return warps * rows; }
};

/// The fastest of several that were measured on an H100 at 2^28, 16384 x 16384 and 512 x 512 x 512 points. Deeper
/// passes meet less memory traffic with more overlap; beyond these the registers of a deeper one leave too few warps,
/// or spill. In 1D registers do not depend on the depth, which choose_line_depth() chooses.
constexpr TemporalTuning temporal_tuning(const TemporalTaps& taps, bool f64) {
  if (taps.rank == 1)
    return {most_line_depth(taps.radius, f64), f64 || taps.radius == 4 ? 3 : taps.radius == 1 ? 5 : 4, 4, 1};
  if (taps.rank == 2 && taps.box && taps.radius == 1) return {6, f64 ? 8 : 16, 1, 1};
  if (taps.rank == 2 && !taps.box && taps.radius == 1) return {f64 ? 8 : 10, f64 ? 8 : 12, 1, 1};
  if (taps.rank == 2 && !taps.box && taps.radius == 2) return {f64 ? 4 : 6, f64 ? 8 : 12, 1, 1};
  if (taps.rank == 3 && taps.box && taps.radius == 1) return {f64 ? 1 : 2, 1, f64 ? 8 : 12, f64 ? 3 : 4};
  if (taps.rank == 3 && !taps.box && taps.radius == 1) return {f64 ? 2 : 3, 1, 8, f64 ? 3 : 4};
  return {0, 0, 0, 0};
}

/// How steps are dealt to passes of at most `depth`: to all about as many, the last ones having a step more.
class TemporalPasses {
 public:
  TemporalPasses(std::int64_t steps, std::int64_t depth)
      : steps_(steps), count_(steps / depth + (steps % depth != 0)) {}
  std::int64_t count() const { return count_; }
  /// Of pass 0, 1, ...
  std::int64_t depth(std::int64_t pass) const { return until(pass + 1) - until(pass); }

 private:
  std::int64_t until(std::int64_t pass) const { return steps_ / count_ * pass + steps_ % count_ * pass / count_; }
  std::int64_t steps_, count_;
};

/// How a domain is cut: `strips` of columns, with three axes also `tiles` of rows, and `pieces` of the outermost axis,
/// of `piece` points each.
struct TemporalCut {
  StripCut columns, rows;
  int strips, tiles, pieces, piece;
};

/// What the cut takes into account of the device.
struct TemporalDevice {
  int multiprocessors;
  int resident;  ///< blocks that one of them holds
};

/// The cut of least estimated time for passes of `depth` steps. `piece`: taken as given where it is not 0.
TemporalCut cut_domain(const plugin::StencilProblem& problem, const TemporalTaps& taps, int depth,
                       const TemporalDevice& device, int piece = 0);

}  // namespace tessera::cuda
