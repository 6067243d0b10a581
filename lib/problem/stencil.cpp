// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/problem.hpp"

#include "check.hpp"

#include <tessera/boundary.hpp>
#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tessera::core {
namespace {

/// Leaves room for the points of a halo on both sides.
constexpr std::int64_t kMaxExtent = INT64_MAX - 2 * TESSERA_MAX_RADIUS;

/// A coefficient, or what is summed of several at `name`, must be finite in the type that they have.
void require_finite_coefficient(const std::string& name, double value, tessera_dtype dtype) {
  const tessera_dtype own = scalar_dtype(dtype);
  if (!finite_in(own, value))
    invalid(name, text_of(value), std::string("must be finite when rounded to ") + name_of(own));
}

bool same_offset(const tessera_tap& a, const tessera_tap& b) {
  return std::equal(a.offset, a.offset + TESSERA_MAX_RANK, b.offset);
}

/// "fixed (0), constant (1), ...".
std::string known_modes() {
  std::vector<std::string> modes;
  for (const Boundary mode : kBoundaries)
    modes.push_back(std::string(name_of(mode)) + " (" + std::to_string(int(mode)) + ")");
  return join(modes);
}

/// The caller's taps, checked; terms of one offset are summed.
std::vector<tessera_tap> read_taps(const tessera_stencil_desc& d) {
  if (d.tap_count < 1) invalid("tap_count", d.tap_count, "must be at least 1; taps::identity() is the field itself");
  if (d.taps == nullptr) invalid("taps", "null", "must point to " + std::to_string(d.tap_count) + " taps");
  plugin::check_size(d.tap_size, sizeof(tessera_tap), sizeof(tessera_tap), "the taps", "tap_size");
  std::vector<tessera_tap> taps(std::size_t(d.tap_count));
  const auto* bytes = reinterpret_cast<const unsigned char*>(d.taps);
  for (std::int64_t t = 0; t < d.tap_count; ++t) {
    tessera_tap& tap = taps[std::size_t(t)];
    const unsigned char* source = bytes + std::uint64_t(t) * d.tap_size;
    std::memcpy(&tap, source, sizeof tap);
    plugin::refuse_tail(source, sizeof tap, d.tap_size, "a tap");
    const std::string name = "taps[" + std::to_string(t) + "]";
    for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis) {
      const std::int64_t bound = axis < d.rank ? TESSERA_MAX_RADIUS : 0;
      if (tap.offset[axis] < -bound || tap.offset[axis] > bound)
        invalid(name + indexed(".offset", axis), tap.offset[axis],
                axis < d.rank ? "must lie in [-" + std::to_string(bound) + ", " + std::to_string(bound) + "]"
                              : "must be 0 at and beyond the rank, " + std::to_string(d.rank));
    }
    require_finite_coefficient(name + ".coefficient", tap.coefficient, d.dtype);
  }
  std::sort(taps.begin(), taps.end(), [](const tessera_tap& a, const tessera_tap& b) {
    return std::lexicographical_compare(a.offset, a.offset + TESSERA_MAX_RANK, b.offset, b.offset + TESSERA_MAX_RANK);
  });
  std::size_t kept = 0;
  for (std::size_t t = 1; t < taps.size(); ++t)
    if (same_offset(taps[kept], taps[t]))
      taps[kept].coefficient += taps[t].coefficient;
    else
      taps[++kept] = taps[t];
  taps.resize(kept + 1);
  for (const tessera_tap& tap : taps)
    require_finite_coefficient("the sum of the coefficients at one offset", tap.coefficient, d.dtype);
  return taps;
}

/// How far the taps leave a point, downwards and upwards.
std::array<std::int64_t, 2> tap_reach(const std::vector<tessera_tap>& taps, int axis) {
  std::array<std::int64_t, 2> reach{};
  for (const tessera_tap& tap : taps) {
    reach[0] = std::max(reach[0], -tap.offset[axis]);
    reach[1] = std::max(reach[1], tap.offset[axis]);
  }
  return reach;
}

