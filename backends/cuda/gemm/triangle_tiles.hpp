// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which tiles hold elements of a triangle of the product, and in which order they are taken. Without CUDA.
#pragma once

#include <tessera/plugin/host_device.hpp>

#include <cstdint>

namespace tessera::cuda {

/// Rows of the largest one: a tile is searched for row after row of them.
inline constexpr std::int64_t kMostTriangle = 65536;

/// The clusters' tiles that hold elements of a triangle of a square product, in bands of some rows of tiles: in a band
/// the columns that all its rows have, down the rows first, then what rows have beside them.
struct TriangleTiles {
  std::uint32_t columns = 1;   ///< of a tile
  std::uint32_t down = 0;      ///< tiles; 0: all of D is computed
  std::uint32_t beside = 0;    ///< tiles
  std::uint32_t band = 1;      ///< rows of tiles
  std::uint32_t tiles = 0;     ///< in all
  std::uint32_t tiles_on = 0;  ///< whole tiles by which the diagonal moves to the right from row to row of tiles,
  std::uint32_t on = 0;        ///< and elements
  bool upper = false;          ///< the elements of the product on the diagonal and right of it, or left
  bool mirrored = false;       ///< they are also written on the other side

  constexpr TriangleTiles() = default;
  /// Of n rows of the product, in tiles of rows x columns.
  constexpr TriangleTiles(std::uint32_t n, std::uint32_t tile_rows, std::uint32_t tile_columns,
                          std::uint32_t rows_of_band, bool is_upper, bool is_mirrored)
      : columns(tile_columns),
        down((n + tile_rows - 1) / tile_rows),
        beside((n + tile_columns - 1) / tile_columns),
        band(rows_of_band),
        tiles_on(tile_rows / tile_columns),
        on(tile_rows % tile_columns),
        upper(is_upper),
        mirrored(is_mirrored) {
    Diagonal diagonal = first();
    for (std::uint32_t row = 0; row < down; ++row, next(diagonal)) tiles += length(diagonal);
  }

  /// A tile, by rows and columns of tiles.
  struct Place {
    std::uint32_t row, column;
  };

  /// That of a number below `tiles`.
  TESSERA_HOST_DEVICE constexpr Place at(std::uint32_t number) const {
    Diagonal diagonal = first();
    for (std::uint32_t row = 0;; row += band) {
      const Diagonal begin = diagonal;
      const std::uint32_t height = band < down - row ? band : down - row;
      std::uint32_t sum = 0, least = beside;
      for (std::uint32_t i = 0; i < height; ++i, next(diagonal)) {
        const std::uint32_t all = length(diagonal);
        sum += all, least = all < least ? all : least;
      }
      if (number < sum) return in_band(number, row, height, least, begin);
      number -= sum;
    }
  }
  /// Whether so many rows and columns from an element of the product on hold none of the triangle.
  TESSERA_HOST_DEVICE constexpr bool misses(std::int64_t row, std::int64_t column, int height, int width) const {
    return upper ? row >= column + width : row + height <= column;
  }

 private:
  /// The column of tiles, and the element in it, where a row of tiles has the diagonal: of an upper triangle in its
  /// first row, of a lower one in its last.
  struct Diagonal {
    std::uint32_t tile, element;
  };
  TESSERA_HOST_DEVICE constexpr Diagonal first() const {
    if (upper) return {0, 0};
    return on == 0 ? Diagonal{tiles_on - 1, columns - 1} : Diagonal{tiles_on, on - 1};
  }
  TESSERA_HOST_DEVICE constexpr void next(Diagonal& at) const {
    at.tile += tiles_on, at.element += on;
    if (at.element >= columns) at.element -= columns, ++at.tile;
  }
  /// Tiles of a row.
  TESSERA_HOST_DEVICE constexpr std::uint32_t length(const Diagonal& at) const {
    return upper ? beside - at.tile : at.tile < beside ? at.tile + 1 : beside;
  }
  /// Of a band's rows, which have `least` columns of tiles in common.
  TESSERA_HOST_DEVICE constexpr Place in_band(std::uint32_t number, std::uint32_t row, std::uint32_t height,
                                              std::uint32_t least, Diagonal diagonal) const {
    if (number < least * height) {
      const std::uint32_t column = height == 1 ? number : number / height;
      return {row + (number - column * height), column + (upper ? beside - least : 0)};
    }
    number -= least * height;
    for (;; ++row, next(diagonal)) {
      const std::uint32_t all = length(diagonal);
      if (number < all - least) return {row, number + (upper ? beside - all : least)};
      number -= all - least;
    }
  }
};

}  // namespace tessera::cuda
