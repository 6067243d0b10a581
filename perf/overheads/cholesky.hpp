// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A blocked Cholesky: many small products in a row, with work of one thread in between.
#pragma once

#include "device.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::perf {

/// A = L L^T of a random symmetric matrix in f32, tile column by tile column: what is left of a tile of A is that tile
/// less one product of two rows of tiles of L.
class BlockedCholesky {
 public:
  static constexpr std::int64_t kTile = 32, kTiles = 47, kSize = kTile * kTiles;
  static constexpr std::int64_t kProducts = kTiles * (kTiles - 1) / 2;

  /// `prepare` makes what executes a product: C = A B^T, of tiles in rows of kSize, to a tile of its own.
  BlockedCholesky(const std::function<Execute(const Problem&)>& prepare, std::uint64_t seed);
  void factorize();
  /// Of the last factorization: "" where it is right.
  std::string failure() const;

 private:
  float* tile(std::int64_t i, std::int64_t j) { return &l_[std::size_t((i * kSize + j) * kTile)]; }
  void subtract(std::int64_t i, std::int64_t j);
  void factorize_diagonal(std::int64_t j);
  void solve(std::int64_t i, std::int64_t j);

  std::vector<float> a_, l_;
  std::vector<Execute> multiply_;             ///< by tiles along k, from 1 on
  alignas(64) float sums_[kTile * kTile]{};   ///< of products
  alignas(64) float upper_[kTile * kTile]{};  ///< the diagonal tile's transpose; zeros below its diagonal and on it
};

}  // namespace tessera::perf