/// The layout of `in` (with its halo) or `out`; packed strides are computed from the box itself.
Layout grid_layout(const char* name, const tessera_stencil_desc& d, const std::vector<tessera_tap>& taps, bool input) {
  const std::int64_t* strides = input ? d.in_strides : d.out_strides;
  Layout layout;
  for (int axis = 0; axis < d.rank; ++axis) {
    const auto reach = tap_reach(taps, axis);
    const std::int64_t low = input && d.boundary[axis][0] == TESSERA_BOUNDARY_HALO ? reach[0] : 0;
    const std::int64_t high = input && d.boundary[axis][1] == TESSERA_BOUNDARY_HALO ? reach[1] : 0;
    const std::int64_t extent = d.extents[axis] == 0 ? 0 : d.extents[axis] + low + high;
    layout.add_axis(extent, strides[axis], low);
  }
  const int packed = int(std::count(strides, strides + d.rank, TESSERA_PACKED));
  if (packed != 0 && packed != d.rank)
    invalid(name, "TESSERA_PACKED for " + std::to_string(packed) + " of " + std::to_string(d.rank) + " axes",
            "must be packed for all axes or for none");
  if (packed != 0) {
    std::fill(layout.strides, layout.strides + d.rank, 1);
    if (addressable(layout, element_size(d.dtype))) layout = layout.packed();
  }
  for (int axis = 0; axis < d.rank; ++axis)
    at_least(indexed(name, axis), layout.strides[axis], 1, ", or TESSERA_PACKED (kPacked) for all axes");
  const auto refuse = [&](const std::string& remedy) {
    invalid(name,
            (packed != 0 ? "TESSERA_PACKED" : join(layout.strides, d.rank)) + " with extents " +
                join(layout.extents, d.rank),
            remedy);
  };
  if (!addressable(layout, element_size(d.dtype))) refuse("the array must stay below 2^63 bytes");
  if (!layout.empty() && !nested(layout))
    refuse("points overlap; each stride must be larger than the reach of all smaller ones together");
  return layout;
}

/// The order of axes that puts the smallest in-stride last. Where a tap may leave across two constant sides of
/// different values, the first axis of the caller decides, so there the axes stay as they are. Backends derive the
/// order of ordered sums from the axes that they see, so there they stay, too: boxes of a domain may have other
/// strides.
std::array<int, TESSERA_MAX_RANK> axis_order(const tessera_stencil_desc& d, const Layout& in) {
  std::array<int, TESSERA_MAX_RANK> order{0, 1, 2};
  if (d.sums == TESSERA_SUMS_ORDERED) return order;
  bool several = false;
  const double* first = nullptr;
  for (int axis = 0; axis < d.rank; ++axis)
    for (int side = 0; side < 2; ++side)
      if (d.boundary[axis][side] == TESSERA_BOUNDARY_CONSTANT) {
        const double& value = d.boundary_value[axis][side];
        if (first != nullptr && std::memcmp(first, &value, sizeof value) != 0) several = true;
        first = &value;
      }
  if (several) return order;
  std::stable_sort(order.begin(), order.begin() + d.rank, [&](int a, int b) {
    // Axes of one point have no say: they go first.
    const auto key = [&](int axis) { return in.extents[axis] > 1 ? in.strides[axis] : INT64_MAX; };
    return key(a) > key(b);
  });
  return order;
}

Layout permuted(const Layout& layout, const std::array<int, TESSERA_MAX_RANK>& order) {
  Layout result;
  for (int i = 0; i < layout.rank; ++i) {
    const int axis = order[std::size_t(i)];
    result.add_axis(layout.extents[axis], layout.strides[axis], layout.before[axis]);
  }
  return result;
}

void permute(Problem& p, const std::array<int, TESSERA_MAX_RANK>& order) {
  const tessera_stencil_desc from = p.stencil;
  for (int i = 0; i < from.rank; ++i) {
    const int axis = order[std::size_t(i)];
    p.stencil.extents[i] = from.extents[axis];
    for (int side = 0; side < 2; ++side) {
      p.stencil.boundary[i][side] = from.boundary[axis][side];
      p.stencil.boundary_value[i][side] = from.boundary_value[axis][side];
    }
  }
  for (tessera_tap& tap : p.taps) {
    const tessera_tap old = tap;
    for (int i = 0; i < from.rank; ++i) tap.offset[i] = old.offset[order[std::size_t(i)]];
  }
  for (Operand& operand : p.operands) operand.layout = permuted(operand.layout, order);
}

std::string side_text(const tessera_stencil_desc& d, int axis, int side) {
  std::string text = name_of(Boundary(d.boundary[axis][side]));
  if (d.boundary[axis][side] == TESSERA_BOUNDARY_CONSTANT)
    text.append(":").append(text_of(d.boundary_value[axis][side], 9));
  return text;
}

