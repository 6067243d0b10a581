// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the persistent algorithm supports and how it lays out a problem: pure functions, without CUDA.
#pragma once

#include "../temporal/temporal.hpp"
#include "persistent_tiling.hpp"

#include <optional>
#include <span>
#include <string>

namespace tessera::cuda {

inline constexpr int kPersistentMostWarps = 16;  ///< of a block
inline constexpr int kPersistentMostDepth = 16;

/// Numbers of rows that a warp may keep, ascending, and how many of these have kernels for a tap list. The last ones
/// spill a few of their registers; more rows would spill many.
/// Those of 16-bit types are some of those of f32, so that there are fewer kernels.
template <class T>
struct PersistentRows {
  static constexpr int kCounts[4] = {4, 8, 16, 20};
  static constexpr int kStarR1 = 4, kStarR2 = 3, kBox = 3;
};
template <>
struct PersistentRows<float> {
  static constexpr int kCounts[] = {4, 6, 8, 12, 16, 20};
  static constexpr int kStarR1 = 6, kStarR2 = 5, kBox = 5;
};
template <>
struct PersistentRows<double> {
  static constexpr int kCounts[] = {4, 6, 8, 10};
  static constexpr int kStarR1 = 4, kStarR2 = 2, kBox = 3;
};

/// Those of a tap list.
template <class T>
constexpr std::span<const int> persistent_rows(const TemporalTaps& taps) {
  using Rows = PersistentRows<T>;
  return std::span(Rows::kCounts).first(taps.box ? Rows::kBox : taps.radius == 1 ? Rows::kStarR1 : Rows::kStarR2);
}
constexpr std::span<const int> persistent_rows(tessera_dtype dtype, const TemporalTaps& taps) {
  return with_types(dtype, [&]<class T>(std::type_identity<T>) { return persistent_rows<T>(taps); });
}

/// How a domain lies on the device: a block for each pair of a tile of rows and a tile of columns.
struct PersistentLayout {
  int rows;   ///< of a warp
  int warps;  ///< of a block, one above the other
  int depth;  ///< steps between two exchanges
  PersistentTiling row_tiling, column_tiling;

  int blocks() const { return row_tiling.count * column_tiling.count; }
};

/// The layout of a plan's parameters.
PersistentLayout persistent_layout(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                   const Machine& machine, const plugin::Parameters& parameters);

/// Bytes that the blocks exchange values through: two sets of arrays, so that what is published next is not what others
/// still read.
std::uint64_t persistent_workspace(const plugin::StencilProblem& problem, const PersistentLayout& layout);

/// Dynamic shared memory of a warp: its outer rows as values, twice, and what its lanes exchange with other blocks.
constexpr int persistent_warp_bytes(int radius, int value_size) {
  constexpr int kHaloMapBytes = 60;
  return 2 * 2 * radius * kWarpColumns * value_size + 32 * kHaloMapBytes;
}

}  // namespace tessera::cuda
