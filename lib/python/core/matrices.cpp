// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "matrices.hpp"

#include <algorithm>

namespace tessera::python {

std::optional<Matrix> matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                std::int64_t column_stride) {
  const std::int64_t least_row = std::max<std::int64_t>(columns, 1), least_column = std::max<std::int64_t>(rows, 1);
  if (rows == 0 || columns == 0) return Matrix{rows, columns, Order::row_major, least_row};
  const std::int64_t row = rows > 1 ? row_stride : least_row, column = columns > 1 ? column_stride : least_column;
  if ((columns <= 1 || column_stride == 1) && row >= least_row) return Matrix{rows, columns, Order::row_major, row};
  if ((rows <= 1 || row_stride == 1) && column >= least_column)
    return Matrix{rows, columns, Order::column_major, column};
  return std::nullopt;
}

std::vector<BatchAxis> joined(const std::vector<BatchAxis>& axes) {
  std::vector<BatchAxis> result;
  for (const BatchAxis& axis : axes) {
    if (axis.count == 1) continue;
    bool same = !result.empty();
    for (std::size_t i = 0; same && i < 3; ++i) same = result.back().strides[i] == axis.strides[i] * axis.count;
    if (same)
      result.back() = {result.back().count * axis.count, axis.strides};
    else
      result.push_back(axis);
  }
  return result;
}

std::vector<std::int64_t> broadcast(const Array& a, int axes_a, const Array& b, int axes_b) {
  const int rank = std::max(axes_a, axes_b);
  std::vector<std::int64_t> shape;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - axes_a), in_b = axis - (rank - axes_b);
    const std::int64_t of_a = in_a < 0 ? 1 : a.shape[std::size_t(in_a)];
    const std::int64_t of_b = in_b < 0 ? 1 : b.shape[std::size_t(in_b)];
    if (of_a != of_b && of_a != 1 && of_b != 1)
      throw nb::value_error(("a of shape " + text_of(a.extents()) + " and b of shape " + text_of(b.extents()) +
                             ": their batches cannot be broadcast together")
                                .c_str());
    shape.push_back(of_a == 1 ? of_b : of_a);
  }
  return shape;
}

std::int64_t batch_stride(const Array& array, int axes, std::size_t axis, std::size_t rank) {
  const int own = int(axis) - (int(rank) - axes);
  if (own < 0 || array.shape[std::size_t(own)] == 1) return 0;
  return array.strides[std::size_t(own)];
}

}  // namespace tessera::python
