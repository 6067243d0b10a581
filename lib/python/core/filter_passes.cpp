// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "filter_passes.hpp"

#include "workers.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <vector>

namespace tessera::python {
namespace {

constexpr std::int64_t kCached = 16 * 1024;     // elements of rows that a thread keeps: 128 KiB of f64
constexpr double kWorthThread = 2048.0 * 1024;  // operations for which a thread is woken: about 0.2 ms

Load<double> load_of(const Frame& frame) { return row_kernels().load[int(frame.in_type)]; }
Store<double> store_of(const Frame& frame) { return row_kernels().store[int(frame.out_type)]; }

int threads_for(const Frame& frame, double operations, int most) {
  const double points = double(frame.outer_rows()) * double(frame.row.count);
  return int(std::clamp(points * operations / kWorthThread, 1.0, double(std::max(most, 1))));
}

/// Points of a row that are done at once, so that the rows of the window stay in the cache.
std::int64_t part_of_row(const Frame& frame) {
  const std::int64_t fits = kCached / frame.window_rows() / kRowBlock * kRowBlock;
  return std::min(frame.row.count, std::max(fits, kRowBlock));
}

char* output_at(const Frame& frame, const std::vector<std::int64_t>& index, std::int64_t place) {
  char* to = frame.out + place * frame.row.out_stride;
  for (std::size_t axis = 0; axis < index.size(); ++axis) to += index[axis] * frame.outer[axis].out_stride;
  return to;
}
const char* input_at(const Frame& frame, const std::vector<std::int64_t>& index) {
  const char* from = frame.in;
  for (std::size_t axis = 0; axis < index.size(); ++axis) from += index[axis] * frame.outer[axis].in_stride;
  return from;
}

/// Work on all parts of the rows, on several threads: rows(index, first point, count) is called on an object of each.
template <class MakeWorker>
void over_rows(const Frame& frame, std::int64_t part, int threads, const MakeWorker& make) {
  const std::int64_t parts = (frame.row.count + part - 1) / part;
  in_parallel(parts * frame.outer_rows(), threads, [&](std::int64_t begin, std::int64_t end) {
    auto worker = make();
    for_rows(frame, begin, end, [&](const std::vector<std::int64_t>& index, std::int64_t number) {
      worker(index, number * part, std::min(part, frame.row.count - number * part));
    });
  });
}

// --- Weighted sums ---

/// The weights that count, and from which row of the window each takes its points.
struct Weights {
  std::vector<double> values;
  std::vector<std::int64_t> rows, offsets;

  Weights(const Frame& frame, std::span<const Window> windows, std::span<const double> all, SumOrder order) {
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (order == SumOrder::plain && !(std::abs(all[at]) > DBL_EPSILON)) continue;
      std::array<std::int64_t, kMostAxes> place{};
      auto left = std::int64_t(at);
      for (std::size_t axis = windows.size(); axis-- > 0; left /= windows[axis].extent)
        place[axis] = left % windows[axis].extent;
      std::int64_t row = 0;
      for (const FrameAxis& axis : frame.outer)
        if (!axis.free()) row = row * axis.window.extent + place[std::size_t(axis.axis)];
      values.push_back(all[at]);
      rows.push_back(row);
      offsets.push_back(frame.row.free() ? 0 : place[std::size_t(frame.row.axis)]);
    }
  }
};

}  // namespace

void weighted_pass(const Elements& in, const Elements& out, std::span<const Window> windows,
                   std::span<const double> weights, SumOrder order, double constant, int threads) {
  const Frame frame(in, out, windows, constant);
  const Weights taps(frame, windows, weights, order);
  const auto count = std::int64_t(taps.values.size());
  const std::int64_t part = part_of_row(frame);
  const bool negated = order == SumOrder::plain && frame.out_type == Element::u64;
  const Store<double> store = negated ? row_kernels().store_negated : store_of(frame);
  over_rows(frame, part, threads_for(frame, double(count + 2), threads), [&] {
    return
        [&, rows = Rows<double>(frame, load_of(frame), part), points = std::vector<const double*>(taps.values.size())](
            const std::vector<std::int64_t>& index, std::int64_t first, std::int64_t length) mutable {
          rows.move(index, first, length);
          for (std::size_t t = 0; t < points.size(); ++t) points[t] = rows.rows()[taps.rows[t]] + taps.offsets[t];
          double sums[kRowBlock];
          for (std::int64_t at = 0; at < length; at += kRowBlock) {
            const std::int64_t some = std::min(kRowBlock, length - at);
            row_kernels().weigh(points.data(), taps.values.data(), count, at, some, order, sums);
            store(sums, some, output_at(frame, index, first + at), frame.row.out_stride);
          }
        };
  });
}

