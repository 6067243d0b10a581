// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps: a stencil's offsets and coefficients as a value that can be added and scaled.
///
///     const auto heat = taps::identity(2) + 0.1 * taps::laplacian(2, 8);
#pragma once

#include <tessera/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// One term of a stencil: coefficient * in[p + offset].
struct Tap {
  std::array<std::int64_t, TESSERA_MAX_RANK> offset;  ///< in the order of the axes; 0 at and beyond the rank
  double coefficient;
};

/// A linear combination of shifted fields on a grid of `rank` axes. Offsets are unique and sorted. Coefficients are
/// doubles, rounded once to the plan's type when a plan is made.
class Taps {
 public:
  Taps() = default;
  /// An empty list (zero everywhere) of rank 1, 2 or 3.
  explicit Taps(int rank) : rank_(rank) {
    if (rank < 1 || rank > TESSERA_MAX_RANK)
      throw Error(ErrorCode::invalid_argument, "rank = " + std::to_string(rank) + ": must be 1, 2 or 3");
  }
  Taps(int rank, std::initializer_list<Tap> taps) : Taps(rank) {
    for (const Tap& tap : taps) add(tap.offset, tap.coefficient);
  }

  /// Adds a term; a term with the same offset grows by the coefficient. Costs a search, and a move of the terms behind
  /// it: none where terms come in the order of their offsets. If it throws, the taps are as before.
  void add(std::array<std::int64_t, TESSERA_MAX_RANK> offset, double coefficient) {
    for (int axis = rank_; axis < TESSERA_MAX_RANK; ++axis)
      if (offset[std::size_t(axis)] != 0)
        throw Error(ErrorCode::invalid_argument, "offset of axis " + std::to_string(axis) + " = " +
                                                     std::to_string(offset[std::size_t(axis)]) +
                                                     ": must be 0 in taps of rank " + std::to_string(rank_));
    const auto at = position(offset);
    if (at != list_.end() && at->offset == offset)
      at->coefficient += coefficient;
    else
      list_.insert(at, {offset, coefficient});
  }

  int rank() const { return rank_; }
  std::size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  const Tap* data() const { return list_.data(); }

  /// Costs a pass over `other` and the terms behind its first. If it throws, the taps are as before.
  Taps& operator+=(const Taps& other) {
    if (other.rank_ != rank_)
      throw Error(ErrorCode::invalid_argument,
                  "taps of rank " + std::to_string(rank_) + " and " + std::to_string(other.rank_) + " cannot be added");
    if (other.list_.empty()) return *this;
    auto mine = position(other.list_.front().offset);
    const std::ptrdiff_t kept = mine - list_.begin(), replaced = list_.end() - mine;
    std::vector<Tap> merged;
    merged.reserve(std::size_t(replaced) + other.size());
    for (const Tap& tap : other) {
      while (mine != list_.end() && mine->offset < tap.offset) merged.push_back(*mine++);
      merged.push_back(tap);
      if (mine != list_.end() && mine->offset == tap.offset)
        merged.back().coefficient = mine++->coefficient + tap.coefficient;
    }
    merged.insert(merged.end(), mine, list_.end());
    list_.insert(list_.end(), merged.begin() + replaced, merged.end());  // nothing has changed if this throws
    std::copy_n(merged.begin(), replaced, list_.begin() + kept);
    return *this;
  }
  Taps& operator*=(double factor) {
    for (Tap& tap : list_) tap.coefficient *= factor;
    return *this;
  }
  friend Taps operator+(Taps left, const Taps& right) { return left += right; }
  friend Taps operator-(Taps left, Taps right) { return left += (right *= -1.0); }
  friend Taps operator*(double factor, Taps taps) { return taps *= factor; }
  friend Taps operator*(Taps taps, double factor) { return taps *= factor; }

 private:
  /// The first term whose offset is not smaller.
  std::vector<Tap>::iterator position(const std::array<std::int64_t, TESSERA_MAX_RANK>& offset) {
    if (list_.empty() || list_.back().offset < offset) return list_.end();
    return std::lower_bound(list_.begin(), list_.end(), offset,
                            [](const Tap& tap, const auto& o) { return tap.offset < o; });
  }

  int rank_ = 0;
  std::vector<Tap> list_;
};

