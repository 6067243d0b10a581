// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Filters that are products of a factor for each axis, or sums of a few such: sums along rows, which stay in a core's
/// cache, then of these along the other axes.

#include "../caches.hpp"
#include "../context.hpp"
#include "../convert.hpp"
#include "../nontemporal_store.hpp"
#include "../thread_pool.hpp"
#include "dense_kernel.hpp"
#include "model.hpp"
#include "row_cells.hpp"
#include "row_kernel.hpp"
#include "sweep_source.hpp"
#include "temporal_axis.hpp"

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cpu {
namespace {

/// Rows, and planes, of results that are made at a time, and for how many times sums along rows have places, before
/// those that are read again go to the front.
constexpr std::int64_t kRows = 16, kPlanes = kDenseRows, kStages = 4;

/// Adds factors of values from `first` on that lie `step` apart.
template <class S>
void add_factors(const std::vector<double>& factors, std::int64_t first, std::int64_t step, RowTerms<S>& terms) {
  for (std::size_t k = 0; k < factors.size(); ++k) terms.push(first, std::int64_t(k), step, S(factors[k]));
}

/// Sums of the factors of an axis and the values that lie `step` apart, of each term, whose values begin `next` apart.
template <class S>
struct Pass {
  RowTerms<S> values;
  std::int64_t terms, count, step, next;
  std::int64_t columns;  ///< at a time

  /// `rows` results at a time read so many values of a column that the first-level cache has room for.
  Pass(const plugin::TapTerms& f, std::size_t axis, std::int64_t value_step, std::int64_t term_step, std::int64_t rows,
       std::int64_t cache)
      : terms(f.count()), count(f.box.count[axis]), step(value_step), next(term_step) {
    for (std::int64_t term = 0; term < terms; ++term)
      add_factors(f.terms[std::size_t(term)][axis], term * next, step, values);
    const std::int64_t read = (rows + count - 1) * terms;
    const std::int64_t block = read * kDensePoints<S> * std::int64_t(sizeof(S));
    columns = std::max<std::int64_t>(1, cache * 3 / 4 / block) * kDensePoints<S>;
  }
  std::int64_t room() const { return columns + kDensePoints<S>; }  ///< the most columns that are left at the end
};

/// `rows` rows of n results: some columns at a time, which the first-level cache holds, so that all rows of results
/// find them there. They go to place(row, column), rows out_step apart; then finish(row, rows, column, columns) has
/// them.
template <class S, class Place, class Finish>
void sum_rows(const Pass<S>& pass, const S* in, std::int64_t rows, std::int64_t n, std::int64_t out_step, Place&& place,
              Finish&& finish) {
  for (std::int64_t x = 0, count; x < n; x += count) {
    count = n - x < pass.room() ? n - x : pass.columns;
    const bool together = pass.count >= kDenseRows && count >= kLanes<S>;
    for (std::int64_t row = 0, done; row < rows; row += done) {
      const bool block = together && rows - row >= kDenseRows;
      done = block ? kDenseRows : 1;
      const S* const from = in + row * pass.step + x;
      if (block)
        apply_dense_block<S>({from, pass.step, pass.next, pass.terms, pass.count, 1, pass.values.coefficient.data(),
                              place(row, x), out_step, count, 0, true});
      else
        apply_row<S>(from, 1, pass.values.taps(), S(-0.0), place(row, x), 1, count);
      finish(row, done, x, count);
    }
  }
}

/// Copies values past the caches, but for those that fill no line.
template <class S>
void copy_nontemporal(const S* from, std::int64_t count, S* to) {
  constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(S));
  const std::int64_t before = std::int64_t(-reinterpret_cast<std::uintptr_t>(to) % kLineBytes / sizeof(S));
  std::int64_t i = std::min(before, count);
  std::copy_n(from, i, to);
  for (; i + kLine <= count; i += kLine) nontemporal_store_line(to + i, from + i);
  std::copy_n(from + i, count - i, to + i);
}

/// What a thread has for itself: arrays that begin on a line of the cache.
template <class T>
struct SeparableScratch {
  using S = Scalar<T>;
  struct alignas(kLineBytes) Line {
    S value[std::size_t(kLineBytes) / sizeof(S)];
  };
  struct Array : std::vector<Line> {
    void reserve_values(std::int64_t count) { this->resize(std::size_t(count) * sizeof(S) / sizeof(Line) + 1); }
    S* values() { return reinterpret_cast<S*>(this->data()); }
  };
  Array line, sums, planes, results;
  RowCells<T> cells;  ///< of the columns that are summed at a time
  Span plain{};       ///< of these, whole vectors behind the first one: they read no cell outside
};

template <class T>
class SeparablePlan final : public plugin::Plan {
  using S = Scalar<T>;

 public:
  SeparablePlan(const plugin::StencilProblem& problem, const plugin::TapTerms& f, const plugin::Parameters& parameters,
                std::int64_t level1)
      : p_(problem),
        d_(p_.domain),
        box_(f.box),
        threads_(int(parameters.at("threads"))),
        volume_(f.last == 0),
        nontemporal_(parameters.at("nontemporal") != 0),
        width_(parameters.at("columns")),
        term_((kStages * kRows + box_.count[1] - 1) * width_) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      const bool low = d_.mode[axis][0] == TESSERA_BOUNDARY_FIXED, high = d_.mode[axis][1] == TESSERA_BOUNDARY_FIXED;
      const std::int64_t begin = low ? std::min(d_.reach[axis][0], d_.extents[axis]) : 0;
      computed_[axis] = {begin, std::max(begin, d_.extents[axis] - (high ? d_.reach[axis][1] : 0))};
    }
    for (const plugin::TapTerms::Factors& term : f.terms) add_factors(term[2], 0, 1, along_.emplace_back());
    across_.push_back({f, 1, width_, term_, kRows, level1});
    across_.push_back({f, 0, kRows * width_, 0, kPlanes, level1});
    const std::int64_t planes = volume_ ? kPlanes + box_.count[0] - 1 : 0;
    if (p_.points() == 0) return;
    scratch_.resize(std::size_t(threads_));
    for (Scratch& s : scratch_) {
      s.cells.reserve(width_ + box_.count[2] - 1);
      s.line.reserve_values(width_ + box_.count[2] - 1);
      s.sums.reserve_values(f.count() * term_);
      s.planes.reserve_values(planes * kRows * width_);
      s.results.reserve_values(kDenseRows * std::max(across_[0].room(), across_[1].room()));
    }
  }

  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    run_sweeps<T>(threads_, p_, execution, [&](Team team, std::int64_t, const Arrays& arrays) {
      run(team, arrays);
      if (nontemporal_) nontemporal_fence();
    });
  }

 private:
  using Arrays = plugin::SweepArrays<T>;
  using Scratch = SeparableScratch<T>;
  static constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(S));
  static constexpr auto kNone = [](auto...) {};

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
        set_columns({x, std::min(x + width_, computed_[2].end)}, scratch);
        const Span marched{along.begin + begin, along.begin + end};
        if (volume_)
          march_planes(a, lane, marched, scratch);
        else
          march_rows(a, lane, marched, scratch);
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

  void set_columns(Span columns, Scratch& scratch) const {
    scratch.cells.set(d_, columns, box_.first[2], box_.count[2]);
    const Span& inside = scratch.cells.inside();
    scratch.plain = {plugin::ceil_div<std::int64_t>(inside.begin, kLanes<S>) * kLanes<S>,
                     std::min(columns.size(), inside.end - box_.count[2] + 1)};
  }

  /// Sums along row (i, j), which may lie outside of the domain, of what the columns and their neighbours read.
  void sum_row(const Arrays& a, std::int64_t i, std::int64_t j, S* to, Scratch& scratch) const {
    const RowCells<T>& cells = scratch.cells;
    const plugin::Sample row = d_.sample(i, j, 0);  // index 0 of axis 2 is inside
    const std::int64_t stride = a.source_strides[2], n = cells.columns().size(), more = box_.count[2] - 1;
    const T* const from = a.source + row.index[0] * a.source_strides[0] + row.index[1] * a.source_strides[1];
    S* const line = scratch.line.values();
    if (row.constant) {
      std::fill_n(line, cells.count(), S(row.value));
      return sum_along(line, to, n);
    }
    const auto sum_copy = [&](std::int64_t first, std::int64_t count) {
      cells.copy(from, stride, {first, first + count + more}, line);
      sum_along(line + first, to + first, count);
    };
    const Span plain = scratch.plain;
    if constexpr (std::is_same_v<T, S>)
      if (stride == 1 && plain.size() >= kLanes<S>) {
        const T* const in = cells.in(from, 1);
        const std::int64_t ahead = volume_ ? a.source_strides[0] : kRows * a.source_strides[1];
        for (std::int64_t cell = more; cell < cells.count(); cell += kLine) __builtin_prefetch(in + cell + ahead, 0, 2);
        if (plain.begin > 0) sum_copy(0, plain.begin);
        sum_along(in + plain.begin, to + plain.begin, plain.size());
        if (plain.end < n) sum_copy(std::min(plain.end, n - kLanes<S>), n - std::min(plain.end, n - kLanes<S>));
        return;
      }
    sum_copy(0, n);
  }

  /// Each term's sums of n neighbours.
  void sum_along(const S* in, S* to, std::int64_t n) const {
    for (const RowTerms<S>& term : along_) apply_row<S>(in, 1, term.taps(), S(-0.0), to, 1, n), to += term_;
  }

  /// Sums along rows [begin, end) of what the rows of a plane read.
  void sum_row_range(const Arrays& a, std::int64_t i, Span rows, S* to, Scratch& scratch) const {
    for (std::int64_t j = rows.begin; j < rows.end; ++j, to += width_) sum_row(a, i, j, to, scratch);
  }

  void march_rows(const Arrays& a, std::int64_t i, Span rows, Scratch& scratch) const {
    const std::int64_t more = box_.count[1] - 1, plane = i + box_.first[0];
    const Span columns = scratch.cells.columns();
    S* const sums = scratch.sums.values();
    const std::int64_t first = rows.begin + box_.first[1];
    sum_row_range(a, plane, {first, first + more}, sums, scratch);
    std::int64_t at = 0;
    for (std::int64_t j = rows.begin; j < rows.end; j += kRows) {
      const std::int64_t count = std::min(kRows, rows.end - j), next = j + box_.first[1] + more;
      sum_row_range(a, plane, {next, next + count}, sums + at + more * width_, scratch);
      write(across_[0], sums + at, count, a, {i, j, columns.begin}, 1, columns.size(), scratch);
      at += count * width_;
      if (at + (more + kRows) * width_ > kStages * kRows * width_ + more * width_) {
        for (S* term = sums; term < sums + std::int64_t(along_.size()) * term_; term += term_)
          std::copy(term + at, term + at + more * width_, term);
        at = 0;
      }
    }
  }

  void march_planes(const Arrays& a, std::int64_t strip, Span planes, Scratch& scratch) const {
    const std::int64_t j = computed_[1].begin + strip * kRows, rows = std::min(kRows, computed_[1].end - j);
    const std::int64_t more = box_.count[0] - 1, step = kRows * width_;
    const Span columns = scratch.cells.columns();
    const std::int64_t n = columns.size();
    S* const sums = scratch.planes.values();
    const auto sum_planes = [&](std::int64_t first, std::int64_t count, S* to) {
      for (std::int64_t i = first; i < first + count; ++i, to += step) {
        const std::int64_t row = j + box_.first[1];
        sum_row_range(a, i, {row, row + rows + box_.count[1] - 1}, scratch.sums.values(), scratch);
        sum_rows(
            across_[0], scratch.sums.values(), rows, n, width_, [&](auto r, auto x) { return to + r * width_ + x; },
            kNone);
      }
    };
    sum_planes(planes.begin + box_.first[0], more, sums);
    for (std::int64_t i = planes.begin; i < planes.end; i += kPlanes) {
      const std::int64_t count = std::min(kPlanes, planes.end - i);
      sum_planes(i + box_.first[0] + more, count, sums + more * step);
      for (std::int64_t row = 0; row < rows; ++row)
        write(across_[1], sums + row * width_, count, a, {i, j + row, columns.begin}, 0, n, scratch);
      std::copy(sums + count * step, sums + (count + more) * step, sums);
    }
  }

  /// The last sums of `count` rows of results from `at` on, along an axis.
  void write(const Pass<S>& pass, const S* sums, std::int64_t count, const Arrays& a, const plugin::Index3& at,
             std::size_t axis, std::int64_t n, Scratch& scratch) const {
    const std::int64_t next = a.target_strides[axis], stride = a.target_strides[2];
    T* const to = a.target + at[0] * a.target_strides[0] + at[1] * a.target_strides[1] + at[2] * stride;
    if constexpr (std::is_same_v<T, S>)
      if (stride == 1 && !nontemporal_)
        return sum_rows(
            pass, sums, count, n, next, [&](auto row, auto x) { return to + row * next + x; }, kNone);
    S* const results = scratch.results.values();
    const std::int64_t width = pass.room();
    const auto finish = [&](std::int64_t row, std::int64_t rows, std::int64_t x, std::int64_t columns) {
      for (std::int64_t r = 0; r < rows; ++r)
        write_row(results + r * width, columns, to + (row + r) * next + x * stride, stride);
    };
    sum_rows(
        pass, sums, count, n, width, [&](auto, auto) { return results; }, finish);
  }

  void write_row(const S* from, std::int64_t n, T* to, std::int64_t stride) const {
    if (stride != 1)
      for (std::int64_t x = 0; x < n; ++x) to[x * stride] = T(from[x]);
    else if constexpr (std::is_same_v<T, S>)
      copy_nontemporal(from, n, to);
    else
      copy_rounded<T>(from, n, to);
  }

  plugin::StencilProblem p_;
  const plugin::Domain& d_ = p_.domain;
  plugin::TapBox box_;
  int threads_;
  bool volume_;                     ///< the taps have several places on axis 0
  bool nontemporal_;                ///< whole lines of results of 32 or 64 bits go past the caches
  std::int64_t width_;              ///< columns that are summed at a time
  std::int64_t term_;               ///< from a term's sums along rows to the next one's
  Span computed_[plugin::kAxes]{};  ///< points that do not keep their values
  std::vector<RowTerms<S>> along_;  ///< the terms' sums along rows
  std::vector<Pass<S>> across_;     ///< of all terms, along axes 1 and 0
  std::vector<Scratch> scratch_;
};

