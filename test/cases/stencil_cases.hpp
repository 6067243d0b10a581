// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil problems that every algorithm of every backend must solve. No test framework here: fuzz targets link
/// their lists and layouts, too.
#pragma once

#include <tessera/stencil.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// What the input holds.
enum class StencilData {
  random,       ///< uniform in [-1, 1]: compared within the rounding bound
  integers,     ///< integers (as the coefficients are) with every partial sum exact: compared bit for bit
  denormal,     ///< the same, scaled into the denormal numbers
  nan_and_inf,  ///< random, with a NaN, an Inf and a -Inf at a corner, a face and inside
};

struct StencilCase {
  std::string name;
  StencilDesc desc;  ///< dtype is the runner's to set
  StencilData data = StencilData::random;
  /// Part of the short list, for runs that repeat the same code (variants of a backend, tile parameters).
  bool essential = false;
};

std::vector<StencilCase> stencil_cases();
// Parts of them, in files of their own: boxes of taps, passes of several steps, and axes that lie in memory in every
// order.
std::vector<StencilCase> block_cases();
std::vector<StencilCase> fused_steps_cases();
std::vector<StencilCase> permuted_axes_cases();

/// How a list's coefficients are chosen. Both kinds are different at every offset: a symmetric list would hide
/// swapped taps.
enum class Weights {
  contracting,  ///< sum |c| = 1: errors do not grow with the steps
  integer,      ///< 1, -2, 3, -4, ...
};

using Offset = std::array<std::int64_t, TESSERA_MAX_RANK>;

/// Lists that the cases are made from.
Taps star(int rank, int radius, Weights weights);
Taps box(int rank, int radius, Weights weights);
/// So many offsets on each axis from `first` on; axes that there are not have one.
Taps block(int rank, const Offset& first, const Offset& count, Weights weights);
/// The same whose taps are products of a factor for each axis.
Taps product(int rank, const Offset& first, const Offset& count, Weights weights);
/// A multiple of the first point less such products: of rank 2.
Taps sharpening(int rank, const Offset& first, const Offset& count, Weights weights);
Taps scattered(int rank, Weights weights);                   ///< 13 taps, radius 8 in 1D, else 5; no pattern
Taps line(int rank, int axis, int radius, Weights weights);  ///< all taps of one axis
Taps one_sided(int rank, Weights weights);   ///< reads only at or above a point, differently far on each axis
Taps off_centre(int rank, Weights weights);  ///< a single tap that is not the point itself

struct Named {
  std::string name;
  Taps taps;
};

using Extents = std::vector<std::int64_t>;

/// "37x41".
inline std::string text(const Extents& extents) {
  std::string result;
  for (const std::int64_t extent : extents) result += (result.empty() ? "" : "x") + std::to_string(extent);
  return result;
}

/// Where the points lie. Axes of the caller's domain; unused entries are 1 (extents) or 0.
struct StencilLayout {
  std::array<std::int64_t, TESSERA_MAX_RANK> extents{1, 1, 1};
  std::array<std::array<std::int64_t, 2>, TESSERA_MAX_RANK> reach{};  ///< of the taps, low and high, 0 and more
  std::array<std::array<std::int64_t, 2>, TESSERA_MAX_RANK> halo{};   ///< ghost points that `in` holds
  std::array<std::int64_t, TESSERA_MAX_RANK> in_strides{}, out_strides{};
  std::int64_t in_first = 0;  ///< elements of `in` before the domain's first point
  std::int64_t in_span = 0;   ///< elements of `in`, ghost points included
  std::int64_t out_span = 0;

  std::int64_t points() const { return extents[0] * extents[1] * extents[2]; }
};

StencilLayout layout_of(const StencilDesc& desc);

}  // namespace tessera::test