namespace taps {

namespace detail {

/// Central formulas are exactly even or odd; rounding may have left a trace of the other part.
inline void make_symmetric(int order, std::vector<double>& weights) {
  const std::size_t radius = weights.size() / 2;
  for (std::size_t j = 0; j <= radius; ++j) {
    double &low = weights[radius - j], &high = weights[radius + j];
    const double part = order % 2 == 0 ? 0.5 * (high + low) : 0.5 * (high - low);
    high = part;
    low = order % 2 == 0 ? part : -part;
  }
}

/// Weights of the samples at -radius..radius for the `order`-th derivative at 0 on a grid of spacing 1, by the
/// recurrence of B. Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids",
/// Math. Comp. 51 (1988), 699-706.
inline std::vector<double> central_weights(int order, int radius) {
  const int count = 2 * radius + 1;
  std::vector<long double> nodes;
  for (int j = 0; j <= radius; ++j) {  // from the centre outwards, which keeps the recurrence accurate
    nodes.push_back(j);
    if (j > 0) nodes.push_back(-j);
  }
  std::vector<std::vector<long double>> w(std::size_t(count), std::vector<long double>(std::size_t(order) + 1, 0.0L));
  w[0][0] = 1.0L;
  long double c1 = 1.0L;
  for (int i = 1; i < count; ++i) {
    const int most = (std::min)(i, order);
    long double c2 = 1.0L;
    const auto previous = w[std::size_t(i - 1)];
    for (int j = 0; j < i; ++j) {
      const long double c3 = nodes[std::size_t(i)] - nodes[std::size_t(j)];
      c2 *= c3;
      auto& wj = w[std::size_t(j)];
      for (int k = most; k >= 0; --k) {
        const std::size_t s = std::size_t(k);
        wj[s] = (nodes[std::size_t(i)] * wj[s] - (k > 0 ? k * wj[s - 1] : 0.0L)) / c3;
      }
    }
    for (int k = most; k >= 0; --k) {
      const std::size_t s = std::size_t(k);
      w[std::size_t(i)][s] = c1 / c2 * ((k > 0 ? k * previous[s - 1] : 0.0L) - nodes[std::size_t(i - 1)] * previous[s]);
    }
    c1 = c2;
  }
  std::vector<double> weights(std::size_t(count), 0.0);
  for (int i = 0; i < count; ++i)
    weights[std::size_t(radius + int(nodes[std::size_t(i)]))] = double(w[std::size_t(i)][std::size_t(order)]);
  make_symmetric(order, weights);
  return weights;
}

/// How many points a cube has along an axis. Throws where it has more than 2^24 in all.
inline std::size_t cube_width(int rank, int radius) {
  constexpr double kMaxPoints = 1 << 24;  // 512 MiB of taps
  const Taps of_that_rank(rank);
  if (radius < 0 || radius > TESSERA_MAX_RADIUS)
    throw Error(ErrorCode::invalid_argument,
                "radius = " + std::to_string(radius) + ": must lie in [0, " + std::to_string(TESSERA_MAX_RADIUS) + "]");
  if (std::pow(2.0 * radius + 1.0, of_that_rank.rank()) > kMaxPoints)
    throw Error(ErrorCode::invalid_argument, "radius = " + std::to_string(radius) + ": the box of rank " +
                                                 std::to_string(rank) +
                                                 " has more than 2^24 points; the radius must be 127 or less");
  return std::size_t(2 * radius + 1);
}

/// The taps of a cube, each the product of its weights along the axes; zeros are left out.
inline Taps product(int rank, const std::vector<double>& weights) {
  Taps result(rank);
  const std::int64_t r = std::int64_t(weights.size()) / 2, second = rank > 1 ? r : 0, third = rank > 2 ? r : 0;
  const auto weight = [&](bool has_axis, std::int64_t at) { return has_axis ? weights[std::size_t(at + r)] : 1.0; };
  for (std::int64_t i = -r; i <= r; ++i)
    for (std::int64_t j = -second; j <= second; ++j)
      for (std::int64_t l = -third; l <= third; ++l) {
        const double coefficient = weight(true, i) * weight(rank > 1, j) * weight(rank > 2, l);
        if (coefficient != 0.0) result.add({i, j, l}, coefficient);
      }
  return result;
}

/// A Gaussian at the points around 0, over its sum.
inline std::vector<double> gaussian_weights(double sigma, std::size_t width) {
  const std::size_t radius = width / 2;
  std::vector<double> weights(width, 1.0);
  double sum = 0.0;
  for (std::size_t x = radius; x > 0; --x) {  // the smallest first
    weights[radius - x] = weights[radius + x] = std::exp(-0.5 / (sigma * sigma) * double(x * x));
    sum += 2.0 * weights[radius + x];
  }
  sum += 1.0;
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace detail

/// The field itself.
inline Taps identity(int rank) { return Taps(rank, {{{0, 0, 0}, 1.0}}); }

/// Central difference of the `order`-th derivative (1..8) along `axis`, of accuracy order `accuracy` (2, 4, 6 or 8),
/// on a grid of the given spacing (any unit; the result is per spacing^order).
inline Taps derivative(int rank, int axis, int order, int accuracy, double spacing = 1.0) {
  Taps result(rank);  // which refuses a rank that there is not
  if (axis < 0 || axis >= rank)
    throw Error(ErrorCode::invalid_argument,
                "axis = " + std::to_string(axis) + ": must lie in [0, " + std::to_string(rank) + ")");
  if (order < 1 || order > 8)
    throw Error(ErrorCode::invalid_argument, "order = " + std::to_string(order) + ": must lie in [1, 8]");
  if (accuracy < 2 || accuracy > 8 || accuracy % 2 != 0)
    throw Error(ErrorCode::invalid_argument, "accuracy = " + std::to_string(accuracy) + ": must be 2, 4, 6 or 8");
  if (!(spacing > 0.0) || spacing > (std::numeric_limits<double>::max)())
    throw Error(ErrorCode::invalid_argument,
                "spacing = " + tessera::detail::text_of(spacing) + ": must be positive and finite");
  const int radius = (order + 1) / 2 - 1 + accuracy / 2;
  const std::vector<double> weights = detail::central_weights(order, radius);
  double scale = 1.0;
  for (int i = 0; i < order; ++i) scale /= spacing;
  for (int j = -radius; j <= radius; ++j) {
    const double weight = weights[std::size_t(j + radius)] * scale;
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    offset[std::size_t(axis)] = j;
    if (weight != 0.0) result.add(offset, weight);
  }
  return result;
}

/// Sum of the second derivatives along all axes, of accuracy order 2, 4, 6 or 8, one spacing for every axis.
inline Taps laplacian(int rank, int accuracy = 2, double spacing = 1.0) {
  Taps result(rank);
  for (int axis = 0; axis < rank; ++axis) result += derivative(rank, axis, 2, accuracy, spacing);
  return result;
}

/// Mean over the (2 radius + 1)^rank points around a point: 2^24 at most, so a radius of 127 in 3D.
inline Taps box(int rank, int radius) {
  const std::vector<double> ones(detail::cube_width(rank, radius), 1.0);
  Taps result = detail::product(rank, ones);
  return result *= 1.0 / double(result.size());
}

/// Gaussian blur: exp(-x^2 / (2 sigma^2)) for x from -radius to radius along each axis, scaled so that all taps add up
/// to 1. `sigma`, the standard deviation, is in points. The radius is that of scipy.ndimage.gaussian_filter, 4 sigma
/// rounded, unless it is given. At most 2^24 taps, so a radius of 127 in 3D; weights that underflow are left out.
inline Taps gaussian(int rank, double sigma, std::optional<int> radius = std::nullopt) {
  constexpr double kTruncate = 4.0;
  if (!(sigma > 0.0) || sigma > (std::numeric_limits<double>::max)())
    throw Error(ErrorCode::invalid_argument,
                "sigma = " + tessera::detail::text_of(sigma) + ": must be positive and finite");
  const double reach = kTruncate * sigma + 0.5;
  if (!radius && reach >= TESSERA_MAX_RADIUS + 1)
    throw Error(ErrorCode::invalid_argument, "sigma = " + tessera::detail::text_of(sigma) +
                                                 ": 4 sigma, the radius unless one is given, is beyond " +
                                                 std::to_string(TESSERA_MAX_RADIUS));
  const int r = radius ? *radius : int(reach);
  return detail::product(rank, detail::gaussian_weights(sigma, detail::cube_width(rank, r)));
}

/// Taps from a dense array in C order whose centre (extent / 2 on each axis) is offset 0; zeros are left out.
/// Correlation, not convolution: the array is not flipped (scipy.ndimage.correlate).
inline Taps from_dense(std::span<const double> values, std::span<const std::int64_t> extents) {
  Taps result(int(extents.size()));
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 1 || extent > std::int64_t(values.size()))
      throw Error(ErrorCode::invalid_argument, "extent " + std::to_string(extent) +
                                                   " of the dense taps: must lie in [1, " +
                                                   std::to_string(values.size()) + "]");
    count *= extent;
    if (count > std::int64_t(values.size())) break;
  }
  if (count != std::int64_t(values.size()))
    throw Error(ErrorCode::invalid_argument, "the dense taps have " + std::to_string(values.size()) +
                                                 " values, which is not the product of their extents");
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[std::size_t(i)] == 0.0) continue;
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    std::int64_t rest = i;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      offset[axis] = rest % extents[axis] - extents[axis] / 2;
      rest /= extents[axis];
    }
    result.add(offset, values[std::size_t(i)]);
  }
  return result;
}
/// The same on lists.
inline Taps from_dense(std::initializer_list<double> values, std::initializer_list<std::int64_t> extents) {
  return from_dense(std::span<const double>(values.begin(), values.size()),
                    std::span<const std::int64_t>(extents.begin(), extents.size()));
}

}  // namespace taps

}  // namespace tessera
