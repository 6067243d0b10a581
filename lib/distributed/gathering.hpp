// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a rank needs of a factor to compute its part of C: the rows that it has of C, with all of k. The right factor
/// is taken as its transpose, whose rows are C's columns.
#pragma once

#include "block_cyclic.hpp"

#include <cstdint>
#include <vector>

namespace tessera::distributed {

/// [begin, end).
struct Range {
  std::int64_t begin = 0, end = 0;

  std::int64_t length() const { return end - begin; }
  bool empty() const { return begin >= end; }
};

/// Lines of neighbouring elements that go from a rank's local array into the gathered rows of another one.
struct Piece {
  std::int64_t from, to;              ///< the first element
  std::int64_t from_apart, to_apart;  ///< elements from one line to the next
  std::int64_t count, length;         ///< lines, and elements of each

  bool is_dense_from() const { return count == 1 || from_apart == length; }
  bool is_dense_to() const { return count == 1 || to_apart == length; }
  std::int64_t elements() const { return count * length; }
};

/// Gathered rows lie as the factor is stored, by rows or by columns, so that nothing is transposed on its way.
class Gathering {
 public:
  /// `source` is the factor as it is spread, rows by k; `result` is C, or C^T for the right factor.
  Gathering(const Spread& source, const Spread& result, int ranks);

  /// Whether every rank has what it needs in its own array, as it would be gathered.
  bool is_in_place() const { return in_place_; }
  bool by_columns() const { return source_.by_columns; }
  /// Rows that a rank needs, and the most of any rank.
  std::int64_t rows(int rank) const { return result_.local_rows(rank); }
  std::int64_t most_rows() const;
  /// Elements from one row (or column) of gathered rows to the next, and to where some rows begin.
  std::int64_t ld(int rank, std::int64_t k) const { return by_columns() ? rows(rank) : k; }
  std::int64_t offset(const Range& some, std::int64_t k) const { return by_columns() ? some.begin : some.begin * k; }
  /// What `receiver` needs of the array of `sender` for some of its rows and of k, which is all that is gathered of k.
  std::vector<Piece> pieces(int sender, int receiver, const Range& rows, const Range& k) const;
  std::int64_t count_pieces(int sender, int receiver) const;

 private:
  std::vector<Run> row_runs(int sender, int receiver) const;
  std::vector<Run> k_runs(int sender) const;

  Spread source_, result_;
  bool in_place_;
};

}  // namespace tessera::distributed
