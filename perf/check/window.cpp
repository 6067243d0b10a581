// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"

#include "beyond.hpp"
#include "random.hpp"
#include "taps.hpp"
#include "wide.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <span>

namespace tessera::perf {

namespace {

using Point = std::array<std::int64_t, 3>;

struct Box {
  Point low, high;  // high is outside
  std::int64_t size(int axis) const { return high[std::size_t(axis)] - low[std::size_t(axis)]; }
  std::int64_t points() const { return size(0) * size(1) * size(2); }
  std::int64_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return ((z - low[0]) * size(1) + y - low[1]) * size(2) + x - low[2];
  }
  template <class F>
  void each(F&& f) const {
    for (std::int64_t z = low[0]; z < high[0]; ++z)
      for (std::int64_t y = low[1]; y < high[1]; ++y)
        for (std::int64_t x = low[2]; x < high[2]; ++x) f(z, y, x);
  }
};

/// The box from which `reach` more steps of the stencil can be taken.
Box grow(const Box& core, const StencilShape& s, std::int64_t steps) {
  Box box = core;
  for (int axis = 3 - s.rank; axis < 3; ++axis) {
    const std::size_t a = std::size_t(axis);
    box.low[a] -= s.radius * steps;
    box.high[a] += s.radius * steps;
    if (s.boundary == Boundary::periodic) continue;  // coordinates beyond the domain stand for its repetitions
    box.low[a] = std::max<std::int64_t>(box.low[a], 0);
    box.high[a] = std::min(box.high[a], s.extents[a]);
  }
  return box;
}

/// Whether taps of the point may leave the domain.
bool is_near_side(const StencilShape& s, const Point& p) {
  for (int axis = 3 - s.rank; axis < 3; ++axis)
    if (p[std::size_t(axis)] < s.radius || p[std::size_t(axis)] >= s.extents[std::size_t(axis)] - s.radius) return true;
  return false;
}

/// The values in a box and, where there is one step alone, sum |c| |x| of each.
template <class W>
struct Field {
  Box box;
  std::vector<W> value, magnitude;
};

/// What is read at a point that may lie outside, where that is no periodic domain.
template <class W>
W value_at(const Field<W>& from, const StencilShape& s, Point p) {
  for (std::size_t a = 0; a < 3; ++a) {
    const bool outside = p[a] < 0 || p[a] >= s.extents[a];
    if (outside && s.boundary == Boundary::constant) return 0;
    if (outside) p[a] = test::source_of(s.boundary, p[a], s.extents[a]);
  }
  return from.value[std::size_t(from.box.at(p[0], p[1], p[2]))];
}

/// One step, to the points of `inner`.
template <class T, class W>
Field<W> step(const Field<W>& from, const Box& inner, const StencilShape& s, std::span<const ConstantTap> taps) {
  std::vector<std::int64_t> offsets;
  for (const ConstantTap& tap : taps) offsets.push_back((tap.z * from.box.size(1) + tap.y) * from.box.size(2) + tap.x);
  Field<W> to{inner, {}, {}};
  inner.each([&](auto z, auto y, auto x) {
    const std::int64_t own = from.box.at(z, y, x);
    const bool near = s.boundary != Boundary::periodic && is_near_side(s, {z, y, x});
    const bool kept = near && s.boundary == Boundary::fixed;
    W sum = kept ? from.value[std::size_t(own)] : W(0), size = 0;
    for (std::size_t t = 0; t < taps.size() && !kept; ++t) {
      const W read = near ? value_at(from, s, {z + taps[t].z, y + taps[t].y, x + taps[t].x})
                          : from.value[std::size_t(own + offsets[t])];
      const W term = W(Scalar<T>(taps[t].coefficient)) * read;
      sum += term;
      size += term < 0 ? -term : term;
    }
    to.value.push_back(sum);
    if (s.steps == 1) to.magnitude.push_back(size);
  });
  return to;
}

template <class T, class W>
Samples evolve(const StencilShape& s, std::span<const ConstantTap> taps, std::uint64_t seed, const Box& core) {
  const auto index = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return (test::wrap(z, s.extents[0]) * s.extents[1] + test::wrap(y, s.extents[1])) * s.extents[2] +
           test::wrap(x, s.extents[2]);
  };
  Field<W> field{grow(core, s, s.steps), {}, {}};
  field.value.reserve(std::size_t(field.box.points()));
  field.box.each([&](auto z, auto y, auto x) {
    field.value.push_back(W(Scalar<T>(random_element<T>(seed, std::uint64_t(index(z, y, x))))));
  });
  for (std::int64_t left = s.steps - 1; left >= 0; --left) field = step<T>(field, grow(core, s, left), s, taps);
  Samples window;
  std::size_t i = 0;
  const long double unit = static_cast<long double>(taps.size() + 2) * kUnitRoundoff<Scalar<T>>;
  const long double of_step = 1.01L * roundoff_of_sum<T>(taps.size() + 2);
  field.box.each([&](auto z, auto y, auto x) {
    const long double value = field.value[i];
    // Several steps: sum |c| = 1 (a little more after rounding) and |x| <= 1, so that each adds its unit at most.
    long double bound = of_step * static_cast<long double>(s.steps);
    if (s.steps == 1) bound = unit * field.magnitude[i], bound += roundoff_of<T>(std::abs(value) + bound);
    window.add(index(z, y, x), value, bound);
    ++i;
  });
  return window;
}

