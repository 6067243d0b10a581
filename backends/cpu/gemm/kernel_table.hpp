// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of all tiles, by their size.
#pragma once

#include "micro_kernel.hpp"
#include "panels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::cpu {

/// Tiles whose operands are of the type of the sums.
template <class T, bool kRowsAdjacent>
struct PlainTiles {
  using Kernel = TileKernel<T>;
  /// Null where the registers do not suffice.
  template <int kR, int kV, bool kPartial>
  static constexpr Kernel kernel() {
    if constexpr (kR <= most_rows(kV)) return multiply_tile<T, kR, kV, kRowsAdjacent, kPartial>;
    return nullptr;
  }
};

/// Of an op(B) that was packed before, and comes from memory.
template <class T, bool kRowsAdjacent>
struct StreamedTiles {
  using Kernel = TileKernel<T>;
  static constexpr int kAhead = 8192;  ///< what passes by while memory answers
  /// Null beyond the tile of packed operands.
  template <int kR, int kV, bool kPartial>
  static constexpr Kernel kernel() {
    if constexpr (kV <= kVectors && kR <= most_rows(kV))
      return multiply_tile<T, kR, kV, kRowsAdjacent, kPartial, kAhead>;
    return nullptr;
  }
};

/// Kernels by vectors - 1 and rows - 1: those whose last vector is a part, and those of whole ones.
template <class Tiles>
class KernelTable {
 public:
  using Kernel = typename Tiles::Kernel;
  static Kernel find(std::int64_t vectors, std::int64_t rows, bool partial) {
    static constexpr Kernels kTable = make(std::make_index_sequence<2 * kMostVectors>{});
    return kTable[std::size_t(2 * (vectors - 1) + partial)][std::size_t(rows - 1)];
  }

 private:
  using OfRows = std::array<Kernel, 2 * kRows>;
  using Kernels = std::array<OfRows, 2 * kMostVectors>;

  template <std::size_t... kI>
  static constexpr Kernels make(std::index_sequence<kI...>) {
    return {make_rows<int(kI) / 2 + 1, kI % 2 == 1>(std::make_index_sequence<2 * kRows>{})...};
  }
  template <int kV, bool kPartial, std::size_t... kR>
  static constexpr OfRows make_rows(std::index_sequence<kR...>) {
    return {Tiles::template kernel<int(kR) + 1, kV, kPartial>()...};
  }
};

}  // namespace tessera::cpu
