// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How long stencils take: pure functions of the problem, the machine and the cut. Problems have their sweep axis
/// first.
#pragma once

#include "../machine.hpp"
#include "sweep_cut.hpp"
#include "tap_groups.hpp"
#include "temporal_shape.hpp"

#include <tessera/plugin/problem.hpp>
#include <tessera/plugin/tap_terms.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::cpu {

/// A problem, and what all its models ask.
struct StencilWork {
  plugin::StencilProblem problem;  ///< with its sweep axis first, and its taps as grouped
  std::optional<DenseBox> box;     ///< that the taps fill
  bool by_offset;                  ///< whether they are in the order of their offsets, without groups
  std::vector<TapGroup> groups;
  int block_rows;      ///< rows of each plane in blocks of rows; 0: there are none
  double block_loads;  ///< vectors that these load for each vector of results
  double shared;       ///< taps that a loop over a single row adds with their neighbours
  double row_loads;    ///< vectors that it loads for each vector of results

  StencilWork(const plugin::StencilProblem& as_given, const InstructionSet& instructions);

  std::int64_t element() const { return std::int64_t(plugin::size_of(problem.dtype)); }
  /// Cache lines of results of a step.
  double lines() const { return double(problem.points()) * double(element()) / double(kLineBytes); }
  double rows() const { return double(problem.domain.extents[0]) * double(problem.domain.extents[1]); }
};

/// Single sweeps, row by row.
double sweeps_seconds(const Machine& machine, const StencilWork& work, const Cut& cut, bool nontemporal, int threads);

/// Passes of several steps.
double passes_seconds(const Machine& machine, const StencilWork& work, const TemporalShape& shape, int threads);

/// Sums along rows, then along the other axes.
double separable_seconds(const Machine& machine, const StencilWork& work, const plugin::TapTerms& terms, int threads);

/// Whether its results go past the caches.
bool separable_passes_caches(const Machine& machine, const StencilWork& work, int threads);

double reference_seconds(const Machine& machine, const plugin::StencilProblem& problem);

}  // namespace tessera::cpu
