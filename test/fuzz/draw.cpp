// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "draw.hpp"

#include "modes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace tessera::test {

namespace {

using Wide = __int128;

constexpr std::int64_t kMostElements = 1 << 16;  ///< of one array that is executed
constexpr std::int64_t kMostWork = 1 << 18;      ///< products or taps of one execution
/// A stride of a single line that leaves an f64 array below 2^63 bytes, were there two.
constexpr std::int64_t kHugeStride = (std::int64_t{1} << 61) / 8;

/// A stored matrix's leading dimension and the distance of the batch's matrices.
void draw_distances(Bytes& bytes, std::int64_t lines, std::int64_t length, std::int64_t batch, bool may_repeat,
                    Integer& ld, Integer& stride) {
  const std::int64_t tight = std::max<std::int64_t>(length, 1);
  const std::int64_t pad = bytes.below(7);
  switch (bytes.below(6)) {
    case 0:
      break;  // packed
    case 1:
      ld = tight + pad;
      break;
    case 2:
      ld = tight + pad;
      stride = std::max<std::int64_t>(lines, 1) * ld + bytes.below(5);
      break;
    case 3:  // row i of every matrix, then row i + 1
      stride = tight + pad;
      ld = stride * std::max<std::int64_t>(batch, 1) + bytes.below(3);
      break;
    case 4:
      if (may_repeat) stride = 0;
      break;
    default:
      if (lines <= 1 && batch <= 1) ld = kHugeStride - pad;
  }
}

void spoil(Bytes& bytes, GemmDesc& d) {
  Integer* const fields[] = {&d.m, &d.n, &d.k, &d.batch, &d.lda, &d.ldb, &d.ldc, &d.stride_a, &d.stride_b, &d.stride_c};
  for (int count = int(1 + bytes.below(3)); count > 0; --count) *bytes.pick(fields) = extreme(bytes);
  if (bytes.one_in(8)) d.order = Order(bytes.byte() - 2);
  if (bytes.one_in(8)) d.trans_a = Transpose(bytes.byte() - 2);
  if (bytes.one_in(8)) d.compute = Compute(bytes.byte() - 2);
}

/// Reach of the taps on both sides of an axis.
std::array<std::int64_t, 2> reach_of(const StencilDesc& desc, std::size_t axis) {
  std::array<std::int64_t, 2> reach{};
  for (const Tap& tap : desc.taps) {
    reach[0] = std::max(reach[0], -tap.offset[axis]);
    reach[1] = std::max(reach[1], tap.offset[axis]);
  }
  return reach;
}

std::int64_t halo_of(const StencilDesc& desc, std::size_t axis, int side) {
  const BoundarySide& given = side == 0 ? desc.boundary[axis].low : desc.boundary[axis].high;
  return given.mode == Boundary::halo ? reach_of(desc, axis)[std::size_t(side)] : 0;
}

/// Axes in any order of memory, with gaps; an axis of one point may be huge.
std::vector<std::int64_t> draw_strides(Bytes& bytes, const StencilDesc& desc, bool input) {
  const std::size_t rank = desc.extents.size();
  if (bytes.below(3) == 0) return {};
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = rank; i-- > 1;) std::swap(order[i], order[std::size_t(bytes.below(std::int64_t(i) + 1))]);
  std::vector<std::int64_t> strides(rank, 1);
  std::int64_t stride = 1 + bytes.below(3);
  for (const std::size_t axis : order) {
    const std::int64_t points = desc.extents[axis] + (input ? halo_of(desc, axis, 0) + halo_of(desc, axis, 1) : 0);
    strides[axis] = stride;
    if (points == 1 && bytes.one_in(8)) strides[axis] = kHugeStride;
    stride *= std::max<std::int64_t>(points, 1);
    stride += bytes.below(4);
  }
  return strides;
}

Taps draw_taps(Bytes& bytes, int rank) {
  const std::int64_t radius = bytes.one_in(16) ? 9 : 1 + bytes.below(4);
  Taps taps(rank);
  for (std::int64_t count = 1 + bytes.below(12); count > 0; --count) {
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    for (int axis = 0; axis < rank; ++axis) offset[std::size_t(axis)] = bytes.below(2 * radius + 1) - radius;
    taps.add(offset, double(std::int8_t(bytes.byte())) / 16.0);
  }
  return taps;
}

