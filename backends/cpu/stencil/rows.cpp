// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row. Along a row (axis 2) the points whose taps stay inside form one vector
/// loop; boundary modes of the outer axes only change which rows the taps read, or turn a tap into
/// a constant. What is left, the two ends of each row, goes point by point. Away from the outer boundaries rows of
/// two planes go together, in bundles. Two algorithms differ in where results go: `rows` stores into the caches,
/// `streaming` past them.

#include "../caches.hpp"
#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "bundle_kernel.hpp"
#include "late_lines.hpp"
#include "row_terms.hpp"
#include "sweep_cut.hpp"
#include "temporal_axis.hpp"
#include "temporal_shape.hpp"

#include <cstring>
#include <limits>
#include <string>

namespace tessera::cpu {
namespace {

using plugin::Domain;
using plugin::Index3;
using plugin::Sample;
using plugin::StencilProblem;

template <class T, bool kStream>
class RowsPlan final : public plugin::Plan {
 public:
  RowsPlan(const StencilProblem& problem, const std::vector<TapGroup>& groups, int threads, const Cut& cut)
      : p_(problem),
        d_(problem.domain),
        threads_(threads),
        cut_(cut),
        several_(several_rows_pay(groups) ? kSeveralRows : 1) {
    for (const Index3& strides : {p_.in_strides, p_.out_strides, p_.packed_strides()})
      sources_.emplace_back(p_, groups, strides);
    if (p_.points() == 0) return;
    tabulate_beyond();
    workers_.reserve(std::size_t(threads));
    for (int t = 0; t < threads; ++t) workers_.emplace_back(p_);  // a copy would lose the capacity
  }

  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    const T* in = execution.operand<const T>(0);
    T* out = execution.operand<T>(1);
    T* workspace = execution.workspace<T>();
    run_team(threads_, [&](Team team) {
      plugin::for_each_sweep(p_, in, out, workspace,
                             [&](const T* source, const Index3&, T* target, const Index3& target_strides) {
                               const int kind = source == in ? 0 : source == out ? 1 : 2;
                               run(team, {sources_[std::size_t(kind)], source, target, target_strides});
                               team.barrier();
                             });
    });
  }

 private:
  static constexpr std::int64_t kLinePoints = LateLines<T>::kPoints;
  /// How far ahead of use a bundle fetches, if its next rows are farther away: a third of a first-level cache.
  static constexpr std::int64_t kFarthest = 16384 / std::int64_t(sizeof(T));

  /// What a thread has for itself: a row of taps with room for all, lines under way, and a bundle's edges.
  struct Worker {
    RowTerms<T> terms;
    LateLines<T> late;
    std::vector<T> edges;
    explicit Worker(const StencilProblem& p)
        : terms(p.taps.size()),
          edges(std::size_t(kBundlePlanes * kSeveralRows * (p.domain.reach[2][0] + p.domain.reach[2][1]))) {}
  };

  /// beyond_ holds the indices [-reach, 0) of axis 2 and behind them [extent, extent + reach).
  void tabulate_beyond() {
    const std::int64_t n = d_.extents[2];
    const auto add = [this](std::int64_t index, int side) {
      const bool constant = d_.mode[2][side] == TESSERA_BOUNDARY_CONSTANT;
      beyond_.push_back({constant, T(d_.value[2][side]), constant ? 0 : d_.mapped(2, index)});
    };
    for (std::int64_t i = -d_.reach[2][0]; i < 0; ++i) add(i, 0);
    for (std::int64_t i = n; i < n + d_.reach[2][1]; ++i) add(i, 1);
  }

  void run(Team team, const Sweep<T>& sweep) {
    const std::int64_t layers = (d_.extents[0] + cut_.depth - 1) / cut_.depth, pieces = layers * cut_.layer;
    const std::int64_t first = team.begin(pieces), last = team.end(pieces);
    Worker& worker = workers_[std::size_t(team.rank)];
    for (std::int64_t block = 0; block < cut_.layer; block += cut_.block) {
      const std::int64_t block_end = std::min(block + cut_.block, cut_.layer);
      for (std::int64_t layer = first / cut_.layer * cut_.layer; layer < last; layer += cut_.layer)
        run_pieces(sweep, std::max(first, layer + block), std::min(last, layer + block_end), worker);
    }
    if constexpr (kStream) {
      worker.late.flush();
      stream_fence();
    }
  }

