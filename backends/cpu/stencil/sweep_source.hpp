// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arrays of a sweep, and its taps as offsets in them.
#pragma once

#include "../thread_pool.hpp"
#include "register_block_kernel.hpp"
#include "row_kernel.hpp"
#include "tap_groups.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// An array that sweeps read, with the taps of a row away from the outer boundaries.
template <class T>
struct Source {
  plugin::Index3 strides;
  RowTerms<T> terms;
  std::vector<StridedGroup<Scalar<T>>> groups;  ///< the same taps
  std::int64_t newest;                          ///< from a point to what its taps read that no row before has read
  std::int64_t lowest = 0, highest = 0;         ///< from a point to the first and the last that its taps read
  std::int64_t last = 0;                        ///< element of the array
  std::int64_t first_tap = 0;                   ///< from a point to what the first of its taps reads

  /// `groups` are those of the problem's taps, in that order.
  Source(const plugin::StencilProblem& p, const std::vector<TapGroup>& tap_groups, const plugin::Index3& s)
      : strides(s), terms(p.taps.size()), newest(distance({p.domain.reach[0][1], p.domain.reach[1][1], 0}, s)) {
    for (const auto& [offset, coefficient] : p.taps) {
      terms.push(distance({offset[0], offset[1], 0}, s), offset[2], s[2], Scalar<T>(coefficient));
      lowest = std::min(lowest, distance(offset, s));
      highest = std::max(highest, distance(offset, s));
    }
    if (!p.taps.empty()) first_tap = distance(p.taps.front().offset, s);
    const Scalar<T>* coefficient = terms.coefficient.data();
    for (const TapGroup& group : tap_groups) {
      groups.push_back(strided_group(group, s, coefficient));
      coefficient += tap_count(group.pattern);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) last += (p.domain.extents[axis] - 1) * s[axis];
  }
};

/// What a sweep reads and writes.
template <class T>
struct Sweep {
  const Source<T>& source;
  const T* in;
  T* out;
  plugin::Index3 out_strides;
};

/// Steps of a problem on the operands of an execution: body(Team, step, SweepArrays), as run_steps() has it.
template <class T, class Body>
void run_sweeps(int threads, const plugin::StencilProblem& p, const plugin::Execution& execution, Body&& body) {
  const T* in = execution.operand<const T>(0);
  T* out = execution.operand<T>(1);
  T* workspace = execution.workspace<T>();
  run_steps(threads, p.steps,
            [&](Team team, std::int64_t step) { body(team, step, plugin::sweep_arrays(p, in, out, workspace, step)); });
}

}  // namespace tessera::cpu