/// Modes of the sides; false where the sides of an axis freeze all that there is.
bool draw_boundary(Bytes& bytes, StencilDesc& desc) {
  const int modes = desc.steps > 1 ? int(kModeCount) - 1 : int(kModeCount);
  std::vector<BoundaryAxis> axes;
  for (std::size_t axis = 0; axis < desc.extents.size(); ++axis) {
    const BoundarySide low(kBoundaries[bytes.below(modes)], double(bytes.below(5)) - 1.0);
    const BoundarySide high =
        bytes.below(2) == 0 ? low : BoundarySide(kBoundaries[bytes.below(modes)], low.value + 1.0);
    axes.push_back(sides(low, high));
  }
  desc.boundary = Boundaries(axes);
  bool frozen = false;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto reach = reach_of(desc, axis);
    const std::int64_t kept = (axes[axis].low.mode == Boundary::fixed ? reach[0] : 0) +
                              (axes[axis].high.mode == Boundary::fixed ? reach[1] : 0);
    frozen = frozen || kept >= std::max<std::int64_t>(desc.extents[axis], 1);
  }
  return !frozen;
}

void spoil(Bytes& bytes, StencilDesc& d) {
  const std::size_t axis = std::size_t(bytes.below(std::int64_t(d.extents.size())));
  const Boundary odd = Boundary(std::int32_t(bytes.byte()) - 2);
  std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
  switch (bytes.below(7)) {
    case 0:
      d.extents[axis] = extreme(bytes);
      break;
    case 1:
      d.steps = extreme(bytes);
      break;
    case 2:
      d.in_strides.resize(d.extents.size(), kPacked);
      d.in_strides[axis] = extreme(bytes);
      break;
    case 3:
      d.out_strides.resize(d.extents.size(), kPacked);
      d.out_strides[axis] = extreme(bytes);
      break;
    case 4:
      d.boundary = BoundaryAxis(BoundarySide(odd, 1.0), BoundarySide(bytes.pick(kBoundaries), 2.0));
      break;
    case 5:
      offset[axis] = bytes.number() % 1025;
      d.taps.add(offset, 1.0);
      break;
    default: {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      constexpr double coefficients[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                                         1e300,     1e-310,     -1e38};
      d.taps.add(offset, bytes.pick(coefficients));
    }
  }
}

/// Elements from the first to the last, none where an extent is 0; a large number where they cannot be counted.
template <class Axes>
bool few(const Axes& axes) {
  Wide span = 1;
  for (const auto& [extent, stride] : axes) {
    if (extent < 0 || stride < 0) return false;
    if (extent > 1) span += Wide(extent - 1) * stride;
    if (extent > kMostElements || span > kMostElements) return false;
  }
  return true;
}

}  // namespace

std::int64_t extreme(Bytes& bytes) {
  constexpr std::int64_t fixed[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MAX - 2 * 1024, 1024, 1025};
  switch (bytes.below(4)) {
    case 0:
      return bytes.pick(fixed);
    case 1:
      return (std::int64_t{1} << bytes.below(63)) + bytes.below(3) - 1;
    case 2:
      return bytes.below(256);
    default:
      return bytes.number();
  }
}

Drawn<GemmCase> draw_gemm(Bytes& bytes) {
  constexpr double scalars[] = {1.0, 0.0, -1.0, 0.5, 2.0, 1.25};
  constexpr GemmData kinds[] = {GemmData::random,   GemmData::wide_a,      GemmData::wide_b,        GemmData::denormal,
                                GemmData::nan_in_c, GemmData::nan_and_inf, GemmData::nan_everywhere};
  Drawn<GemmCase> drawn;
  GemmCase& c = drawn.problem;
  GemmDesc& d = c.desc;
  const int flags = bytes.byte();
  d.dtype = WideTypes::kDTypes[std::size_t((flags & 1) + (flags >> 4 & 2)) % std::size(WideTypes::kDTypes)];
  d.order = (flags & 2) != 0 ? Order::column_major : Order::row_major;
  d.trans_a = (flags & 4) != 0 ? Transpose::yes : Transpose::no;
  d.trans_b = (flags & 8) != 0 ? Transpose::yes : Transpose::no;
  d.m = bytes.below(40), d.n = bytes.below(50), d.k = bytes.below(70);
  d.batch = (flags & 16) != 0 ? bytes.below(6) : 1;
  const auto distances = [&](bool trans, std::int64_t rows, std::int64_t columns, bool may_repeat, Integer& ld,
                             Integer& stride) {
    if (trans != (d.order == Order::column_major)) std::swap(rows, columns);
    draw_distances(bytes, rows, columns, d.batch, may_repeat, ld, stride);
  };
  distances(d.trans_a == Transpose::yes, d.m, d.k, true, d.lda, d.stride_a);
  distances(d.trans_b == Transpose::yes, d.k, d.n, true, d.ldb, d.stride_b);
  distances(false, d.m, d.n, false, d.ldc, d.stride_c);
  c.alpha = bytes.pick(scalars), c.beta = bytes.pick(scalars);
  c.data = bytes.pick(kinds);
  if (c.data == GemmData::nan_everywhere) c.alpha = 0.0;
  const bool sums_are_exact = c.data == GemmData::wide_a || c.data == GemmData::wide_b || c.data == GemmData::denormal;
  if (sums_are_exact) c.alpha = c.alpha < 0 ? -1.0 : 1.0, c.beta = c.beta == 0.0 ? 0.0 : 1.0;
  if (bytes.one_in(5)) {
    drawn.tame = false;
    spoil(bytes, d);
  }
  return drawn;
}

