// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace showcase {
namespace {

using tessera::Boundary;
using tessera::Tap;
using tessera::Transpose;

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2;

template <class W>
struct Grid {
  std::int64_t ny, nx;
  std::vector<W> values;
};

/// The point inside an axis of n points that stands for point i, which may lie outside.
std::int64_t source(std::int64_t i, std::int64_t n, Boundary mode) {
  while (i < 0 || i >= n) {
    const bool low = i < 0;
    if (mode == Boundary::nearest) return low ? 0 : n - 1;
    if (mode != Boundary::reflect) throw std::logic_error("the reference knows nearest and reflect");
    i = low ? -1 - i : 2 * n - 1 - i;
  }
  return i;
}

std::int64_t reach(const std::vector<Tap>& taps) {
  std::int64_t result = 0;
  for (const Tap& tap : taps) result = std::max({result, std::abs(tap.offset[0]), std::abs(tap.offset[1])});
  return result;
}

/// One step. The grid is first written out with its surroundings, so that the sum needs no cases.
template <class W>
Grid<W> apply(const Grid<W>& in, const std::vector<Tap>& taps, Boundary mode) {
  const std::int64_t r = reach(taps), width = in.nx + 2 * r;
  std::vector<W> padded(std::size_t((in.ny + 2 * r) * width));
  for (std::int64_t y = 0; y < in.ny + 2 * r; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      padded[std::size_t(y * width + x)] =
          in.values[std::size_t(source(y - r, in.ny, mode) * in.nx + source(x - r, in.nx, mode))];
  Grid<W> out{in.ny, in.nx, std::vector<W>(in.values.size(), W(0))};
  for (std::int64_t y = 0; y < in.ny; ++y)
    for (const Tap& tap : taps) {
      const W coefficient = W(tap.coefficient);
      const W* const from = padded.data() + (y + r + tap.offset[0]) * width + r + tap.offset[1];
      W* const to = out.values.data() + y * in.nx;
      for (std::int64_t x = 0; x < in.nx; ++x) to[x] += coefficient * from[x];
    }
  return out;
}

template <class W>
W largest(const std::vector<W>& values) {
  W result = 0;
  for (const W value : values) result = std::max(result, std::abs(value));
  return result;
}

/// How much `steps` steps can enlarge an error, for 0..steps: the sum of the absolute values of the stencil's response
/// to an impulse. With reflect an even stencil acts as on the endless, evenly continued grid, so this holds at the
/// boundary as well. From kPeriod steps on the norm's submultiplicativity gives an upper bound.
std::vector<double> growth(const std::vector<Tap>& taps, std::int64_t steps) {
  constexpr std::int64_t kPeriod = 20;
  const std::int64_t side = 2 * kPeriod * reach(taps) + 1;
  Grid<double> response{side, side, std::vector<double>(std::size_t(side * side), 0.0)};
  response.values[response.values.size() / 2] = 1.0;
  std::vector<double> result;
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (step <= kPeriod) {
      double norm = 0.0;
      for (const double value : response.values) norm += std::abs(value);
      result.push_back(norm);
      response = apply(response, taps, Boundary::nearest);  // beyond the reach of the impulse all is 0
    } else {
      result.push_back(result[std::size_t(step - kPeriod)] * result[kPeriod]);
    }
  }
  return result;
}

}  // namespace

template <tessera::Element T>
double Expected::largest_ratio(std::span<const T> result) const {
  double ratio = 0.0;
  for (const Element& element : elements) {
    const double error = double(std::abs((long double)(result[std::size_t(element.at)]) - element.value));
    if (error == 0.0) continue;
    if (!(error < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
    ratio = std::max(ratio, error / element.bound);
  }
  return ratio;
}

template <tessera::Element T>
Expected expect_gemm(const tessera::GemmDesc& d, const std::vector<T>& a, const std::vector<T>& b,
                     const std::vector<std::int64_t>& rows) {
  using W = Wide<T>;
  Expected expected;
  std::vector<W> sum(std::size_t(d.n)), magnitude(std::size_t(d.n));
  for (const std::int64_t i : rows) {
    std::fill(sum.begin(), sum.end(), W(0));
    std::fill(magnitude.begin(), magnitude.end(), W(0));
    for (std::int64_t l = 0; l < d.k; ++l) {
      const W factor = W(a[std::size_t(d.trans_a == Transpose::yes ? l * d.m + i : i * d.k + l)]);
      const std::int64_t first = d.trans_b == Transpose::yes ? l : l * d.n;
      const std::int64_t stride = d.trans_b == Transpose::yes ? std::int64_t(d.k) : 1;
      for (std::int64_t j = 0; j < d.n; ++j) {
        const W product = factor * W(b[std::size_t(first + j * stride)]);
        sum[std::size_t(j)] += product;
        magnitude[std::size_t(j)] += std::abs(product);
      }
    }
    for (std::int64_t j = 0; j < d.n; ++j)
      expected.elements.push_back({i * d.n + j, (long double)(sum[std::size_t(j)]),
                                   double(d.k + 4) * kUnitRoundoff<T> * double(magnitude[std::size_t(j)])});
  }
  return expected;
}

template <tessera::Element T>
Expected expect_stencil(const tessera::StencilDesc& d, const std::vector<T>& in) {
  using W = Wide<T>;
  const Boundary mode = d.boundary[0].low.mode;
  std::vector<Tap> taps(d.taps.begin(), d.taps.end()), absolute;
  double sum = 0.0;
  for (Tap& tap : taps) {
    tap.coefficient = double(T(tap.coefficient));  // a plan rounds coefficients to its type, which is no error of it
    absolute.push_back({tap.offset, std::abs(tap.coefficient)});
    sum += std::abs(tap.coefficient);
  }
  const double unit = double(taps.size() + 2) * kUnitRoundoff<T>;

  Grid<W> grid{d.extents[0], d.extents[1], std::vector<W>(in.begin(), in.end())};
  std::vector<double> bounds(in.size());
  if (d.steps == 1) {
    Grid<W> magnitude = grid;
    for (W& value : magnitude.values) value = std::abs(value);
    magnitude = apply(magnitude, absolute, mode);
    std::transform(magnitude.values.begin(), magnitude.values.end(), bounds.begin(),
                   [&](W m) { return unit * double(m); });
    grid = apply(grid, taps, mode);
  } else {
    const std::vector<double> enlarged = growth(taps, d.steps);
    double bound = 0.0;
    for (std::int64_t step = 1; step <= d.steps; ++step) {
      bound += enlarged[std::size_t(d.steps - step)] * unit * sum * double(largest(grid.values));
      grid = apply(grid, taps, mode);
    }
    std::fill(bounds.begin(), bounds.end(), bound);
  }
  Expected expected;
  for (std::size_t i = 0; i < in.size(); ++i)
    expected.elements.push_back({std::int64_t(i), (long double)(grid.values[i]), bounds[i]});
  return expected;
}

template double Expected::largest_ratio(std::span<const float>) const;
template double Expected::largest_ratio(std::span<const double>) const;
template Expected expect_gemm(const tessera::GemmDesc&, const std::vector<float>&, const std::vector<float>&,
                              const std::vector<std::int64_t>&);
template Expected expect_gemm(const tessera::GemmDesc&, const std::vector<double>&, const std::vector<double>&,
                              const std::vector<std::int64_t>&);
template Expected expect_stencil(const tessera::StencilDesc&, const std::vector<float>&);
template Expected expect_stencil(const tessera::StencilDesc&, const std::vector<double>&);

}  // namespace showcase
