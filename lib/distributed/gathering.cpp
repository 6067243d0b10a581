// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gathering.hpp"

#include <algorithm>

namespace tessera::distributed {
namespace {

/// The part of a run that goes to some indices.
Run cut(const Run& run, const Range& some) {
  const std::int64_t before = std::max<std::int64_t>(some.begin - run.to, 0);
  const std::int64_t end = std::min(run.to + run.length, some.end);
  return {run.from + before, run.to + before, end - run.to - before};
}

std::vector<Run> cut(const std::vector<Run>& runs, const Range& some) {
  std::vector<Run> parts;
  for (const Run& run : runs)
    if (const Run part = cut(run, some); part.length > 0) parts.push_back(part);
  return parts;
}

}  // namespace

Gathering::Gathering(const Spread& source, const Spread& result, int ranks)
    : source_(source), result_(result), in_place_(source.columns.places == 1 && source.rows == result.rows) {
  for (int rank = 0; rank < ranks; ++rank)
    in_place_ = in_place_ && (rows(rank) == 0 || source.grid.row(rank) == result.grid.row(rank));
}

std::int64_t Gathering::most_rows() const {
  std::int64_t most = 0;
  for (int place = 0; place < result_.rows.places; ++place) most = std::max(most, result_.rows.count(place));
  return most;
}

std::vector<Run> Gathering::row_runs(int sender, int receiver) const {
  return common_runs(source_.rows, source_.grid.row(sender), result_.rows, result_.grid.row(receiver));
}

std::vector<Run> Gathering::k_runs(int sender) const {
  return common_runs(source_.columns, source_.grid.column(sender), make_cut(source_.columns.extent, 0, 1, 0), 0);
}

std::int64_t Gathering::count_pieces(int sender, int receiver) const {
  return std::int64_t(row_runs(sender, receiver).size() * k_runs(sender).size());
}

std::vector<Piece> Gathering::pieces(int sender, int receiver, const Range& some, const Range& k) const {
  const auto rows = cut(row_runs(sender, receiver), some), columns = cut(k_runs(sender), k);
  std::vector<Piece> pieces;
  for (const Run& row : rows)
    for (const Run& column : columns) {
      const std::int64_t to = column.to - k.begin;
      if (by_columns()) {
        const std::int64_t from_apart = source_.local_rows(sender), to_apart = this->rows(receiver);
        pieces.push_back({column.from * from_apart + row.from, to * to_apart + row.to, from_apart, to_apart,
                          column.length, row.length});
      } else {
        const std::int64_t from_apart = source_.local_columns(sender), to_apart = k.length();
        pieces.push_back({row.from * from_apart + column.from, row.to * to_apart + to, from_apart, to_apart, row.length,
                          column.length});
      }
    }
  return pieces;
}

}  // namespace tessera::distributed
