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
template <class T>
struct PersistentRows;
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

/// What is asked for; 0: any.
struct PersistentRequest {
  int depth = 0, rows = 0, warps = 0;
};

/// The layout of least estimated time that a device with so many multiprocessors holds, if there is one.
std::optional<PersistentLayout> choose_persistent(const plugin::StencilProblem& problem, const TemporalTaps& taps,
                                                  int multiprocessors, const PersistentRequest& request = {});

/// "" where there are kernels for the problem and the device holds its domain.
std::string why_not_persistent(const plugin::StencilProblem& problem, int multiprocessors);

/// Whether the steps repay a launch of all blocks at once, if the problem is supported; as measured on an H100.
bool persistent_pays(const plugin::StencilProblem& problem);

}  // namespace tessera::cuda