// --- Running means ---

namespace {

/// Means along an axis that is not that of the rows: a sum for each point of a part of a row.
class RunningRows {
 public:
  RunningRows(const Frame& frame) : frame_(frame), axis_(frame.outer.back()) {}

  void operator()(const std::vector<std::int64_t>& index, std::int64_t first, std::int64_t count) {
    const char* const base = input_at(frame_, index);
    char* const out = output_at(frame_, index, first);
    const Window& window = axis_.window;
    std::fill_n(sums_, count, 0.0);
    for (std::int64_t k = 0; k < window.extent; ++k) {
      load(base, k - window.before, first, count, entering_);
      for (std::int64_t i = 0; i < count; ++i) sums_[i] += entering_[i];
    }
    std::fill_n(entering_, count, 0.0), std::fill_n(leaving_, count, 0.0);  // nothing does at the first place
    for (std::int64_t place = 0; place < axis_.count; ++place) {
      row_kernels().slide(sums_, entering_, leaving_, count, double(window.extent), means_);
      store_of(frame_)(means_, count, out + place * axis_.out_stride, frame_.row.out_stride);
      load(base, place - window.before, first, count, leaving_);
      load(base, place - window.before + window.extent, first, count, entering_);
    }
  }

 private:
  void load(const char* base, std::int64_t place, std::int64_t first, std::int64_t count, double* to) {
    const std::int64_t source = axis_.source(place);
    if (source < 0)
      std::fill_n(to, count, frame_.constant);
    else
      load_row(frame_, load_of(frame_), base + source * axis_.in_stride, first, count, to);
  }

  const Frame& frame_;
  const FrameAxis& axis_;
  double sums_[kRowPitch], entering_[kRowPitch], leaving_[kRowPitch], means_[kRowPitch];
};

/// Means along the rows, of kLines rows at once.
class RunningLines {
 public:
  RunningLines(const Frame& frame)
      : frame_(frame), entering_(kLines * kRowPitch), leaving_(entering_), means_(entering_) {}

  void operator()(std::int64_t begin, std::int64_t end) {
    std::vector<const char*> from;
    std::vector<char*> to;
    for_rows(frame_, begin, end, [&](const std::vector<std::int64_t>& index, std::int64_t) {
      from.push_back(input_at(frame_, index)), to.push_back(output_at(frame_, index, 0));
    });
    const FrameAxis& row = frame_.row;
    const std::int64_t extent = row.window.extent, before = row.window.before;
    for (std::size_t line = 0; line < from.size(); ++line) sums_[line] = first_sum(from[line]);
    for (std::int64_t first = 0; first < row.count; first += kRowBlock) {
      const std::int64_t count = std::min(kRowBlock, row.count - first);
      const std::int64_t skipped = first == 0 ? 1 : 0;  // at the first place nothing enters or leaves
      for (std::size_t line = 0; line < from.size(); ++line) {
        double* const entering = &entering_[line * kRowPitch];
        double* const leaving = &leaving_[line * kRowPitch];
        entering[0] = leaving[0] = 0.0;
        const std::int64_t place = first + skipped - before - 1;
        load_row(frame_, load_of(frame_), from[line], place + extent, count - skipped, entering + skipped);
        load_row(frame_, load_of(frame_), from[line], place, count - skipped, leaving + skipped);
      }
      row_kernels().slide_lines(sums_, entering_.data(), leaving_.data(), count, double(extent), means_.data());
      for (std::size_t line = 0; line < to.size(); ++line)
        store_of(frame_)(&means_[line * kRowPitch], count, to[line] + first * row.out_stride, row.out_stride);
    }
  }

 private:
  double first_sum(const char* base) {
    double sum = 0.0;
    const Window& window = frame_.row.window;
    for (std::int64_t done = 0; done < window.extent; done += kRowBlock) {
      const std::int64_t count = std::min(kRowBlock, window.extent - done);
      load_row(frame_, load_of(frame_), base, done - window.before, count, means_.data());
      for (std::int64_t i = 0; i < count; ++i) sum += means_[std::size_t(i)];
    }
    return sum;
  }

  const Frame& frame_;
  double sums_[kLines] = {};
  std::vector<double> entering_, leaving_, means_;
};

}  // namespace

