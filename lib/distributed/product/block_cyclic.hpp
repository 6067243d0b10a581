// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Matrices in blocks that are dealt to a grid of ranks in turn: the block-cyclic distribution of ScaLAPACK.
#pragma once

#include "transport/transport.hpp"

#include <tessera/distributed.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::distributed {

/// How one axis of a matrix is dealt to the places of a grid along it.
struct Cut {
  std::int64_t extent = 0;
  std::int64_t block = 1;
  int places = 1;
  int source = 0;  ///< the place of the first block

  int owner(std::int64_t index) const { return int((source + index / block) % places); }
  /// Where an index is on its owner.
  std::int64_t local(std::int64_t index) const { return index / block / places * block + index % block; }
  /// Indices of a place.
  std::int64_t count(int place) const;
  bool operator==(const Cut&) const = default;
};

/// Blocks of `block` indices; 0: one block a place, as equal as can be. Cuts that deal alike compare as equal.
Cut make_cut(std::int64_t extent, std::int64_t block, int places, int source);

/// Ranks as rows and columns: that of a place is base + row * row_stride + column * column_stride.
struct Grid {
  int rows = 1, columns = 1;
  int row_stride = 1, column_stride = 1;
  int base = 0;

  int rank(int row, int column) const { return base + row * row_stride + column * column_stride; }
  bool contains(int rank) const { return rank >= base && rank - base < rows * columns; }
  int row(int rank) const { return (rank - base) / row_stride % rows; }
  int column(int rank) const { return (rank - base) / column_stride % columns; }
  bool operator==(const Grid&) const = default;
};

/// A matrix over a grid. The local arrays are packed, by rows or by columns.
struct Spread {
  Cut rows, columns;
  Grid grid;
  bool by_columns = false;

  std::int64_t local_rows(int rank) const { return grid.contains(rank) ? rows.count(grid.row(rank)) : 0; }
  std::int64_t local_columns(int rank) const { return grid.contains(rank) ? columns.count(grid.column(rank)) : 0; }
  std::int64_t elements(int rank) const { return local_rows(rank) * local_columns(rank); }
  bool operator==(const Spread&) const = default;
  /// The same arrays seen as those of the transposed matrix.
  Spread transposed() const {
    return {columns, rows, {grid.columns, grid.rows, grid.column_stride, grid.row_stride, grid.base}, !by_columns};
  }
};

/// A m x k matrix or the like, whole, on one rank.
inline Spread whole_on(int root, const Spread& like) {
  return {
      make_cut(like.rows.extent, 0, 1, 0), make_cut(like.columns.extent, 0, 1, 0), {1, 1, 1, 1, root}, like.by_columns};
}

/// The matrices of a product, in the order in which they are named.
inline constexpr std::array<const char*, 3> kMatrixNames{"a", "b", "c"};

/// The grid of `ranks` ranks that the layouts ask for, with consecutive ranks in a row. Where they leave it open: the
/// one whose panels of a m x n result are least, near to a square for a square matrix. Throws where they contradict
/// each other or the number of ranks.
Grid choose_grid(const std::array<tessera_layout, 3>& layouts, int ranks, std::int64_t m, std::int64_t n);

/// A matrix of a product in its layout; throws where that is none.
Spread make_spread(const tessera_layout& layout, const char* name, std::int64_t rows, std::int64_t columns,
                   const Grid& grid, bool by_columns);

/// The indices that a place of one cut and a place of another one share.
std::vector<Run> common_runs(const Cut& from, int from_place, const Cut& to, int to_place);

/// A matrix from one distribution to another one through host memory: one message between each two ranks that share
/// elements of it. Elements have 2, 4 or 8 bytes.
class Redistribution {
 public:
  /// The contexts are those of the device that an array is on, or null where that is the host's memory; they outlive
  /// this. Makes room for the messages; speaks to nobody.
  Redistribution(const std::shared_ptr<Comm>& comm, const Spread& from, tessera_context* from_device, const Spread& to,
                 tessera_context* to_device, std::int64_t element);

  /// Takes this rank's array of `from`; speaks to nobody.
  void take(const void* source);
  /// Collective: sends and receives the messages, and writes all elements of this rank's array of `to`.
  void give(void* target, Progress& progress);

 private:
  tessera_context *from_device_, *to_device_;
  std::vector<unsigned char> from_room_, to_room_;  ///< copies of arrays on a device
  Arrays from_, to_;
  std::unique_ptr<Transport> transport_;
};

/// [begin, end).
struct Range {
  std::int64_t begin = 0, end = 0;

  std::int64_t length() const { return end - begin; }
  bool empty() const { return begin >= end; }
};
/// Consecutive columns of A and rows of B, each on one place of the grid: all of k, none wider than `widest`.
std::vector<Range> panels_of(const Cut& a_columns, const Cut& b_rows, std::int64_t widest);

}  // namespace tessera::distributed
