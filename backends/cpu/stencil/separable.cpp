// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Filters that are products of a factor for each axis: sums along rows, which stay in a core's cache, then of these
/// along the other axes.

#include "../context.hpp"
#include "../thread_pool.hpp"
#include "dense_kernel.hpp"
#include "model.hpp"
#include "row_kernel.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plugin.hpp>
#include <tessera/plugin/tap_factors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cpu {
namespace {

/// One sum: factors of the values that lie `step` apart.
template <class S>
struct Pass {
  std::vector<S> factor;
  std::vector<std::int64_t> offset;

  Pass(const std::vector<double>& factors, std::int64_t step) {
    for (const double f : factors) offset.push_back(std::int64_t(factor.size()) * step), factor.push_back(S(f));
  }
  std::int64_t count() const { return std::int64_t(factor.size()); }
  RowTaps<S> taps() const { return {offset.data(), offset.data(), factor.data(), count()}; }
};

/// `rows` rows of results, of rows of values that lie `step` apart.
template <class S>
void sum_rows(const Pass<S>& pass, const S* in, std::int64_t step, S* out, std::int64_t out_step, std::int64_t rows,
              std::int64_t n) {
  const bool together = pass.count() >= kDenseRows && n >= kLanes<S>;
  while (rows > 0) {
    const bool block = together && rows >= kDenseRows;
    if (block)
      apply_dense_block<S>({in, step, 0, 1, pass.count(), 1, pass.factor.data(), out, out_step, n});
    else
      apply_row<S>(in, 1, pass.taps(), S(-0.0), out, 1, n);
    const std::int64_t done = block ? kDenseRows : 1;
    in += done * step, out += done * out_step, rows -= done;
  }
}

/// What a thread has for itself.
template <class T>
struct SeparableScratch {
  using S = Scalar<T>;
  std::vector<S> line, sums, planes, results;
};

template <class T>
class SeparablePlan final : public plugin::Plan {
  using S = Scalar<T>;

