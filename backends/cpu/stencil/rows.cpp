// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row. Along a row (axis 2) the points whose taps stay inside form one vector
/// loop; boundary modes of the outer axes only change which rows the taps read, or turn a tap into
/// a constant. What is left, the two ends of each row, goes point by point. Two algorithms differ in
/// where results go: `rows` stores into the caches, `streaming` past them.

#include "../caches.hpp"
#include "../cost.hpp"
#include "../parallel.hpp"
#include "algorithms.hpp"
#include "late_lines.hpp"
#include "row_kernel.hpp"

#include <cstring>
#include <limits>
#include <string>

namespace tessera::cpu {
namespace {

using plugin::Domain;
using plugin::Index3;
using plugin::Sample;
using plugin::StencilProblem;

/// A sweep's rows are cut into segments of whole cache lines, at least this many points long.
constexpr std::int64_t kSegmentMultiple = 64, kShortestSegment = 2048;

/// How a sweep is cut. A plane is what lies at one index of axis 0, or of axis 1 where axis 0 has extent 1; pieces of a
/// plane are rows or their segments. A thread visits one block of pieces in all of its planes, then the next block.
struct Cut {
  std::int64_t segment, segments;  ///< points of a segment, segments of a row
  std::int64_t plane, block;       ///< pieces of a plane and of a block
};

/// Enough segments to share few long rows evenly; a row is one segment where there are many. Blocks so small that what
/// taps read of the planes around stays in half of a core's cache, but larger than what they share with their
/// neighbours.
Cut cut_of(const StencilProblem& p, int threads, std::int64_t cache) {
  const auto& [n0, n1, n2] = p.domain.extents;
  const auto& reach = p.domain.reach;
  const std::int64_t rows = n0 * n1;
  const std::int64_t wanted = threads == 1 ? 1 : (8 * threads + rows - 1) / rows;
  const std::int64_t pieces = std::clamp<std::int64_t>(n2 / kShortestSegment, 1, wanted);
  const std::int64_t segment =
      ((n2 + pieces - 1) / pieces + kSegmentMultiple - 1) / kSegmentMultiple * kSegmentMultiple;
  const std::int64_t segments = (n2 + segment - 1) / segment;

  const int axis = n0 > 1 ? 0 : 1;
  const std::int64_t plane = axis == 0 ? n1 * segments : segments;
  const std::int64_t planes = reach[axis][0] + reach[axis][1] + 1;
  const std::int64_t shared = axis == 0 ? (reach[1][0] + reach[1][1]) * segments : 0;
  const std::int64_t piece_bytes = std::min(segment, n2) * std::int64_t(plugin::size_of(p.dtype));
  const std::int64_t fitting = std::max(cache / 2 / planes / piece_bytes - shared, 2 * shared + 1);
  const std::int64_t blocks = (plane + fitting - 1) / fitting;
  return {segment, segments, plane, (plane + blocks - 1) / blocks};
}

/// The taps of one row as distances from a base, outer axes apart: offset = row + along * stride.
template <class T>
struct RowTerms {
  std::vector<std::int64_t> offset, row, along;
  std::vector<T> coefficient;
  T init = T(-0.0);  ///< sum of the constant terms; -0.0 is the neutral element of addition

