// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which tiles hold elements of a triangle of the product, and in which order they are taken. Without CUDA.
#pragma once

#include <tessera/plugin/host_device.hpp>

#include <cstdint>

namespace tessera::cuda {

/// The clusters' tiles that hold elements of a triangle of a square product, in bands of some rows of tiles.
struct WarpgroupTriangle {
  std::uint32_t extent = 0;    ///< rows and columns of the product
  std::uint32_t bands = 0;     ///< 0: all of D is computed
  std::uint32_t group = 1;     ///< rows of tiles in a band
  std::uint32_t rows = 1;      ///< of a tile
  std::uint32_t columns = 1;   ///< of a tile
  std::uint32_t in_row = 0;    ///< tiles
  std::uint32_t tiles_on = 0;  ///< whole tiles by which the diagonal moves to the right from band to band,
  std::uint32_t on = 0;        ///< and elements
  bool upper = false;          ///< the elements of the product on the diagonal and right of it, or left
  bool mirrored = false;       ///< they are also written on the other side

  constexpr WarpgroupTriangle() = default;
  /// Of so many rows of the product, in tiles of rows x columns.
  constexpr WarpgroupTriangle(std::uint32_t n, std::uint32_t tile_rows, std::uint32_t tile_columns,
                              std::uint32_t rows_of_band, bool is_upper, bool is_mirrored)
      : extent(n),
        bands((n + rows_of_band * tile_rows - 1) / (rows_of_band * tile_rows)),
        group(rows_of_band),
        rows(tile_rows),
        columns(tile_columns),
        in_row((n + tile_columns - 1) / tile_columns),
        tiles_on(rows_of_band * tile_rows / tile_columns),
        on(rows_of_band * tile_rows % tile_columns),
        upper(is_upper),
        mirrored(is_mirrored) {}

  /// A tile, by rows and columns of tiles.
  struct Place {
    std::uint32_t row, column;
  };

  /// Of all bands. Some hold no elements: see skips().
  constexpr std::uint32_t tiles() const {
    std::uint32_t sum = 0;
    Band band = first();
    for (std::uint32_t number = 0; number < bands; ++number, next(band)) sum += group * length(band);
    return sum;
  }
  /// That of a number below tiles(): band after band, in a band column after column.
  TESSERA_HOST_DEVICE constexpr Place at(std::uint32_t number) const {
    Band band = first();
    std::uint32_t row = 0;
    for (std::uint32_t in_band = group * length(band); number >= in_band; in_band = group * length(band))
      number -= in_band, row += group, next(band);
    const std::uint32_t column = group == 1 ? number : number / group;
    return {row + (number - column * group), column + (upper ? band.tile : 0)};
  }
  /// Whether a tile holds no element of the triangle.
  TESSERA_HOST_DEVICE constexpr bool skips(const Place& tile) const {
    return tile.row * rows >= extent || misses(tile.row * rows, tile.column * columns, int(rows), int(columns));
  }
  /// Whether so many rows and columns from an element of the product on hold none of the triangle.
  TESSERA_HOST_DEVICE constexpr bool misses(std::int64_t row, std::int64_t column, int height, int width) const {
    return upper ? row >= column + width : row + height <= column;
  }

 private:
  /// The column of tiles, and the element in it, where a band has the diagonal: of an upper triangle in its first row,
  /// of a lower one in its last.
  struct Band {
    std::uint32_t tile, element;
  };
  TESSERA_HOST_DEVICE constexpr Band first() const {
    if (upper) return {0, 0};
    return on == 0 ? Band{tiles_on - 1, columns - 1} : Band{tiles_on, on - 1};
  }
  TESSERA_HOST_DEVICE constexpr void next(Band& band) const {
    band.tile += tiles_on, band.element += on;
    if (band.element >= columns) band.element -= columns, ++band.tile;
  }
  /// Columns of tiles.
  TESSERA_HOST_DEVICE constexpr std::uint32_t length(const Band& band) const {
    return upper ? in_row - band.tile : band.tile < in_row ? band.tile + 1 : in_row;
  }
};

}  // namespace tessera::cuda