  /// Pieces [first, last) of a layer.
  void run_pieces(const Sweep<T>& sweep, std::int64_t first, std::int64_t last, Worker& worker) const {
    std::int64_t begin = first % cut_.segments * cut_.segment;
    std::int64_t j = first / cut_.segments % d_.extents[1];
    const std::int64_t i = first / cut_.layer * cut_.depth;
    const bool bundles = cut_.depth == kBundlePlanes && i + kBundlePlanes <= d_.extents[0] && d_.plain_on(0, i) &&
                         d_.plain_on(0, i + kBundlePlanes - 1);
    for (std::int64_t piece = first; piece < last;) {
      if (bundles && d_.plain_on(1, j)) {
        const int rows = piece + several_ <= last && d_.plain_on(1, j + several_ - 1) ? several_ : 1;
        bundle(sweep, i, j, rows, worker);
        piece += rows, j += rows;
        continue;
      }
      const Span points{begin, std::min(begin + cut_.segment, d_.extents[2])};
      for (std::int64_t plane = i; plane < std::min(i + cut_.depth, d_.extents[0]); ++plane)
        segment(sweep, plane, j, points, worker);
      ++piece;
      if ((begin += cut_.segment) >= d_.extents[2]) begin = 0, ++j;
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
    const Index3& strides = s.source.strides;
    return {s.in, s.in + i * strides[0] + j * strides[1], strides[2],
            s.out + i * s.out_strides[0] + j * s.out_strides[1], s.out_strides[2]};
  }

  /// Some points of row (i, j).
  void segment(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, Span points, Worker& worker) const {
    const Line line = line_of(sweep, i, j);
    if (d_.frozen_on(0, i) || d_.frozen_on(1, j)) return copy_points(line, points.begin, points.end);
    const bool plain = d_.plain_on(0, i) && d_.plain_on(1, j);
    if (!plain) map_rows(sweep.source.strides, i, j, worker.terms);
    const RowTerms<T>& terms = plain ? sweep.source.terms : worker.terms;
    const T* base = plain ? line.row : line.in;
    const std::int64_t plain_begin = std::clamp(d_.plain_begin(2), points.begin, points.end);
    const Span middle = vector_part(line, {plain_begin, std::clamp(d_.plain_end(2), plain_begin, points.end)});
    ends(line, base, terms, points, middle, worker.late);
    const std::int64_t n = middle.end - middle.begin;
    if constexpr (kStream)
      stream_row(base + middle.begin, terms.taps(), terms.init, line.out + middle.begin, n,
                 line.row + sweep.source.newest + middle.begin + kAheadBytes / std::int64_t(sizeof(T)));
    else if (n > 0)
      apply_row(base + middle.begin * line.in_stride, line.in_stride, terms.taps(), terms.init,
                line.out + middle.begin * line.out_stride, line.out_stride, n);
  }

  /// Rows [j, j + rows) of the planes from i on, none of which has a boundary on the outer axes.
  void bundle(const Sweep<T>& sweep, std::int64_t i, std::int64_t j, int rows, Worker& worker) const {
    const Source<T>& source = sweep.source;
    const Line first = line_of(sweep, i, j), last = line_of(sweep, i + kBundlePlanes - 1, j + rows - 1);
    // Points near the ends of rows are summed as well, though nothing comes of it, where what lies around may be read.
    const bool inside = first.row - sweep.in + source.lowest >= 0 &&
                        last.row - sweep.in + d_.extents[2] - 1 + source.highest <= source.last;
    const Span points{0, d_.extents[2]}, plain{d_.plain_begin(2), d_.plain_end(2)};
    const Span middle = vector_part(first, inside ? points : plain);
    Bundle<T> b{};
    b.in = first.row + middle.begin, b.in_plane = source.strides[0], b.in_row = source.strides[1];
    b.out = first.out + middle.begin, b.out_plane = sweep.out_strides[0], b.out_row = sweep.out_strides[1];
    b.n = middle.end - middle.begin, b.rows = rows;
    const BundleGroups<T> groups{source.groups.data(), std::int64_t(source.groups.size())};
    if constexpr (!kStream) apply_bundle(b, groups);
    const Edges<T> edges{worker.edges.data(), std::max<std::int64_t>(plain.begin - middle.begin, 0),
                         std::max<std::int64_t>(middle.end - plain.end, 0)};
    T* edge = worker.edges.data();
    for (int p = 0; p < kBundlePlanes; ++p)
      for (int r = 0; r < rows; ++r) {
        const Line line = line_of(sweep, i + p, j + r);
        if constexpr (kStream) {
          ends(line, line.row, source.terms, points, middle, worker.late);
          edge = apply_ends(line, line.row, source.terms, middle.begin, middle.begin + edges.head, edge, 1);
          edge = apply_ends(line, line.row, source.terms, middle.end - edges.tail, middle.end, edge, 1);
        } else {
          ends(line, line.row, source.terms, points, plain, worker.late);
        }
      }
    if constexpr (kStream)
      stream_bundle(b, groups, edges, b.in + source.newest + std::min(rows * source.strides[1], kFarthest));
  }

  static void copy_points(const Line& line, std::int64_t begin, std::int64_t end) {
    if (line.in_stride == 1 && line.out_stride == 1) {
      if (begin < end) std::memcpy(line.out + begin, line.row + begin, std::size_t(end - begin) * sizeof(T));
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) line.out[i * line.out_stride] = line.row[i * line.in_stride];
  }

  /// The taps of row (i, j), from the array's first point: rows that are mapped, or constant.
  void map_rows(const Index3& strides, std::int64_t i, std::int64_t j, RowTerms<T>& terms) const {
    terms.clear();
    for (const plugin::Tap& tap : p_.taps) {
      const Sample s = d_.sample(i + tap.offset[0], j + tap.offset[1], 0);  // index 0 of axis 2 is inside
      if (s.constant)
        terms.init += T(tap.coefficient) * T(s.value);
      else
        terms.push(s.index[0] * strides[0] + s.index[1] * strides[1], tap.offset[2], strides[2], T(tap.coefficient));
    }
  }

  /// The part of some points of a row that goes in one vector loop: streamed ones fill whole cache lines.
  static Span vector_part(const Line& line, Span points) {
    if constexpr (!kStream) return points;
    const std::int64_t first = std::min(line_start(line.out, points.begin + kLinePoints - 1), points.end);
    return {first, std::max(line_start(line.out, points.end), first)};
  }

  /// The start of the cache line that point i of a row lies in.
  static std::int64_t line_start(const T* row, std::int64_t i) {
    const auto phase = std::int64_t(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % kLinePoints);
    return (i + phase) / kLinePoints * kLinePoints - phase;
  }

  /// The points around the middle of a row whose taps start from `base`: streamed lines are put together first.
  void ends(const Line& line, const T* base, const RowTerms<T>& terms, Span points, Span middle,
            LateLines<T>& late) const {
    if constexpr (!kStream) {
      apply_ends(line, base, terms, points.begin, middle.begin, line.out + points.begin * line.out_stride,
                 line.out_stride);
      apply_ends(line, base, terms, middle.end, points.end, line.out + middle.end * line.out_stride, line.out_stride);
    } else {
      for (const auto& [begin, end] : {Span{points.begin, middle.begin}, Span{middle.end, points.end}})
        for (std::int64_t i = begin; i < end;) {
          const std::int64_t start = line_start(line.out, i), next = std::min(start + kLinePoints, end);
          assemble(line, base, terms, i, next, start, late);
          i = next;
        }
    }
  }

  /// Points [begin, end) of the cache line at `start`.
  void assemble(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end,
                std::int64_t start, LateLines<T>& late) const {
    T* const points = late.open(line.out + start, begin - start, end - start);
    const std::int64_t plain = std::clamp(d_.plain_begin(2), begin, end);
    const std::int64_t plain_end = std::clamp(d_.plain_end(2), plain, end);
    if (plain < plain_end) compute_plain(base, terms, plain, plain_end, points + (plain - start));
    apply_ends(line, base, terms, begin, plain, points + (begin - start), 1);
    apply_ends(line, base, terms, plain_end, end, points + (plain_end - start), 1);
  }

  /// At most a line of plain points [begin, end), with their neighbours so that it is a whole line's length where the
  /// row has that many: one vector is cheaper than some points.
  void compute_plain(const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end, T* target) const {
    if (begin + kLinePoints <= d_.plain_end(2))
      apply_line(base + begin, terms.taps(), terms.init, target);
    else if (const std::int64_t from = end - kLinePoints; from >= d_.plain_begin(2))
      apply_line(base + from, terms.taps(), terms.init, target + (from - begin));
    else
      apply_row(base + begin, 1, terms.taps(), terms.init, target, 1, end - begin);
  }

  /// Returns where the next point would go.
  T* apply_ends(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end,
                T* target, std::int64_t stride) const {
    for (std::int64_t i = begin; i < end; ++i, target += stride)
      *target = d_.frozen_on(2, i) ? line.row[i * line.in_stride] : end_point(base, line.in_stride, terms, i);
    return target;
  }

  T end_point(const T* base, std::int64_t stride, const RowTerms<T>& terms, std::int64_t i) const {
    T sum = terms.init;
    for (std::size_t t = 0; t < terms.along.size(); ++t) {
      std::int64_t index = i + terms.along[t];
      if (index < 0 || index >= d_.extents[2]) {
        const std::int64_t entry = d_.reach[2][0] + (index < 0 ? index : index - d_.extents[2]);
        const Beyond<T>& beyond = beyond_[std::size_t(entry)];
        if (beyond.constant) {
          sum += terms.coefficient[t] * beyond.value;
          continue;
        }
        index = beyond.index;
      }
      sum += terms.coefficient[t] * base[terms.row[t] + index * stride];
    }
    return sum;
  }

  StencilProblem p_;  ///< taps as grouped
  Domain d_;
  int threads_;
  Cut cut_;
  int several_;                     ///< rows of a plane that bundles have, if not one
  std::vector<Source<T>> sources_;  ///< of in, out and the packed workspace
  std::vector<Beyond<T>> beyond_;
  std::vector<Worker> workers_;
};

template <bool kStream>
StencilPlanPointer make(Context& context, const StencilProblem& problem, plugin::PlanOptions options) {
  StencilProblem p = streamed(problem);
  const std::vector<TapGroup> groups = group_taps(p.taps);
  const int automatic = work_of_sweep(p).useful_threads(context.threads());
  const int threads = take_threads(options, automatic);
  Cut cut = cut_of(p, threads, common_planes(p, kStream), caches().level2);
  cut.block = options.parameters.take("block", cut.block, 1, std::numeric_limits<std::int32_t>::max());
  if (p.dtype == TESSERA_F32) return std::make_unique<RowsPlan<float, kStream>>(p, groups, threads, cut);
  return std::make_unique<RowsPlan<double, kStream>>(p, groups, threads, cut);
}

}  // namespace

StencilPlanPointer make_stencil_rows(Context& context, const StencilProblem& problem, plugin::PlanOptions options) {
  return make<false>(context, problem, options);
}

StencilPlanPointer make_stencil_streaming(Context& context, const StencilProblem& problem,
                                          plugin::PlanOptions options) {
  return make<true>(context, problem, options);
}

std::string why_not_streaming(const StencilProblem& problem, int) {
  for (const std::int64_t stride : {problem.in_strides[2], problem.out_strides[2]})
    if (stride != 1) return "rows have stride " + std::to_string(stride) + ", not 1";
  return {};
}

}  // namespace tessera::cpu