 public:
  SeparablePlan(const plugin::StencilProblem& problem, const plugin::TapFactors& f, int threads, std::int64_t cache)
      : p_(problem), d_(p_.domain), box_(f.box), threads_(threads), volume_(f.last == 0) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      const bool low = d_.mode[axis][0] == TESSERA_BOUNDARY_FIXED, high = d_.mode[axis][1] == TESSERA_BOUNDARY_FIXED;
      const std::int64_t begin = low ? std::min(d_.reach[axis][0], d_.extents[axis]) : 0;
      computed_[axis] = {begin, std::max(begin, d_.extents[axis] - (high ? d_.reach[axis][1] : 0))};
    }
    // Sums of two stages of rows, of as many columns as half of the cache holds.
    const std::int64_t rows = kRows + box_.count[1] - 1, planes = volume_ ? kPlanes + box_.count[0] - 1 : 0;
    const std::int64_t column = (rows + planes * kRows + 2) * std::int64_t(sizeof(S));
    width_ = std::clamp<std::int64_t>(cache / 2 / column, kShortest, std::max(kShortest, computed_[2].size()));
    passes_.emplace_back(f.factor[2], 1);
    passes_.emplace_back(f.factor[1], width_);
    passes_.emplace_back(f.factor[0], kRows * width_);
    if (p_.points() == 0) return;
    scratch_.resize(std::size_t(threads));
    for (SeparableScratch<T>& s : scratch_) {
      s.line.resize(std::size_t(width_ + box_.count[2] - 1));
      s.sums.resize(std::size_t(rows * width_));
      s.planes.resize(std::size_t(planes * kRows * width_));
      s.results.resize(std::size_t(kRows * width_));
    }
  }

  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    const T* in = execution.operand<const T>(0);
    T* out = execution.operand<T>(1);
    T* workspace = execution.workspace<T>();
    run_steps(threads_, p_.steps,
              [&](Team team, std::int64_t step) { run(team, plugin::sweep_arrays(p_, in, out, workspace, step)); });
  }

 private:
  using Arrays = plugin::SweepArrays<T>;
  using Scratch = SeparableScratch<T>;
  /// Rows, and planes, of results that are made at a time.
  static constexpr std::int64_t kRows = 16, kPlanes = kDenseRows;
  /// Columns of sums at least, whatever the cache.
  static constexpr std::int64_t kShortest = 256;

  void run(Team team, const Arrays& a) {
    const std::int64_t rows = d_.extents[0] * d_.extents[1];
    for (std::int64_t row = team.begin(rows); row < team.end(rows); ++row)
      keep_row(a, row / d_.extents[1], row % d_.extents[1]);
    Scratch& scratch = scratch_[std::size_t(team.rank)];
    // A thread marches along rows of planes, or along planes of strips of rows.
    const Span along = volume_ ? computed_[0] : computed_[1];
    const std::int64_t lanes = volume_ ? plugin::ceil_div(computed_[1].size(), kRows) : d_.extents[0];
    const std::int64_t all = lanes * along.size(), first = team.begin(all), last = team.end(all);
    for (std::int64_t at = first; at < last;) {
      const std::int64_t lane = at / along.size(), begin = at % along.size();
      const std::int64_t end = std::min(along.size(), begin + last - at);
      for (std::int64_t x = computed_[2].begin; x < computed_[2].end; x += width_) {
        const Span columns{x, std::min(x + width_, computed_[2].end)}, marched{along.begin + begin, along.begin + end};
        if (volume_)
          march_planes(a, lane, marched, columns, scratch);
        else
          march_rows(a, lane, marched, columns, scratch);
      }
      at += end - begin;
    }
  }

  /// The points of a row that keep their values.
  void keep_row(const Arrays& a, std::int64_t i, std::int64_t j) const {
    const bool all = d_.frozen_on(0, i) || d_.frozen_on(1, j);
    const Span low{0, all ? d_.extents[2] : computed_[2].begin}, high{computed_[2].end, d_.extents[2]};
    const T* const from = a.source + i * a.source_strides[0] + j * a.source_strides[1];
    T* const to = a.target + i * a.target_strides[0] + j * a.target_strides[1];
    for (const Span& kept : {low, high})
      if (kept.size() > 0 && !(all && kept.begin > 0))
        copy_points(from + kept.begin * a.source_strides[2], a.source_strides[2], to + kept.begin * a.target_strides[2],
                    a.target_strides[2], kept.size());
  }

  /// Sums along row (i, j), which may lie outside of the domain, of what a point of `columns` and its neighbours read.
  void sum_row(const Arrays& a, std::int64_t i, std::int64_t j, Span columns, S* to, Scratch& scratch) const {
    const plugin::Sample row = d_.sample(i, j, 0);  // index 0 of axis 2 is inside
    const T* const from = a.source + row.index[0] * a.source_strides[0] + row.index[1] * a.source_strides[1];
    const std::int64_t first = box_.first[2], cells = columns.size() + box_.count[2] - 1;
    const std::int64_t begin = columns.begin + first, stride = a.source_strides[2];
    // Of the cells [begin, begin + cells), those in the domain.
    const std::int64_t low = std::clamp<std::int64_t>(-begin, 0, cells);
    const std::int64_t high = std::clamp<std::int64_t>(d_.extents[2] - begin, low, cells);
    if constexpr (sizeof(T) == sizeof(S))
      if (!row.constant && stride == 1) {
        // Without a copy where a part of the row has all of its cells in the domain.
        const std::int64_t plain_end = std::max(low, high - box_.count[2] + 1);
        if (plain_end - low >= kLanes<S>) {
          apply_row<S>(from + begin + low, 1, passes_[0].taps(), S(-0.0), to + low, 1, plain_end - low);
          for (const Span& end : {Span{0, low}, Span{plain_end, columns.size()}})
            if (end.size() > 0) sum_cells(a, i, j, begin + end.begin, from, end.size(), to + end.begin, scratch);
          return;
        }
      }
    sum_cells(a, i, j, begin, row.constant ? nullptr : from, columns.size(), to, scratch, S(row.value));
  }

  /// n sums of the cells from `begin` on of a row that lies at `from`; without it, all cells have one value.
  void sum_cells(const Arrays& a, std::int64_t i, std::int64_t j, std::int64_t begin, const T* from, std::int64_t n,
                 S* to, Scratch& scratch, S value = S(0)) const {
    const std::int64_t stride = a.source_strides[2], cells = n + box_.count[2] - 1;
    S* const line = scratch.line.data();
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::int64_t x = begin + cell;
      if (from == nullptr) {
        line[cell] = value;
      } else if (x >= 0 && x < d_.extents[2]) {
        line[cell] = S(from[x * stride]);
      } else {
        const plugin::Sample s = d_.sample(i, j, x);
        line[cell] = s.constant ? S(s.value) : S(from[s.index[2] * stride]);
      }
    }
    apply_row<S>(line, 1, passes_[0].taps(), S(-0.0), to, 1, n);
  }

  /// Sums along rows [begin, end) of what the rows of a plane read.
  void sum_row_range(const Arrays& a, std::int64_t i, Span rows, Span columns, S* to, Scratch& scratch) const {
    for (std::int64_t j = rows.begin; j < rows.end; ++j, to += width_) sum_row(a, i, j, columns, to, scratch);
  }

  void march_rows(const Arrays& a, std::int64_t i, Span rows, Span columns, Scratch& scratch) const {
    const std::int64_t more = box_.count[1] - 1, plane = i + box_.first[0];
    S* const sums = scratch.sums.data();
    const std::int64_t first = rows.begin + box_.first[1];
    sum_row_range(a, plane, {first, first + more}, columns, sums, scratch);
    for (std::int64_t j = rows.begin; j < rows.end; j += kRows) {
      const std::int64_t count = std::min(kRows, rows.end - j), next = j + box_.first[1] + more;
      sum_row_range(a, plane, {next, next + count}, columns, sums + more * width_, scratch);
      write(passes_[1], sums, width_, count, a, {i, j, columns.begin}, 1, columns.size(), scratch);
      std::copy(sums + count * width_, sums + (count + more) * width_, sums);
    }
  }

  void march_planes(const Arrays& a, std::int64_t strip, Span planes, Span columns, Scratch& scratch) const {
    const std::int64_t j = computed_[1].begin + strip * kRows, rows = std::min(kRows, computed_[1].end - j);
    const std::int64_t more = box_.count[0] - 1, step = kRows * width_, n = columns.size();
    S* const sums = scratch.planes.data();
    const auto sum_planes = [&](std::int64_t first, std::int64_t count, S* to) {
      for (std::int64_t i = first; i < first + count; ++i, to += step) {
        const std::int64_t row = j + box_.first[1];
        sum_row_range(a, i, {row, row + rows + box_.count[1] - 1}, columns, scratch.sums.data(), scratch);
        sum_rows(passes_[1], scratch.sums.data(), width_, to, width_, rows, n);
      }
    };
    sum_planes(planes.begin + box_.first[0], more, sums);
    for (std::int64_t i = planes.begin; i < planes.end; i += kPlanes) {
      const std::int64_t count = std::min(kPlanes, planes.end - i);
      sum_planes(i + box_.first[0] + more, count, sums + more * step);
      for (std::int64_t row = 0; row < rows; ++row)
        write(passes_[2], sums + row * width_, step, count, a, {i, j + row, columns.begin}, 0, n, scratch);
      std::copy(sums + count * step, sums + (count + more) * step, sums);
    }
  }

  /// The last sums of `count` rows of results from `at` on, along an axis.
  void write(const Pass<S>& pass, const S* sums, std::int64_t step, std::int64_t count, const Arrays& a,
             const plugin::Index3& at, std::size_t axis, std::int64_t n, Scratch& scratch) const {
    T* to = a.target + at[0] * a.target_strides[0] + at[1] * a.target_strides[1] + at[2] * a.target_strides[2];
    if constexpr (sizeof(T) == sizeof(S))
      if (a.target_strides[2] == 1) return sum_rows(pass, sums, step, to, a.target_strides[axis], count, n);
    S* const results = scratch.results.data();
    sum_rows(pass, sums, step, results, width_, count, n);
    for (std::int64_t r = 0; r < count; ++r, to += a.target_strides[axis])
      for (std::int64_t x = 0; x < n; ++x) to[x * a.target_strides[2]] = T(results[r * width_ + x]);
  }

  plugin::StencilProblem p_;
  const plugin::Domain& d_ = p_.domain;
  plugin::TapBox box_;
  int threads_;
  bool volume_;                     ///< the taps have several places on axis 0
  Span computed_[plugin::kAxes]{};  ///< points that do not keep their values
  std::int64_t width_ = 0;          ///< columns that are summed at a time
  std::vector<Pass<S>> passes_;     ///< along axes 2, 1 and 0
  std::vector<Scratch> scratch_;
};

std::string why_unsupported(const plugin::StencilProblem& problem, const Machine&) {
  return plugin::tap_factors(problem)
             ? ""
             : "takes taps that fill a box and are products of a factor for each axis, within their rounding";
}

void offer(const plugin::StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t, plugin::OfferList& offers) {
  const auto factors = plugin::tap_factors(problem);
  if (!factors) return;
  const double alone = separable_seconds(machine, problem, *factors, 1);
  const double sweep = alone / double(std::max<std::int64_t>(problem.steps, 1));
  const int threads = int(given.in_range("threads", machine.useful_threads(sweep), 1, kMostThreads));
  offers.add(
      {{{"threads", threads}}, separable_seconds(machine, problem, *factors, threads), problem.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SeparablePlan<T>>(problem, plugin::tap_factors(problem).value(),
                                              int(parameters.at("threads")), context.machine().caches.level2);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"separable", why_unsupported, offer, make, {.narrow = true}}, 4};

}  // namespace
}  // namespace tessera::cpu
