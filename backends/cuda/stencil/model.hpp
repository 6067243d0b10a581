// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the stencils' models of time share. Pure functions, without CUDA.
#pragma once

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/problem.hpp>

#include "../machine.hpp"

#include <algorithm>

namespace tessera::cuda {

/// The costs of an element type: those of 16 bits share theirs.
template <class T>
inline constexpr StencilTypeCosts StencilCosts::*kTypeCosts = &StencilCosts::narrow;
template <>
inline constexpr StencilTypeCosts StencilCosts::*kTypeCosts<float> = &StencilCosts::f32;
template <>
inline constexpr StencilTypeCosts StencilCosts::*kTypeCosts<double> = &StencilCosts::f64;

inline const StencilTypeCosts& type_costs(const Machine& machine, tessera_dtype dtype) {
  return with_types(
      dtype, [&]<class T>(std::type_identity<T>) -> const StencilTypeCosts& { return machine.stencil.*kTypeCosts<T>; });
}

/// Bytes of a value that is computed on: coefficients and sums, and elements in tiles.
constexpr int value_bytes(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return int(sizeof(Scalar<T>)); });
}

/// The time in which all multiprocessors together spend so many cycles.
inline double all_cycles(const Machine& machine, double cycles) { return cycles / machine.cycles_per_second(); }

/// The time of two things that overlap, but for a part of the shorter one.
inline double overlapped(double a, double b, double part) { return std::max(a, b) + part * std::min(a, b); }

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
