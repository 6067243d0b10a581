// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one model of a stencil's time. A kernel says what a pass does, and a pass takes
///
///     launch + the slower of memory and multiprocessors + a part of the other + waiting for the last threads
///
/// Pure functions, without CUDA.
#pragma once

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include "../machine.hpp"

#include <algorithm>

namespace tessera::cuda {

/// Bytes of a value that is computed on: coefficients and sums, and elements in tiles.
constexpr int value_bytes(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return int(sizeof(Scalar<T>)); });
}

/// How many times as long as on f32 arithmetic takes.
inline double arithmetic(const plugin::StencilProblem& p, const Machine& machine) {
  return value_bytes(p.dtype) == int(sizeof(double)) ? machine.stencil.sweep.f64 : 1.0;
}

/// The time in which all multiprocessors together spend so many cycles.
inline double all_cycles(const Machine& machine, double cycles) { return cycles / machine.cycles_per_second(); }

/// What a pass over the domain does, in seconds.
struct Sweep {
  double launch = 0.0;  ///< more than of every kernel
  double memory;        ///< to move arrays
  double computing;     ///< of all multiprocessors together, or of the busiest
  double overlap;       ///< the part of the shorter of these that the longer one does not hide
  double wait = 0.0;    ///< for the last threads
};
inline double seconds_of(const Sweep& s, const Machine& machine) {
  return machine.stencil.sweep.launch + s.launch + std::max(s.memory, s.computing) +
         s.overlap * std::min(s.memory, s.computing) + s.wait;
}

/// Bytes of an array of the domain.
inline double array_bytes(const plugin::StencilProblem& p) {
  return double(p.points()) * double(plugin::size_of(p.dtype));
}

/// The part of a problem's two arrays that the second-level cache does not keep from sweep to sweep.
double evicted_part(const plugin::StencilProblem& p, const Machine& machine);

/// The time to read an array of the domain and to write one, over and over: from the cache as far as it keeps them.
double copy_seconds(const plugin::StencilProblem& p, const Machine& machine);

/// Whether rows of all arrays of the steps begin on multiples of 16 bytes, as far as the strides tell.
bool rows_aligned(const plugin::StencilProblem& p);

/// Whether points near every side keep their values.
bool has_fixed_sides(const plugin::StencilProblem& p);

/// Warps along axis 2 of a sweep by rows that have points near the boundary, and whether these are computed from what a
/// mode puts outside, or keep their values.
struct BoundaryWarps {
  double count;
  bool computed;
};
BoundaryWarps boundary_warps(const plugin::StencilProblem& p);

/// Offers a way to run the problem in single sweeps of so many seconds.
void offer_sweeps(const plugin::StencilProblem& p, plugin::Parameters parameters, double sweep_seconds,
                  plugin::OfferList& offers);

}  // namespace tessera::cuda
