// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Boxes of arrays, copied between an array and packed bytes.
#pragma once

#include "decomposition.hpp"
#include "handles.hpp"

#include <cstdint>

namespace tessera::distributed {

/// A packed array of the points of a box, the last axis fastest.
struct Array {
  Box box;
  std::int64_t element;  ///< bytes

  Index strides() const {
    const Index n = box.extents();
    return {n[1] * n[2], n[2], 1};
  }
  /// Elements from its begin to a point.
  std::int64_t offset(const Index& point) const {
    const Index s = strides();
    std::int64_t elements = 0;
    for (int axis = 0; axis < kAxes; ++axis) elements += (point[axis] - box.low[axis]) * s[axis];
    return elements;
  }
  std::int64_t bytes() const { return box.points() * element; }
  /// Whether the points of a box, which has some, lie one after the other.
  bool is_contiguous(const Box& part) const {
    const std::int64_t last = offset({part.high[0] - 1, part.high[1] - 1, part.high[2] - 1});
    return last - offset(part.low) + 1 == part.points();
  }
};

/// The copy between the points of `box` in an array at `data` and packed ones.
inline tessera_copy copy_between(const Array& array, void* data, const Box& box, void* packed, int direction) {
  const Array part{box, array.element};
  const Index strides = array.strides(), dense = part.strides(), extents = box.extents();
  const bool to_device = direction == TESSERA_COPY_TO_DEVICE;
  void* const inside = at(data, array.offset(box.low) * array.element);
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = direction, copy.rank = kAxes;
  copy.element_size = std::uint64_t(array.element);
  copy.target = to_device ? inside : packed;
  copy.source = to_device ? packed : inside;
  for (int axis = 0; axis < kAxes; ++axis) {
    copy.extents[axis] = extents[axis];
    copy.target_strides[axis] = to_device ? strides[axis] : dense[axis];
    copy.source_strides[axis] = to_device ? dense[axis] : strides[axis];
  }
  return copy;
}

/// The points of `box` out of an array of the context's device into packed host memory; complete on return.
inline void pack(tessera_context* context, const Array& array, void* data, const Box& box, void* packed) {
  const tessera_copy copy = copy_between(array, data, box, packed, TESSERA_COPY_TO_HOST);
  call(tessera_context_copy, context, &copy);
}
/// The other way round.
inline void unpack(tessera_context* context, const Array& array, void* data, const Box& box, const void* packed) {
  const tessera_copy copy = copy_between(array, data, box, const_cast<void*>(packed), TESSERA_COPY_TO_DEVICE);
  call(tessera_context_copy, context, &copy);
}

}  // namespace tessera::distributed
