// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "overlap.hpp"

#include "numpy_arrays.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::python {
namespace {

/// The first byte and the one behind the last.
std::pair<std::uintptr_t, std::uintptr_t> reach(const Array& array) {
  std::int64_t low = 0, high = 1;
  for (std::size_t axis = 0; axis < std::size_t(array.rank); ++axis)
    (array.strides[axis] < 0 ? low : high) += (array.shape[axis] - 1) * array.strides[axis];
  const auto data = reinterpret_cast<std::uintptr_t>(array.data);
  const auto size = std::int64_t(size_of(array.dtype));
  return {data + std::uintptr_t(low * size), data + std::uintptr_t(high * size)};
}

bool share_element(const Array& a, const Array& b) {
  if (a.device != b.device || a.size() == 0 || b.size() == 0) return false;
  const auto [begin_a, end_a] = reach(a);
  const auto [begin_b, end_b] = reach(b);
  if (end_a <= begin_b || end_b <= begin_a) return false;
  return numpy::share_memory(a, b);
}

/// Of the same kind, on the same device; none where nobody knows how.
std::optional<Array> copy_of(const Array& array, const char* name) {
  if (array.source == Array::Source::numpy) return numpy::copy_of(array);
  if (nb::hasattr(array.object, "clone") && nb::hasattr(array.object, "contiguous"))  // PyTorch
    return array_of(array.object.attr("clone")().attr("contiguous")(), name, {}, Numbers::complex);
  if (!array.on_device()) return numpy::copy_of_memory(array);
  if (nb::hasattr(array.object, "copy"))
    return array_of(array.object.attr("copy")(), name, {}, Numbers::complex);  // CuPy
  return std::nullopt;
}

}  // namespace

void require_distinct(const Array& out, const char* name) {
  if (out.in_c_order() || out.size() == 0) return;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // strides and extents
  for (std::size_t axis = 0; axis < std::size_t(out.rank); ++axis)
    if (out.shape[axis] > 1) axes.emplace_back(std::abs(out.strides[axis]), out.shape[axis]);
  std::ranges::sort(axes);
  std::int64_t inner = 0;  // the reach of the axes with smaller strides
  for (const auto& [stride, extent] : axes) {
    if (stride <= inner)
      throw nb::value_error((std::string(name) + " has the strides " +
                             text_of({out.strides.data(), std::size_t(out.rank)}) + ", in elements, for the shape " +
                             text_of(out.extents()) + ": must have an element of its own for each index")
                                .c_str());
    inner += (extent - 1) * stride;
  }
}

void require_apart(const Array& a, const char* name_a, const Array& b, const char* name_b) {
  if (share_element(a, b))
    throw nb::value_error(
        (std::string(name_a) + " shares memory with " + name_b + ", which is written, too: must be apart from it")
            .c_str());
}

void keep_apart(const Array& out, Array& operand, const char* name, nb::handle stream) {
  if (!share_element(out, operand)) return;
  const bool ordered =
      !operand.on_device() || (stream.is_valid() && (stream.is_none() || stream_of(stream) == current_stream(operand)));
  std::optional<Array> copy;
  if (ordered) copy = copy_of(operand, name);
  if (!copy)
    throw nb::value_error((std::string("out shares memory with ") + name +
                           ": must be apart from it where the work is on a stream of its own")
                              .c_str());
  operand = *std::move(copy);
}

}  // namespace tessera::python