void running_mean(const Elements& in, const Elements& out, int axis, const Window& window, double constant,
                  int threads) {
  std::array<Window, kMostAxes> windows{};
  windows[std::size_t(axis)] = window;
  windows[std::size_t(axis)].kept = true;
  const Frame frame(in, out, {windows.data(), std::size_t(in.rank)}, constant);
  if (frame.first_window < frame.outer.size()) {
    Frame lines = frame;  // whose rows are begun once, at the first place of the window's axis
    lines.outer.back().count = 1;
    const std::int64_t parts = (frame.row.count + kRowBlock - 1) / kRowBlock;
    in_parallel(parts * lines.outer_rows(), threads_for(frame, 12.0, threads),
                [&](std::int64_t begin, std::int64_t end) {
                  RunningRows worker(frame);
                  for_rows(lines, begin, end, [&](const std::vector<std::int64_t>& index, std::int64_t part) {
                    worker(index, part * kRowBlock, std::min(kRowBlock, frame.row.count - part * kRowBlock));
                  });
                });
    return;
  }
  const std::int64_t rows = frame.outer_rows();
  in_parallel((rows + kLines - 1) / kLines, threads_for(frame, 12.0, threads),
              [&](std::int64_t begin, std::int64_t end) {
                RunningLines worker(frame);
                for (std::int64_t group = begin; group < end; ++group)
                  worker(group * kLines, std::min(rows, (group + 1) * kLines));
              });
}

// --- Means of floating-point numbers ---

namespace {

/// Means of the rows of an output: rows of the input are summed, and the sums along the row.
template <class A>
class BoxRows {
 public:
  BoxRows(const Frame& frame, const MeanKernels<A>& kernels, std::int64_t part)
      : frame_(frame),
        kernels_(kernels),
        in_place_(frame.row.in_stride == std::ptrdiff_t(sizeof(A))),
        extent_(frame.row.window.extent),
        height_(frame.window_rows()),
        rows_(frame, kernels.load, part, in_place_),
        sums_(std::size_t(std::max(rows_.width(), part + extent_))),
        points_(std::size_t(extent_)) {}

  void operator()(const std::vector<std::int64_t>& index, std::int64_t first, std::int64_t length) {
    rows_.move(index, first, length);
    const A* line = sums_.data();
    if (in_place_)
      sum_in_place(first - frame_.row.window.before, length + extent_ - 1);
    else if (height_ > 1)
      kernels_.mean(rows_.rows(), height_, 0, rows_.width(), A(1), sums_.data());
    else
      line = rows_.rows()[0];
    for (std::int64_t k = 0; k < extent_; ++k) points_[std::size_t(k)] = line + k;
    const A divisor = A(height_) * A(extent_);
    char* const out = output_at(frame_, index, first);
    if (frame_.row.out_stride == std::ptrdiff_t(sizeof(A)))
      return kernels_.mean(points_.data(), extent_, 0, length, divisor, reinterpret_cast<A*>(out));
    A means[kRowBlock];
    for (std::int64_t at = 0; at < length; at += kRowBlock) {
      const std::int64_t some = std::min(kRowBlock, length - at);
      kernels_.mean(points_.data(), extent_, at, some, divisor, means);
      kernels_.store(means, some, out + at * frame_.row.out_stride, frame_.row.out_stride);
    }
  }

 private:
  /// Sums of the rows at places [place, place + count): beyond the ends those of the points that stand there.
  void sum_in_place(std::int64_t place, std::int64_t count) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t at = place + done;
      const bool inside = at >= 0 && at < frame_.row.count;
      const std::int64_t source = inside ? at : frame_.row.source(at);
      const std::int64_t some = inside ? std::min(count - done, frame_.row.count - at) : 1;
      if (source < 0)
        sums_[std::size_t(done)] = A(height_) * A(frame_.constant);
      else
        kernels_.mean(rows_.rows(), height_, source, some, A(1), &sums_[std::size_t(done)]);
      done += some;
    }
  }

  const Frame& frame_;
  const MeanKernels<A>& kernels_;
  bool in_place_;
  std::int64_t extent_, height_;
  Rows<A> rows_;
  std::vector<A> sums_;
  std::vector<const A*> points_;
};

template <class A>
void box_mean(const Frame& frame, const MeanKernels<A>& kernels, int threads) {
  const std::int64_t part = part_of_row(frame);
  // Twice what there are: 512 x 512 windows of 3 x 3 are worth a second thread (236 us on a Xeon, 387 with one).
  const double operations = 2.0 * double(frame.window_rows() + frame.row.window.extent + 2);
  over_rows(frame, part, threads_for(frame, operations, threads), [&] { return BoxRows<A>(frame, kernels, part); });
}

}  // namespace

void box_mean(const Elements& in, const Elements& out, std::span<const Window> windows, double constant, int threads) {
  const Frame frame(in, out, windows, constant);
  if (in.type == Element::f32)
    box_mean(frame, row_kernels().means_f32, threads);
  else
    box_mean(frame, row_kernels().means_f64, threads);
}

}  // namespace tessera::python
