// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inputs of the showcase; docs/examples/data/README.md tells where they come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace showcase {

/// In C order.
struct Field {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;
};

/// Distances of the terrain's points in metres: 3 arc-seconds, at 36.6 degrees north along a row.
inline constexpr double kTerrainDx = 74.4;
inline constexpr double kTerrainDy = 92.7;

/// Elevation in metres, first row in the north.
Field load_terrain(const std::filesystem::path& folder);

/// One image a row: the mean image taken off, then scaled to length 1, so that X X^T holds cosines.
Field load_digits(const std::filesystem::path& folder);

/// The `count` leading principal directions of the rows of X, as orthonormal columns (X.columns x count), by subspace
/// iteration with matrix products of the library.
Field principal_directions(const Field& x, std::int64_t count);

/// The rows of X by their angle in the plane of the first two directions: similar rows come to lie together.
std::vector<std::int64_t> order_by_angle(const Field& x, const Field& directions);

}  // namespace showcase
