// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "runner.hpp"
#include "stop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tessera::test {

namespace {

/// Calls body(index of the point in packed order, place in an array of those strides).
template <class Body>
void for_each_point(const StencilLayout& layout, const std::array<std::int64_t, TESSERA_MAX_RANK>& strides,
                    Body&& body) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < layout.extents[0]; ++i)
    for (std::int64_t j = 0; j < layout.extents[1]; ++j)
      for (std::int64_t l = 0; l < layout.extents[2]; ++l) body(at++, i * strides[0] + j * strides[1] + l * strides[2]);
}

/// Sets the points of `in`, ghost points included.
template <class T, class Value>
void set(const GuardedArray<T>& in, const StencilLayout& layout, Value&& value) {
  StencilLayout all = layout;
  for (std::size_t axis = 0; axis < all.extents.size(); ++axis)
    all.extents[axis] += layout.halo[axis][0] + layout.halo[axis][1];
  if (layout.points() > 0)
    for_each_point(all, all.in_strides, [&](std::size_t, std::int64_t place) { in[place] = number<T>(value()); });
}

/// The largest integer that keeps |sum| below `limit` in every step, boundary values included.
std::int64_t largest_integer(const StencilDesc& desc, double limit) {
  double sum = 0.0;
  for (const Tap& tap : desc.taps) sum += std::abs(tap.coefficient);
  const double growth = std::pow(std::max(sum, 1.0), double(desc.steps));
  return std::min<std::int64_t>(std::int64_t((limit - 1) / growth), 1 << 20);
}

/// The largest integer that an exact case may hold. Sums of 16-bit numbers fit in f32, with a bit to spare for what
/// rounding after each step adds; the numbers themselves are those that T has, and stay finite where they can.
template <class T>
std::int64_t largest_exact(const StencilDesc& desc, StencilData data) {
  double boundary = 1.0;
  for (std::size_t axis = 0; axis < desc.extents.size(); ++axis)
    boundary = std::max({boundary, std::abs(desc.boundary[axis].low.value), std::abs(desc.boundary[axis].high.value)});
  const int bits = kNarrow<T> ? 23 : Numbers<T>::kDigits - (data == StencilData::denormal ? 2 : 0);
  std::int64_t most = largest_integer(desc, std::ldexp(1.0, bits));
  if (double(most) < boundary) throw std::logic_error("the sums of this case are not exact");
  if constexpr (kNarrow<T>) {
    const std::int64_t finite =
        std::max(largest_integer(desc, std::min(Numbers<T>::kLargest, 0x1p23)), std::int64_t(boundary));
    most = std::min({most, finite, std::int64_t{1} << (Numbers<T>::kDigits - (data == StencilData::denormal ? 2 : 0))});
  }
  return most;
}

}  // namespace

template <class T>
StencilTrial<T>::StencilTrial(const StencilCase& c)
    : name_(c.name),
      desc_(c.desc),
      layout_(layout_of(c.desc)),
      exact_(c.data == StencilData::integers || c.data == StencilData::denormal),
      random_(c.name),
      shift_(random_.integer(0, 3)),
      in_(layout_.in_span, any_side(random_)),
      out_(layout_.out_span, any_side(random_)) {
  desc_.dtype = kDType<T>;
  fill(c.data);
  in_before_ = in_.copy(), out_before_ = out_.copy();
  expected_ = stencil_reference<T>(desc_, in_.data() + layout_.in_first, exact_);
}

template <class T>
void StencilTrial<T>::fill(StencilData data) {
  if (!exact_) set(in_, layout_, [&] { return random_.uniform(); });
  if (exact_) {
    const std::int64_t most = largest_exact<T>(desc_, data);
    const double scale = data == StencilData::denormal ? Numbers<T>::kLeast : 1.0;
    set(in_, layout_, [&] { return double(random_.integer(-most, most)) * scale; });
  }
  if (data != StencilData::nan_and_inf || layout_.points() == 0) return;
  std::int64_t last = 0, middle = 0;
  for (std::size_t axis = 0; axis < layout_.extents.size(); ++axis) {
    last += (layout_.extents[axis] - 1) * layout_.in_strides[axis];
    middle += layout_.extents[axis] / 2 * layout_.in_strides[axis];
  }
  in_[layout_.in_first] = number<T>(INFINITY);
  in_[layout_.in_first + middle] = number<T>(NAN);
  in_[layout_.in_first + last] = number<T>(-INFINITY);
  const std::size_t row = desc_.extents.size() - 1;  // beside the first point: frozen points keep the bits of a NaN
  if (layout_.extents[row] > 1) in_[layout_.in_first + layout_.in_strides[row]] = number<T>(NAN);
}

template <class T>
std::string StencilTrial<T>::run(Context& context, StencilPlan& plan, Memory memory) {
  const Running running(what_runs(name_, plan));
  std::vector<T> first;
  for (int execution = 0; execution < 2; ++execution) {
    out_.restore(out_before_);
    if (memory == Memory::host) {
      plan.execute(in_.data() + layout_.in_first, out_.data());
    } else {
      DeviceArray<T> in(context, in_, shift_), out(context, out_, shift_);
      plan.execute(in.data() + layout_.in_first, out.data());
      context.synchronize();
      if (!in.download(in_)) stop("memory around in was written");
      if (!out.download(out_)) stop("memory around out was written");
    }
    if (!in_.same_bits(in_before_)) return "in was written";
    if (!in_.surroundings_intact() || !out_.surroundings_intact()) stop("memory beside an operand was written");
    if (execution == 0) {
      first = out_.copy();
      if (std::string problem = judge(); !problem.empty()) return problem;
    } else if (!out_.same_bits(first)) {
      return "a second execution gave other bits";
    }
  }
  return "";
}

template <class T>
std::string StencilTrial<T>::judge() const {
  if (layout_.points() == 0) return "";
  std::vector<T> untouched = out_.copy();
  std::vector<std::int64_t> places_in;
  for_each_point(layout_, layout_.in_strides, [&](std::size_t, std::int64_t place) { places_in.push_back(place); });
  std::size_t wrong = 0;
  std::string first;
  for_each_point(layout_, layout_.out_strides, [&](std::size_t at, std::int64_t place) {
    untouched[std::size_t(place)] = out_before_[std::size_t(place)];
    const T computed = out_[place];
    const Wide<T> bound = exact_ ? 0 : expected_.bound[at];
    const bool kept = std::memcmp(&computed, &in_[layout_.in_first + places_in[at]], sizeof(T)) == 0;
    if (expected_.untouched[at] ? kept : acceptable<T>(computed, expected_.value[at], bound)) return;
    if (wrong++ == 0) {
      const auto& e = layout_.extents;
      const std::int64_t point = std::int64_t(at);
      first = "point (" + std::to_string(point / (e[1] * e[2])) + ", " + std::to_string(point / e[2] % e[1]) + ", " +
              std::to_string(point % e[2]) + "): " + disagreement<T>(computed, expected_.value[at], bound) +
              (expected_.untouched[at] ? " (a fixed point)" : "");
    }
  });
  if (wrong > 0)
    return std::to_string(wrong) + " of " + std::to_string(layout_.points()) + " points are wrong; " + first;
  const bool intact = std::memcmp(untouched.data(), out_before_.data(), untouched.size() * sizeof(T)) == 0;
  return intact ? "" : "an element of the gaps in out was written";
}

template class StencilTrial<float>;
template class StencilTrial<double>;
template class StencilTrial<float16>;
template class StencilTrial<bfloat16>;

}  // namespace tessera::test
