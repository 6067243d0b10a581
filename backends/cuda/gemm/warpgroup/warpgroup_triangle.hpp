// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which tiles hold elements of a triangle of the product, and in which order they are taken. Without CUDA.
#pragma once

#include <tessera/plugin/host_device.hpp>

#include <bit>
#include <cstdint>

namespace tessera::cuda {

/// What numbers below 2^31 are divided by, known to the host: a multiplication where blocks begin (H. S. Warren,
/// Hacker's Delight, 10-9). From 1 on.
struct WarpgroupDivisor {
  std::uint32_t divisor = 1, factor = 1, shift = 0;

  constexpr WarpgroupDivisor() = default;
  constexpr explicit WarpgroupDivisor(std::uint32_t d)
      : divisor(d),
        factor(std::uint32_t(((std::uint64_t(1) << std::bit_width(d - 1)) - d << 32) / d + 1)),
        shift(std::uint32_t(std::bit_width(d - 1))) {}
};
TESSERA_HOST_DEVICE constexpr std::uint32_t quotient(std::uint32_t number, const WarpgroupDivisor& by) {
  return (std::uint32_t(std::uint64_t(number) * by.factor >> 32) + number) >> by.shift;
}

/// The clusters' tiles that hold elements of a triangle of a square product, in bands of some rows of tiles, the
/// longest band first: what is left to the end is short.
struct WarpgroupTriangle {
  std::uint32_t extent = 0;  ///< rows and columns of the product
  std::uint32_t bands = 0;   ///< 0: all of D is computed
  std::uint32_t group = 1;   ///< rows of tiles in a band
  std::uint32_t rows = 1;    ///< of a tile
  WarpgroupDivisor columns;  ///< of a tile
  bool upper = false;        ///< the elements of the product on the diagonal and right of it, or left
  bool mirrored = false;     ///< they are also written on the other side

  /// A tile, by rows and columns of tiles.
  struct Place {
    std::uint32_t row, column;
  };

  /// Of all bands. Some hold no elements: see skips().
  constexpr std::uint32_t tiles() const {
    std::uint32_t sum = 0;
    for (std::uint32_t band = 0; band < bands; ++band) sum += group * length(band);
    return sum;
  }
  /// That of a number below tiles(): band after band, in a band column after column.
  TESSERA_HOST_DEVICE constexpr Place at(std::uint32_t number) const {
    std::uint32_t band = 0;
    for (std::uint32_t in_band = group * length(0); number >= in_band; in_band = group * length(band))
      number -= in_band, ++band;
    const std::uint32_t column = number / group, row = (upper ? band : bands - 1 - band) * group;
    return {row + (number - column * group), column + (upper ? quotient(row * rows, columns) : 0)};
  }
  /// Whether a tile holds no element of the triangle.
  TESSERA_HOST_DEVICE constexpr bool skips(const Place& tile) const {
    const std::uint32_t row = tile.row * rows, column = tile.column * columns.divisor;
    return row >= extent || misses(row, column, int(rows), int(columns.divisor));
  }

  /// Whether so many rows and columns from an element of the product on hold none of the triangle, or nothing else.
  TESSERA_HOST_DEVICE constexpr bool misses(std::int64_t row, std::int64_t column, int height, int width) const {
    return bands > 0 && (upper ? row >= column + width : row + height <= column);
  }
  TESSERA_HOST_DEVICE constexpr bool covers(std::int64_t row, std::int64_t column, int height, int width) const {
    return bands == 0 || (upper ? row + height <= column + 1 : row + 1 >= column + width);
  }

 private:
  /// Columns of tiles of a band, by its place in the order.
  TESSERA_HOST_DEVICE constexpr std::uint32_t length(std::uint32_t band) const {
    const std::uint32_t last = quotient(extent - 1, columns), height = group * rows;
    if (upper) return last + 1 - quotient(band * height, columns);
    const std::uint32_t end = (bands - band) * height;
    return end < extent ? quotient(end - 1, columns) + 1 : last + 1;
  }
};

}  // namespace tessera::cuda