/// True where each point has a tap that leaves across a fixed side, so that none ever changes.
bool all_points_fixed(const tessera_stencil_desc& d, const std::vector<tessera_tap>& taps) {
  for (int axis = 0; axis < d.rank; ++axis) {
    const auto reach = tap_reach(taps, axis);
    std::int64_t margin = 0;
    for (int side = 0; side < 2; ++side)
      if (d.boundary[axis][side] == TESSERA_BOUNDARY_FIXED) margin += reach[std::size_t(side)];
    if (d.extents[axis] > 0 && margin >= d.extents[axis]) return true;
  }
  return false;
}

std::string describe(const tessera_stencil_desc& d, const std::vector<tessera_tap>& taps) {
  std::string extents, boundary;
  for (int axis = 0; axis < d.rank; ++axis) {
    extents += std::string(axis == 0 ? "" : "x") + std::to_string(d.extents[axis]);
    const std::string low = side_text(d, axis, 0), high = side_text(d, axis, 1);
    boundary += (axis == 0 ? "" : ",") + (low == high ? low : low + "/" + high);
  }
  return std::string("stencil ") + name_of(d.dtype) + " " + extents + " taps=" + std::to_string(taps.size()) +
         " boundary=" + boundary + " steps=" + std::to_string(d.steps) +
         (d.sums == TESSERA_SUMS_ORDERED ? " ordered sums" : "") +
         (d.steps > 0 && all_points_fixed(d, taps) ? " (every point is fixed: a copy)" : "");
}

void validate_fields(const tessera_stencil_desc& d) {
  validate_dtype("dtype", d.dtype);
  one_of("compute", d.compute, TESSERA_COMPUTE_DEFAULT, TESSERA_COMPUTE_STRICT, "default (0), strict (1)");
  one_of("rank", d.rank, 1, TESSERA_MAX_RANK, "1, 2, 3");
  at_least("steps", d.steps, 0);
  one_of("sums", d.sums, TESSERA_SUMS_ANY, TESSERA_SUMS_ORDERED, "any (0), ordered (1)");
  one_of("reserved", d.reserved, 0, 0, "0");
  for (int axis = 0; axis < d.rank; ++axis) {
    at_least(indexed("extents", axis), d.extents[axis], 0);
    if (d.extents[axis] > kMaxExtent)
      invalid(indexed("extents", axis), d.extents[axis], "must be at most " + std::to_string(kMaxExtent));
    for (int side = 0; side < 2; ++side) {
      const std::string name = indexed("boundary", axis) + "[" + std::to_string(side) + "]";
      one_of(name, d.boundary[axis][side], TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_HALO, known_modes().c_str());
      const double value = d.boundary_value[axis][side];
      if (d.boundary[axis][side] == TESSERA_BOUNDARY_CONSTANT && std::isfinite(value) && !finite_in(d.dtype, value))
        invalid("boundary_value" + name.substr(std::strlen("boundary")), text_of(value),
                std::string("must be finite when rounded to ") + name_of(d.dtype) + ", or an infinity that is meant");
      if (d.boundary[axis][side] == TESSERA_BOUNDARY_HALO && d.steps > 1)
        invalid("steps", d.steps, "must be 0 or 1 where " + name + " is halo: the ghost points hold one step");
    }
    if ((d.boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC) != (d.boundary[axis][1] == TESSERA_BOUNDARY_PERIODIC))
      invalid(indexed("boundary", axis), "periodic on one side alone",
              "an axis is periodic on both sides or on none: its ends are neighbours");
  }
}

}  // namespace

Problem validate_stencil(const tessera_desc* desc) {
  const auto d = plugin::read_struct<tessera_stencil_desc>(desc, "the stencil descriptor");
  validate_fields(d);
  Problem p;
  p.op = TESSERA_OP_STENCIL;
  p.scalar_dtype = d.dtype;
  p.taps = read_taps(d);
  p.text = describe(d, p.taps);
  p.operands = {{"in", TESSERA_ROLE_IN, d.dtype, false, grid_layout("in_strides", d, p.taps, true)},
                {"out", TESSERA_ROLE_OUT, d.dtype, true, grid_layout("out_strides", d, p.taps, false)}};
  p.stencil = d;
  p.stencil.struct_size = sizeof p.stencil;
  p.stencil.compute = TESSERA_COMPUTE_STRICT;
  if (d.steps == 0) {  // u <- S^0(u) is the identity applied once
    p.taps = {{{0, 0, 0}, 1.0}};
    p.stencil.steps = 1;
  }
  permute(p, axis_order(d, p.operands[0].layout));
  p.stencil.taps = p.taps.data();
  p.stencil.tap_size = sizeof(tessera_tap);
  p.stencil.tap_count = std::int64_t(p.taps.size());
  p.describe_layouts();
  return p;
}

}  // namespace tessera::core
