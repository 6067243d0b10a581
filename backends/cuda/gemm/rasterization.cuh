// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The order in which blocks take tiles of C.
#pragma once

#include "gemm.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Rasterization: tiles are numbered in groups of 16 rows of tiles, in a group down the rows first. Blocks that run at
/// the same time read few rows and few columns, which stay in the L2. Where all of op(B) stays there, tiles are
/// numbered along the rows instead: then C is written in long runs, which memory takes a tenth faster (k = 64).
template <class T>
__device__ GemmTile rasterized_tile(const GemmArguments<T>& g, int tile_m, int tile_n, std::int64_t number) {
  constexpr std::int64_t kRowsAGroup = 16, kBytesThatStay = 8 << 20;
  const std::int64_t most = g.k * g.n * std::int64_t(sizeof(T)) <= kBytesThatStay ? 1 : kRowsAGroup;
  const std::int64_t rows = ceil_div(g.m, tile_m), columns = ceil_div(g.n, tile_n);
  const std::int64_t batch = number / (rows * columns), in_matrix = number % (rows * columns);
  const std::int64_t group = in_matrix / (most * columns), in_group = in_matrix % (most * columns);
  const std::int64_t height = rows - group * most < most ? rows - group * most : most;
  return {(group * most + in_group % height) * tile_m, in_group / height * tile_n, batch};
}

}  // namespace tessera::cuda
