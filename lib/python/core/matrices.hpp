// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the last two axes of an array are a matrix to a product, and the others a batch.
#pragma once

#include "arrays.hpp"

#include <optional>
#include <vector>

namespace tessera::python {

/// A matrix within an array: rows, or columns, without gaps between their elements.
struct Matrix {
  std::int64_t rows, columns;
  Order order;
  std::int64_t leading;  ///< elements from one row, or column, to the next
};

/// None where neither rows nor columns are without gaps, or matrices overlap themselves.
std::optional<Matrix> matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                std::int64_t column_stride);

/// Axes of a batch, and the strides of each operand along them: 0 where it is repeated.
struct BatchAxis {
  std::int64_t count;
  std::array<std::int64_t, 3> strides;  ///< of a, b and the result
};

/// Joins axes that are one to all operands, and drops those of one matrix.
std::vector<BatchAxis> joined(const std::vector<BatchAxis>& axes);

/// The shape to which the batches of two arrays are broadcast, by NumPy's rules. `axes_*`: how many axes are a batch.
/// Throws ValueError where they do not fit.
std::vector<std::int64_t> broadcast(const Array& a, int axes_a, const Array& b, int axes_b);
/// The stride of an array along an axis of such a shape of `rank` axes.
std::int64_t batch_stride(const Array& array, int axes, std::size_t axis, std::size_t rank);

}  // namespace tessera::python
