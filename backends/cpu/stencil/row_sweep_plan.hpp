// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan of `rows` and `streaming`: stencils row by row. Along a row (axis 2) the points whose taps stay inside form
/// one vector loop. Boundary modes of the outer axes only change which rows the taps read, or turn a tap into a
/// constant. What is left, the two ends of each row, goes in vectors of its own. Away from the outer boundaries blocks
/// of rows of two planes are computed together, but for elements of 16 bits. The two algorithms differ in where results
/// go: `rows` stores into the caches, `streaming` past them.
#pragma once

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "dense_kernel.hpp"
#include "dense_rows.hpp"
#include "model.hpp"
#include "register_block_kernel.hpp"
#include "row_ends.hpp"
#include "sweep_cut.hpp"
#include "sweep_source.hpp"
#include "temporal_axis.hpp"
#include "write_combiner.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tessera::cpu {

template <class T, bool kNontemporal>
class RowSweepPlan final : public plugin::Plan {
 public:
  RowSweepPlan(const StencilWork& work, int threads, const Cut& cut)
      : p_(work.problem), d_(p_.domain), ends_(d_), threads_(threads), cut_(cut), block_rows_(work.block_rows) {
    const bool contiguous = p_.in_strides[2] == 1 && p_.out_strides[2] == 1;
    for (const plugin::Index3& strides : {p_.in_strides, p_.out_strides, p_.packed_strides()})
      sources_.emplace_back(p_, work.groups, strides);
    if (p_.points() == 0) return;
    if (!kNontemporal && contiguous && work.box && d_.plain_end(2) - d_.plain_begin(2) >= kLanes<Scalar<T>>)
      dense_.emplace(d_, *work.box), by_planes_ = work.box->row_axis == 0;
    scratch_.reserve(std::size_t(threads));
    for (int t = 0; t < threads; ++t) {
      scratch_.emplace_back(p_, ends_);  // a copy would lose the capacity
      if (dense_) scratch_.back().cells.resize(dense_->room());
    }
  }

  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    const T *in = execution.operand<const T>(0), *out = execution.operand<T>(1);
    run_sweeps<T>(threads_, p_, execution, [&](Team team, std::int64_t, const plugin::SweepArrays<T>& arrays) {
      const int kind = arrays.source == in ? 0 : arrays.source == out ? 1 : 2;
      run(team, {sources_[std::size_t(kind)], arrays.source, arrays.target, arrays.target_strides});
    });
  }

 private:
  static constexpr std::int64_t kLinePoints = WriteCombiner<T>::kPoints;
  /// How far ahead of use a block prefetches, if its next rows are farther away: a third of a first-level cache.
  static constexpr std::int64_t kFarthest = 16384 / std::int64_t(sizeof(T));

  /// What a task has for itself: a row of taps with room for all, lines under way, and the ends of a block's rows.
  struct Scratch {
    RowTerms<T> terms;
    WriteCombiner<T> lines;
    std::vector<T> ends;
    std::vector<T> cells;  ///< that rows of a box read
    Scratch(const plugin::StencilProblem& p, const RowEnds<T>& row_ends)
        : terms(p.taps.size()), ends(std::size_t(kBlockPlanes * kBlockRows * row_ends.room())) {}
  };

  /// Its loops lie on cache lines as they do here whatever is linked before: 5 % of a small sweep.
  [[gnu::noinline, gnu::aligned(64)]] void run(Team team, const Sweep<T>& sweep) {
    const std::int64_t layers = plugin::ceil_div(d_.extents[0], cut_.planes), segments = layers * cut_.layer_segments;
    const std::int64_t first = team.begin(segments), last = team.end(segments);
    Scratch& scratch = scratch_[std::size_t(team.rank)];
    for (std::int64_t block = 0; block < cut_.layer_segments; block += cut_.block_segments) {
      const std::int64_t block_end = std::min(block + cut_.block_segments, cut_.layer_segments);
      for (std::int64_t layer = first / cut_.layer_segments * cut_.layer_segments; layer < last;
           layer += cut_.layer_segments)
        run_segments(sweep, std::max(first, layer + block), std::min(last, layer + block_end), scratch);
    }
    if constexpr (kNontemporal) {
      scratch.lines.flush();
      nontemporal_fence();
    }
  }

  /// Segments [first, last) of a layer.
  void run_segments(const Sweep<T>& sweep, std::int64_t first, std::int64_t last, Scratch& scratch) const {
    std::int64_t begin = first % cut_.row_segments * cut_.segment_points;
    std::int64_t j = first / cut_.row_segments % d_.extents[1];
    const std::int64_t i = first / cut_.layer_segments * cut_.planes;
    const bool in_blocks = cut_.planes == kBlockPlanes && i + kBlockPlanes <= d_.extents[0] && d_.plain_on(0, i) &&
                           d_.plain_on(0, i + kBlockPlanes - 1);
    for (std::int64_t segment = first; segment < last;) {
      if (const std::int64_t rows = dense_rows(i, j, last - segment); rows > 0) {
        if constexpr (sizeof(T) != 2 && !kNontemporal) dense_->run(sweep, i, j, rows, scratch.cells.data());
        const std::int64_t segments = by_planes_ ? 1 : rows;
        segment += segments, j += segments;
        continue;
      }
      if (in_blocks && d_.plain_on(1, j)) {  // then a segment is a row
        const int rows = segment + block_rows_ <= last && d_.plain_on(1, j + block_rows_ - 1) ? block_rows_ : 1;
        if constexpr (sizeof(T) != 2) run_block(sweep, i, j, rows, scratch);
        segment += rows, j += rows;
        continue;
      }
      const Span points{begin, std::min(begin + cut_.segment_points, d_.extents[2])};
      for (std::int64_t plane = i; plane < std::min(i + cut_.planes, d_.extents[0]); ++plane)
        run_points(sweep, plane, j, points, scratch);
      ++segment;
      if ((begin += cut_.segment_points) >= d_.extents[2]) begin = 0, ++j;
    }
  }

  /// A row of in and of out.
  struct Line {
    const T* in;  ///< the array's first point
    const T* row;
    std::int64_t in_stride;
    T* out;
    std::int64_t out_stride;
  };

  static Line line_of(const Sweep<T>& s, std::int64_t i, std::int64_t j) {
    const plugin::Index3& strides = s.source.strides;
    return {s.in, s.in + i * strides[0] + j * strides[1], strides[2],
            s.out + i * s.out_strides[0] + j * s.out_strides[1], s.out_strides[2]};
  }

  /// Some points of row (i, j).
  void run_points(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, Span points, Scratch& scratch) const {
    const Line line = line_of(sweep, i, j);
    if (d_.frozen_on(0, i) || d_.frozen_on(1, j))
      return copy_points(line.row + points.begin * line.in_stride, line.in_stride,
                         line.out + points.begin * line.out_stride, line.out_stride, points.size());
    const bool plain = d_.plain_on(0, i) && d_.plain_on(1, j);
    const auto row_offset = [&s = sweep.source.strides](auto k, auto l) { return k * s[0] + l * s[1]; };
    if (!plain) map_terms(d_, p_.taps, i, j, line.in_stride, row_offset, scratch.terms);
    const RowTerms<T>& terms = plain ? sweep.source.terms : scratch.terms;
    const EndRows<T> row{line.row, plain ? line.row : line.in, line.in_stride, terms.taps(), terms.init};
    const std::int64_t inner_begin = std::clamp(d_.plain_begin(2), points.begin, points.end);
    const Span inner{inner_begin, std::clamp(d_.plain_end(2), inner_begin, points.end)};
    const bool in_vectors = plain ? ends_in_vectors(sweep, line, line) : mapped_ends_in_vectors(sweep, terms);
    if constexpr (kNontemporal) {
      const bool around = plain && sums_around(sweep, line, points, inner);
      stream_points(line, row, points, inner, around, in_vectors, sweep.source.newest, scratch);
    } else {
      store_points(line, row, points, inner, in_vectors);
    }
  }

  /// Into the caches: the ends of the row, then the inner points, whose taps stay in it.
  void store_points(const Line& line, const EndRows<T>& row, Span points, Span inner, bool in_vectors) const {
    if (in_vectors && line.out_stride == 1 && points.size() == d_.extents[2]) {
      ends_.sum(row, true, {line.out, line.out + ends_.high()});
    } else {
      for (const Span& end : {Span{points.begin, inner.begin}, Span{inner.end, points.end}})
        ends_.sum_points(row, 0, end, line.out + end.begin * line.out_stride, line.out_stride);
    }
    if (inner.size() > 0)
      apply_row(row.base + inner.begin * line.in_stride, line.in_stride, row.taps, row.init,
                line.out + inner.begin * line.out_stride, line.out_stride, inner.size());
  }

  /// Past the caches: whole lines by the vector loop, `around` also over the ends; other lines are put together.
  void stream_points(const Line& line, const EndRows<T>& row, Span points, Span inner, bool around, bool in_vectors,
                     std::int64_t newest, Scratch& scratch) const {
    const Span middle = vector_part(line, around ? points : inner);
    T* const values = in_vectors ? scratch.ends.data() : nullptr;
    if (in_vectors) ends_.sum(row, true, ends_.values_in(values));
    put_ends(line, row, values, points, middle, scratch.lines);
    apply_row_with_ends(line, row, values, middle, inner,
                        line.row + newest + middle.begin + kAheadBytes / std::int64_t(sizeof(T)), scratch.lines);
  }

  /// Whether the vector loop of a row goes over its ends as well, where the sums are not used: all that it reads is
  /// inside the array, and the ends lie in the first and the last line.
  bool sums_around(const Sweep<T>& sweep, const Line& line, Span points, Span plain) const {
    const Span whole = vector_part(line, points);
    return whole.size() > 2 * kLinePoints && plain.begin <= whole.begin + kLinePoints &&
           plain.end >= whole.end - kLinePoints && inside(sweep, line, line, 0);
  }

  /// The vector loop of a row, and the points of `middle` that it does not sum: their lines are put together.
  void apply_row_with_ends(const Line& line, const EndRows<T>& row, const T* values, Span middle, Span plain,
                           const T* newest, WriteCombiner<T>& lines) const {
    LinesApart<T> apart;
    const std::int64_t last = middle.end - kLinePoints;
    if (middle.begin < plain.begin) apart.first = lines.open(line.out + middle.begin, 0, kLinePoints);
    if (middle.end > plain.end) apart.last = lines.open(line.out + last, 0, kLinePoints);
    apply_row_nontemporal(row.base + middle.begin, row.taps, row.init, line.out + middle.begin, middle.size(), newest,
                          apart);
    if (apart.first != nullptr) put_end(row, values, {middle.begin, plain.begin}, apart.first);
    if (apart.last != nullptr) put_end(row, values, {plain.end, middle.end}, apart.last + (plain.end - last));
  }

  /// Rows [j, j + rows) of the planes from i on, none of which has a boundary on the outer axes.
  void run_block(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, int rows, Scratch& scratch) const {
    // Points near the ends of rows are summed as well where what lies around may be read; their sums are not used.
    const Line first = line_of(sweep, i, j);
    const Line last = line_of(sweep, i + kBlockPlanes - 1, j + rows - 1);
    const bool around = inside(sweep, first, last, 0);
    const Span summed = around ? Span{0, d_.extents[2]} : Span{d_.plain_begin(2), d_.plain_end(2)};
    const bool in_vectors = ends_in_vectors(sweep, first, last);
    if constexpr (kNontemporal)
      stream_block(sweep, i, j, rows, summed, in_vectors, scratch);
    else
      store_block(sweep, i, j, rows, summed, in_vectors);
  }

  /// Rows from (i, j) on that go as rows of a box, of `left` segments at most.
  std::int64_t dense_rows(std::int64_t i, std::int64_t j, std::int64_t left) const {
    if (!dense_ || cut_.row_segments > 1) return 0;
    return dense_->together(i, j, by_planes_ ? (cut_.planes == kDenseRows ? kDenseRows : 0) : left);
  }

  /// Into the caches: the vector loop of all rows, then their ends.
  void store_block(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, int rows, Span summed,
                   bool in_vectors) const {
    apply_row_block(block_of(sweep, line_of(sweep, i, j), rows, summed), groups_of(sweep));
    for (int r = 0; r < rows; ++r) {
      const Line line = line_of(sweep, i, j + r);
      ends_.sum(pair_of(sweep, line), in_vectors, {line.out, line.out + ends_.high(), sweep.out_strides[0]});
    }
  }

  /// Past the caches: the ends of rows first, whose values the vector loop puts into its lines.
  void stream_block(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, int rows, Span summed, bool in_vectors,
                    Scratch& scratch) const {
    const Line first = line_of(sweep, i, j);
    const Span points{0, d_.extents[2]}, middle = vector_part(first, summed);
    T* values = scratch.ends.data();
    for (int r = 0; r < rows; ++r, values += ends_.room()) {
      const Line line = line_of(sweep, i, j + r);
      const EndRows<T> pair = pair_of(sweep, line);
      ends_.sum(pair, in_vectors, ends_.values_in(values, rows * ends_.room()));
      put_ends(line, pair, in_vectors ? values : nullptr, points, middle, scratch.lines);
      const T* const second = in_vectors ? values + rows * ends_.room() : nullptr;
      put_ends(line_of(sweep, i + 1, j + r), pair.second(), second, points, middle, scratch.lines);
    }
    const RowBlock<T> b = block_of(sweep, first, rows, middle);
    apply_row_block_nontemporal(b, groups_of(sweep), edges_in(middle, scratch.ends.data()),
                                b.in + sweep.source.newest + std::min(rows * sweep.source.strides[1], kFarthest));
  }

  /// Some points of the rows from `first` on, in both planes.
  static RowBlock<T> block_of(const Sweep<T>& sweep, const Line& first, int rows, Span points) {
    RowBlock<T> b{};
    b.in = first.row + points.begin, b.in_plane = sweep.source.strides[0], b.in_row = sweep.source.strides[1];
    b.out = first.out + points.begin, b.out_plane = sweep.out_strides[0], b.out_row = sweep.out_strides[1];
    b.n = points.size(), b.rows = rows;
    return b;
  }
  static StridedGroups<T> groups_of(const Sweep<T>& sweep) {
    return {sweep.source.groups.data(), std::int64_t(sweep.source.groups.size())};
  }
  /// A row and the one in the next plane.
  static EndRows<T> pair_of(const Sweep<T>& sweep, const Line& line) {
    const Source<T>& source = sweep.source;
    return {line.row, line.row, 1, source.terms.taps(), source.terms.init, source.strides[0], kBlockPlanes};
  }

  /// Whether the ends of these rows can go in vectors.
  bool ends_in_vectors(const Sweep<T>& sweep, const Line& first, const Line& last) const {
    return first.in_stride == 1 && ends_.worth_vectors() && inside(sweep, first, last, ends_.around());
  }

  /// The same for a row of which taps leave the domain across an outer axis.
  bool mapped_ends_in_vectors(const Sweep<T>& sweep, const RowTerms<T>& terms) const {
    if (sweep.source.strides[2] != 1 || !ends_.worth_vectors()) return false;
    if (terms.offset.empty()) return true;
    const auto [lowest, highest] = std::minmax_element(terms.offset.begin(), terms.offset.end());
    return *lowest >= ends_.around() && sweep.source.last - *highest - (d_.extents[2] - 1) >= ends_.around();
  }

  /// Whether all that taps read around the rows from one to another, neither of which has a boundary on the outer axes,
  /// is inside the array, and so many elements more.
  bool inside(const Sweep<T>& sweep, const Line& first, const Line& last, std::int64_t more) const {
    const Source<T>& source = sweep.source;
    const std::int64_t begin = first.row - sweep.in, end = last.row - sweep.in + d_.extents[2] - 1;
    return begin + source.lowest >= more && source.last - end - source.highest >= more;
  }

  /// The ends of a block's rows, as far as they lie in `middle`.
  Edges<T> edges_in(Span middle, T* values) const {
    const std::int64_t head = std::max<std::int64_t>(ends_.low() - middle.begin, 0);
    return {values + ends_.low() - head, ends_.values_in(values).high, head,
            std::max<std::int64_t>(middle.end - ends_.high(), 0), ends_.room()};
  }

  /// The part of some points of a row that goes in one vector loop: non-temporal stores fill whole cache lines.
  static Span vector_part(const Line& line, Span points) {
    const std::int64_t first = std::min(line_start(line.out, points.begin + kLinePoints - 1), points.end);
    return {first, std::max(line_start(line.out, points.end), first)};
  }

  /// The start of the cache line that point i of a row lies in.
  static std::int64_t line_start(const T* row, std::int64_t i) {
    const auto phase = std::int64_t(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % kLinePoints);
    return (i + phase) / kLinePoints * kLinePoints - phase;
  }

  /// The points around the middle of a row, with `values` of its ends if these are there. Lines are put together first.
  void put_ends(const Line& line, const EndRows<T>& row, const T* values, Span points, Span middle,
                WriteCombiner<T>& lines) const {
    for (const auto& [begin, end] : {Span{points.begin, middle.begin}, Span{middle.end, points.end}})
      for (std::int64_t i = begin; i < end;) {
        const std::int64_t start = line_start(line.out, i), next = std::min(start + kLinePoints, end);
        assemble(line, row, values, i, next, start, lines);
        i = next;
      }
  }

  /// Points [begin, end) of the cache line at `start`.
  void assemble(const Line& line, const EndRows<T>& row, const T* values, std::int64_t begin, std::int64_t end,
                std::int64_t start, WriteCombiner<T>& lines) const {
    T* const points = lines.open(line.out + start, begin - start, end - start);
    const std::int64_t plain = std::clamp(d_.plain_begin(2), begin, end);
    const std::int64_t plain_end = std::clamp(d_.plain_end(2), plain, end);
    if (plain < plain_end) compute_plain(row, plain, plain_end, points + (plain - start));
    put_end(row, values, {begin, plain}, points + (begin - start));
    put_end(row, values, {plain_end, end}, points + (plain_end - start));
  }

  /// At most a line of plain points [begin, end). Where the row has enough points a whole line's length is computed:
  /// one vector is cheaper than some points.
  void compute_plain(const EndRows<T>& row, std::int64_t begin, std::int64_t end, T* target) const {
    if (begin + kLinePoints <= d_.plain_end(2))
      apply_line(row.base + begin, row.taps, row.init, target);
    else if (const std::int64_t from = end - kLinePoints; from >= d_.plain_begin(2))
      apply_line(row.base + from, row.taps, row.init, target + (from - begin));
    else
      apply_row(row.base + begin, 1, row.taps, row.init, target, 1, end - begin);
  }

  /// Points at an end of a row.
  void put_end(const EndRows<T>& row, const T* values, Span points, T* target) const {
    if (values == nullptr) return ends_.sum_points(row, 0, points, target, 1);
    values += points.begin < ends_.low() ? 0 : ends_.room() - d_.extents[2];
    for (std::int64_t i = points.begin; i < points.end; ++i) *target++ = values[i];
  }

  plugin::StencilProblem p_;  ///< taps as grouped
  plugin::Domain d_;
  RowEnds<T> ends_;
  int threads_;
  Cut cut_;
  int block_rows_;                     ///< rows of a plane that other blocks have, if not one
  std::optional<DenseRows<T>> dense_;  ///< where taps fill a box
  bool by_planes_ = false;             ///< these rows are planes
  std::vector<Source<T>> sources_;     ///< of in, out and the packed workspace
  std::vector<Scratch> scratch_;
};

}  // namespace tessera::cpu