Drawn<StencilCase> draw_stencil(Bytes& bytes) {
  constexpr std::int64_t most[3][3] = {{200, 0, 0}, {24, 40, 0}, {9, 12, 34}};
  Drawn<StencilCase> drawn;
  StencilDesc& d = drawn.problem.desc;
  const int rank = 1 + int(bytes.below(3));
  d.dtype = bytes.pick(WideTypes::kDTypes);
  for (int axis = 0; axis < rank; ++axis) d.extents.push_back(bytes.below(most[rank - 1][axis]));
  d.taps = draw_taps(bytes, rank);
  d.steps = bytes.below(6);
  drawn.tame = draw_boundary(bytes, d);
  d.in_strides = draw_strides(bytes, d, true);
  d.out_strides = draw_strides(bytes, d, false);
  drawn.problem.data = bytes.one_in(6) ? StencilData::nan_and_inf : StencilData::random;
  if (bytes.one_in(5)) {
    drawn.tame = false;
    spoil(bytes, d);
  }
  return drawn;
}

bool affordable(const GemmDesc& d) {
  const auto small = [&](bool trans, std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t stride) {
    if (trans != (d.order == Order::column_major)) std::swap(rows, columns);
    if (ld == kPacked) ld = std::max<std::int64_t>(columns, 1);
    if (rows > kMostElements) return false;
    if (stride == kPacked) stride = d.batch > 1 ? std::int64_t(std::min<Wide>(Wide(rows) * ld, INT64_MAX)) : 0;
    return few(std::array<std::pair<std::int64_t, std::int64_t>, 3>{{{d.batch, stride}, {rows, ld}, {columns, 1}}});
  };
  return small(d.trans_a == Transpose::yes, d.m, d.k, d.lda, d.stride_a) &&
         small(d.trans_b == Transpose::yes, d.k, d.n, d.ldb, d.stride_b) && small(false, d.m, d.n, d.ldc, d.stride_c) &&
         Wide(d.batch) * d.m * d.n * (d.k + 1) <= kMostWork;
}

/// Whether all values stay in the type's range, so that they can be compared.
bool in_range(const StencilDesc& d) {
  double growth = 0.0, largest = 1.0;
  for (const Tap& tap : d.taps) growth += std::abs(tap.coefficient);
  for (std::size_t axis = 0; axis < d.extents.size(); ++axis)
    for (const BoundarySide& side : {d.boundary[axis].low, d.boundary[axis].high})
      if (std::isfinite(side.value)) largest = std::max(largest, std::abs(side.value));
  const double steps = double(std::max<std::int64_t>(d.steps, 1));
  const int most = with_types<WideTypes>(
      d.dtype, []<class T>(std::type_identity<T>) { return std::numeric_limits<T>::max_exponent10 - 8; });
  return std::log10(largest) + steps * std::log10(std::max(growth, 1.0)) < most;
}

bool affordable(const StencilDesc& d) {
  if (!in_range(d)) return false;
  using Axes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Axes in, out;
  Wide padded = 1;
  for (std::size_t axis = 0; axis < d.extents.size(); ++axis) {
    const std::int64_t extent = d.extents[axis];
    if (extent < 0 || extent > kMostElements) return false;
    const auto reach = reach_of(d, axis);
    in.emplace_back(extent + halo_of(d, axis, 0) + halo_of(d, axis, 1), d.in_strides.empty() ? 0 : d.in_strides[axis]);
    out.emplace_back(extent, d.out_strides.empty() ? 0 : d.out_strides[axis]);
    padded *= extent + reach[0] + reach[1];
  }
  return few(in) && few(out) && padded <= kMostElements && d.steps <= 64 &&
         padded * Wide(d.taps.size() + 1) * std::max<std::int64_t>(d.steps, 1) <= kMostWork;
}

}  // namespace tessera::test