  explicit RowTerms(std::size_t capacity = 0) {
    offset.reserve(capacity), row.reserve(capacity), along.reserve(capacity), coefficient.reserve(capacity);
  }
  void clear() {
    offset.clear(), row.clear(), along.clear(), coefficient.clear();
    init = T(-0.0);
  }
  void push(std::int64_t row_offset, std::int64_t along_offset, std::int64_t stride, T c) {
    offset.push_back(row_offset + along_offset * stride);
    row.push_back(row_offset);
    along.push_back(along_offset);
    coefficient.push_back(c);
  }
  RowTaps<T> taps() const { return {offset.data(), coefficient.data(), std::int64_t(offset.size())}; }
};

/// What a tap finds at an index outside axis 2: a constant, or the point that stands for it.
template <class T>
struct Beyond {
  bool constant;
  T value;
  std::int64_t index;
};

/// An array that sweeps read, with the taps of a row away from the outer boundaries.
template <class T>
struct Source {
  Index3 strides;
  RowTerms<T> terms;
};

template <class T, bool kStream>
class RowsPlan final : public plugin::Plan {
 public:
  RowsPlan(const StencilProblem& problem, int threads, const Cut& cut)
      : p_(problem), d_(problem.domain), threads_(threads), cut_(cut) {
    std::sort(p_.taps.begin(), p_.taps.end(),
              [](const plugin::Tap& a, const plugin::Tap& b) { return a.offset < b.offset; });
    for (const Index3& strides : {p_.in_strides, p_.out_strides, p_.packed_strides()}) add_source(strides);
    if (p_.points() == 0) return;
    tabulate_beyond();
    workers_.reserve(std::size_t(threads));
    for (int t = 0; t < threads; ++t) workers_.emplace_back(p_.taps.size());  // a copy would lose the capacity
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
                               sweep(team, sources_[std::size_t(kind)], source, target, target_strides);
                               team.barrier();
                             });
    });
  }

 private:
  static constexpr std::int64_t kLinePoints = LateLines<T>::kPoints;

  /// What a thread has for itself: a row of taps with room for all, and lines under way.
  struct Worker {
    RowTerms<T> terms;
    LateLines<T> late;
    explicit Worker(std::size_t taps) : terms(taps) {}
  };

  void add_source(const Index3& strides) {
    Source<T> source{strides, RowTerms<T>(p_.taps.size())};
    for (const auto& [offset, coefficient] : p_.taps)
      source.terms.push(offset[0] * strides[0] + offset[1] * strides[1], offset[2], strides[2], T(coefficient));
    sources_.push_back(std::move(source));
  }

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

  void sweep(Team team, const Source<T>& source, const T* in, T* out, const Index3& out_strides) {
    const std::int64_t pieces = d_.extents[0] * d_.extents[1] * cut_.segments;
    const std::int64_t first = team.begin(pieces), last = team.end(pieces);
    Worker& worker = workers_[std::size_t(team.rank)];
    for (std::int64_t block = 0; block < cut_.plane; block += cut_.block) {
      const std::int64_t block_end = std::min(block + cut_.block, cut_.plane);
      for (std::int64_t plane = first / cut_.plane * cut_.plane; plane < last; plane += cut_.plane)
        run_pieces(source, in, out, out_strides, std::max(first, plane + block), std::min(last, plane + block_end),
                   worker);
    }
    if constexpr (kStream) {
      worker.late.flush();
      stream_fence();
    }
  }

  /// Pieces [first, last), which follow each other in memory.
  void run_pieces(const Source<T>& source, const T* in, T* out, const Index3& out_strides, std::int64_t first,
                  std::int64_t last, Worker& worker) const {
    std::int64_t begin = first % cut_.segments * cut_.segment;
    std::int64_t j = first / cut_.segments % d_.extents[1], i = first / cut_.segments / d_.extents[1];
    for (std::int64_t piece = first; piece < last; ++piece) {
      const Line line{in, in + i * source.strides[0] + j * source.strides[1], source.strides[2],
                      out + i * out_strides[0] + j * out_strides[1], out_strides[2]};
      segment(line, source, i, j, begin, std::min(begin + cut_.segment, d_.extents[2]), worker);
      if ((begin += cut_.segment) < d_.extents[2]) continue;
      begin = 0;
      if (++j < d_.extents[1]) continue;
      j = 0, ++i;
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

  /// Points [begin, end) of row (i, j).
  void segment(const Line& line, const Source<T>& source, std::int64_t i, std::int64_t j, std::int64_t begin,
               std::int64_t end, Worker& worker) const {
    if (d_.frozen_on(0, i) || d_.frozen_on(1, j)) return copy_points(line, begin, end);
    if (d_.plain_on(0, i) && d_.plain_on(1, j)) return store(line, line.row, source.terms, begin, end, worker.late);
    map_rows(source.strides, i, j, worker.terms);
    store(line, line.in, worker.terms, begin, end, worker.late);
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
    const plugin::Tap* last = nullptr;
    Sample s{};
    for (const plugin::Tap& tap : p_.taps) {
      // Sorted taps: those that read one row follow each other. Index 0 of axis 2 is inside.
      if (last == nullptr || tap.offset[0] != last->offset[0] || tap.offset[1] != last->offset[1])
        s = d_.sample(i + tap.offset[0], j + tap.offset[1], 0);
      last = &tap;
      if (s.constant)
        terms.init += T(tap.coefficient) * T(s.value);
      else
        terms.push(s.index[0] * strides[0] + s.index[1] * strides[1], tap.offset[2], strides[2], T(tap.coefficient));
    }
  }

  /// Points [begin, end) of a row whose taps start from `base`, into out.
  void store(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end,
             LateLines<T>& late) const {
    if constexpr (kStream)
      stream(line, base, terms, begin, end, late);
    else
      apply(line, base, terms, begin, end);
  }

  /// The same past the caches: whole lines of plain points straight away, those around them from several pieces.
  void stream(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end,
              LateLines<T>& late) const {
    const std::int64_t phase = std::int64_t(reinterpret_cast<std::uintptr_t>(line.out) / sizeof(T) % kLinePoints);
    const auto line_start = [=](std::int64_t i) { return (i + phase) / kLinePoints * kLinePoints - phase; };
    const std::int64_t plain = std::clamp(d_.plain_begin(2), begin, end);
    const std::int64_t first = std::min(line_start(plain + kLinePoints - 1), end);
    const std::int64_t last = std::max(line_start(std::clamp(d_.plain_end(2), plain, end)), first);
    for (std::int64_t i = begin; i < first; i = line_start(i) + kLinePoints)
      assemble(line, base, terms, i, std::min(line_start(i) + kLinePoints, first), line_start(i), late);
    stream_row(base + first, terms.taps(), terms.init, line.out + first, last - first);
    for (std::int64_t i = last; i < end; i += kLinePoints)
      assemble(line, base, terms, i, std::min(i + kLinePoints, end), line_start(i), late);
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

  /// The same through the caches.
  void apply(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end) const {
    const std::int64_t plain = std::clamp(d_.plain_begin(2), begin, end);
    const std::int64_t plain_end = std::clamp(d_.plain_end(2), plain, end);
    apply_ends(line, base, terms, begin, plain, line.out + begin * line.out_stride, line.out_stride);
    if (plain < plain_end)
      apply_row(base + plain * line.in_stride, line.in_stride, terms.taps(), terms.init,
                line.out + plain * line.out_stride, line.out_stride, plain_end - plain);
    apply_ends(line, base, terms, plain_end, end, line.out + plain_end * line.out_stride, line.out_stride);
  }

  void apply_ends(const Line& line, const T* base, const RowTerms<T>& terms, std::int64_t begin, std::int64_t end,
                  T* target, std::int64_t stride) const {
    for (std::int64_t i = begin; i < end; ++i, target += stride)
      *target = d_.frozen_on(2, i) ? line.row[i * line.in_stride] : end_point(base, line.in_stride, terms, i);
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

  StencilProblem p_;  ///< taps sorted by offset
  Domain d_;
  int threads_;
  Cut cut_;
  std::vector<Source<T>> sources_;  ///< of in, out and the packed workspace
  std::vector<Beyond<T>> beyond_;
  std::vector<Worker> workers_;
};

template <bool kStream>
StencilPlanPointer make(Context& context, const StencilProblem& problem, plugin::PlanOptions options) {
  const int automatic = work_of_sweep(problem).useful_threads(context.threads());
  const int threads = int(options.parameters.take("threads", automatic, 1, 1024));
  Cut cut{1, 1, 1, 1};
  if (problem.points() > 0) cut = cut_of(problem, threads, caches().level2);
  cut.block = options.parameters.take("block", cut.block, 1, std::numeric_limits<std::int32_t>::max());
  if (problem.dtype == TESSERA_F32) return std::make_unique<RowsPlan<float, kStream>>(problem, threads, cut);
  return std::make_unique<RowsPlan<double, kStream>>(problem, threads, cut);
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