/// Corners of the domain first, then places at random.
Box window_box(const StencilShape& s, std::int64_t number, std::int64_t edge, std::uint64_t seed) {
  Box core{{0, 0, 0}, {1, 1, 1}};
  for (int axis = 3 - s.rank; axis < 3; ++axis) {
    const std::size_t a = std::size_t(axis);
    const std::int64_t room = std::max<std::int64_t>(s.extents[a] - edge, 0);
    const double u = 0.5 + 0.5 * random_value(seed + 99, std::uint64_t(3 * number + axis));
    core.low[a] = number == 0 ? 0 : number == 1 ? room : std::int64_t(u * double(room + 1));
    core.high[a] = std::min(core.low[a] + edge, s.extents[a]);
  }
  return core;
}

/// Points of a window along each axis.
std::int64_t edge_of(const StencilShape& s) { return s.rank == 1 ? 200 : s.rank == 2 ? 24 : 10; }

/// Multiply-adds that one window takes, about.
double cost_of(const StencilShape& s) {
  double points = 1.0;  // of the middle step
  for (int axis = 3 - s.rank; axis < 3; ++axis) {
    const double side = double(edge_of(s)) + double(s.radius) * double(s.steps);
    points *= s.boundary == Boundary::periodic ? side : std::min(side, double(s.extents[std::size_t(axis)]));
  }
  return points * double(s.steps) * tap_count(s.pattern, s.rank, s.radius);
}

}  // namespace

bool windows_are_affordable(const Problem& problem) { return cost_of(problem.stencil) < 2e9; }

std::int64_t affordable_steps(const Problem& problem) {
  Problem tried = problem;
  std::int64_t most = 0;
  for (std::int64_t more = std::int64_t(1) << 40; more > 0; more /= 2) {
    tried.stencil.steps = most + more;
    if (windows_are_affordable(tried)) most += more;
  }
  return most;
}

Samples stencil_windows(const Problem& problem, std::uint64_t input_seed) {
  const StencilShape& s = problem.stencil;
  const std::vector<ConstantTap> taps = taps_of(s);
  const std::int64_t edge = edge_of(s);
  const std::int64_t count = std::clamp<std::int64_t>(std::int64_t(1e7 / cost_of(s)), 4, 40);

  std::vector<std::future<Samples>> futures;
  for (std::int64_t number = 0; number < count; ++number)
    futures.push_back(std::async(count > 4 ? std::launch::deferred : std::launch::async, [&, number] {
      const Box core = window_box(s, number, edge, input_seed);
      return with_types(problem.kind.dtype,
                        [&]<class T>(std::type_identity<T>) { return evolve<T, Wide<T>>(s, taps, input_seed, core); });
    }));
  Samples all;
  for (auto& future : futures) {
    const Samples window = future.get();
    for (std::size_t i = 0; i < window.where.size(); ++i) all.add(window.where[i], window.value[i], window.bound[i]);
  }
  return all;
}

}  // namespace tessera::perf