std::string why_unsupported(const plugin::StencilProblem& problem, const Machine&) {
  return plugin::tap_terms(problem)
             ? ""
             : "takes taps that fill a box and are products of a factor for each axis, in a plane sums of "
               "up to four such products, within their rounding";
}

/// Columns whose sums half of the second-level cache holds while they are read, in equal parts of whole lines.
std::int64_t automatic_columns(const plugin::StencilProblem& p, const Machine& machine, const plugin::TapTerms& f) {
  constexpr std::int64_t kFewest = 256;  // or beginning a row takes too long
  const std::int64_t element = std::max<std::int64_t>(4, std::int64_t(plugin::size_of(p.dtype)));
  const std::int64_t rows = kRows + f.box.count[1] - 1, planes = f.last == 0 ? kPlanes + f.box.count[0] - 1 : 0;
  const std::int64_t most =
      std::max(kFewest, machine.caches.level2 / 2 / ((rows * f.count() + planes * kRows) * element));
  const std::int64_t all = std::max<std::int64_t>(p.domain.extents[2], 1), line = kLineBytes / element;
  const std::int64_t equal = plugin::ceil_div(all, plugin::ceil_div(all, most));
  return std::min(all, plugin::ceil_div(equal, line) * line);
}

void offer(const plugin::StencilProblem& problem, const Machine& machine, const plugin::GivenParameters& given,
           std::uint64_t, plugin::OfferList& offers) {
  const auto terms = plugin::tap_terms(problem);
  if (!terms) return;
  const StencilWork work(problem, machine.instructions);
  const double alone = separable_seconds(machine, work, *terms, 1);
  const double sweep = alone / double(std::max<std::int64_t>(problem.steps, 1));
  const int threads = int(given.in_range("threads", machine.useful_threads(sweep), 1, kMostThreads));
  const std::int64_t all = std::max<std::int64_t>(problem.domain.extents[2], 1);
  const std::int64_t columns = given.in_range("columns", automatic_columns(problem, machine, *terms), 1, all);
  const std::int64_t nontemporal =
      given.in_range("nontemporal", separable_passes_caches(machine, work, threads) ? 1 : 0, 0,
                     plugin::size_of(problem.dtype) > 2 ? 1 : 0);
  offers.add({{{"threads", threads}, {"columns", columns}, {"nontemporal", nontemporal}},
              separable_seconds(machine, work, *terms, threads),
              problem.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SeparablePlan<T>>(problem, plugin::tap_terms(problem).value(), parameters,
                                              context.machine().caches.level1);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"separable", why_unsupported, offer, make, {.narrow = true}}, 4};

}  // namespace
}  // namespace tessera::cpu
